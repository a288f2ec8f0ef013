"""A cell of the store with the earlier cells of its notebook, or runs of its session, that it needs to run."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from pathlib import PurePath

from jupyter_memory.errors import InputError
from jupyter_memory.storage.base import RunFilter
from jupyter_memory.storage.databases import Storage
from jupyter_memory.store.searching import freshness
from jupyter_memory.store.sources import Part
from jupyter_memory.text.code import PYTHON, is_code
from jupyter_memory.text.markdown import source_of
from jupyter_memory.text.paths import is_at_or_below
from jupyter_memory.text.runnable import Runnable, Step, made_runnable
from jupyter_memory.types import Filters, Memory, Run

_MOST = 1_000  # runs of a session before the one that was found


class Runnables(Part):
    """The cells of one store as texts that run."""

    def runnable(
        self, memory_id: str, *, effects: bool = False, held: Container[str] = (), within: Filters | None = None
    ) -> Runnable:
        """Return the code of a memory below the earlier cells that define what it uses; ``.notices`` say what is not.

        Imports come first. A notebook has its own order, the history that of the session in which it last ran.

        Args:
            effects: Also take cells that write files, use the network or run commands.
            held: Names that the kernel has already.
            within: What an added cell must match.

        Raises:
            InputError: the memory is not code.
            UnknownMemory: no memory has this id.
        """
        with self._storage.snapshot(within) as snapshot:
            memory = snapshot.memory(memory_id)
            if not is_code(memory.kind, memory.lang) or memory.kind == "note":
                raise InputError("This memory is not code, so there is nothing to run.")
            cells = [memory]
            if memory.kind == "cell":
                keys = snapshot.keys(Filters(kind=("cell",), path=(memory.source,)))
                near = (one for one in snapshot.memories(keys).values() if one.source == memory.source)
                cells = sorted((one for one in near if _is_python(one) and one.space == memory.space), key=place_of)
            states = [] if memory.kind == "history" else snapshot.file_states([(memory.source, memory.space)]).values()
        if not _is_python(memory):
            return Runnable(
                source_of(memory.text), (f"Only Python is read, and this is {memory.lang}: nothing is added.",)
            )
        name = PurePath(memory.source).name
        if memory.kind == "history":
            steps, at = self._session(memory, within)
        else:
            steps = [Step(f"cell {place_of(one) + 1} of {name}", source_of(one.text)) for one in cells]
            at = [one.id for one in cells].index(memory.id)
        found = made_runnable(steps, at, held, effects=effects)
        state = next(map(freshness, states), "")
        if state not in ("changed", "gone"):
            return found
        said = (
            f"{name} has changed since it was indexed."
            if state == "changed"
            else f"{name} is gone; the store has its text."
        )
        text = found.text if found.text.lstrip().startswith("%%") else f"# {said}\n{found.text}"
        return replace(found, text=text, notices=(said, *found.notices))

    def _session(self, memory: Memory, within: Filters | None) -> tuple[list[Step], int]:
        # The last run that ended well tells most.
        wanted = RunFilter(self._scope.space, memory_id=memory.id)
        runs = sorted(self._storage.runs.find(wanted, _MOST), key=lambda run: run.outcome == "ok", reverse=True)
        if not runs:
            return [Step("this memory", memory.text)], 0
        found = runs[0]
        before = RunFilter(self._scope.space, session=found.session, before=found.started)
        earlier = seen(self._storage, self._storage.runs.find(before, _MOST), within)
        earlier = [run for run in earlier if run.outcome != "error" and run.language in ("", PYTHON)]
        runs = [*earlier[::-1], found]
        steps = [Step(f"run {run.number} of {run.started.astimezone():%Y-%m-%d}", run.source) for run in runs]
        return steps, len(earlier)


def seen(storage: Storage, runs: list[Run], within: Filters | None) -> list[Run]:
    """Return those of these runs that belong to a part of the store; all of them without one."""
    if within is None or not runs:
        return runs
    with storage.snapshot(within) as snapshot:
        known = snapshot.by_id(dict.fromkeys(run.memory_id for run in runs))
    # The same text may have run, and failed, elsewhere.
    paths = within.path
    return [
        run
        for run in runs
        if run.memory_id in known and (not paths or any(is_at_or_below(run.notebook, path) for path in paths))
    ]


def place_of(cell: Memory) -> int:
    """Return the place of a cell in its notebook, from 0."""
    index = cell.metadata.get("index")
    return index if isinstance(index, int) else 0


def _is_python(memory: Memory) -> bool:
    return memory.lang in ("", PYTHON) and memory.metadata.get("cell_type", "code") == "code"
