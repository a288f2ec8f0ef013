"""Errors that a store has seen, and what mended them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from jupyter_memory.errors import InputError
from jupyter_memory.search.fixes import AFTER, EARLIER, KnownErrors
from jupyter_memory.storage.databases import Storage
from jupyter_memory.store.history import History
from jupyter_memory.store.searching import Searching
from jupyter_memory.store.sources import Scope
from jupyter_memory.text.errors import message_words, read_traceback
from jupyter_memory.text.markdown import outputs_of, source_of
from jupyter_memory.types import Answer, Filters, Fix, FixKind, Memory, Run, RunError

# The profile that searches words alone: no model is loaded for an error.
_BY_WORDS = "covalence"
_WORDS = 30
_MOST_ERRORS = 50
# What a note says of an error: its name, and its message in the same line.
_TOLD = re.compile(r"(?<![\w.])((?:\w++\.)*+[A-Z]\w{0,80}(?:Error|Exception|Warning|Interrupt))\b[:,]?[ \t]*([^\n]*)")


class _StoredErrors:
    # The errors of one type in a store's cells and notes; each has its own session, by the name of its place.

    def __init__(self, storage: Storage, searching: Searching, scope: Scope) -> None:
        self._storage, self._searching, self._scope = storage, searching, scope
        self._notebooks: dict[str, list[Run]] = {}
        self._notes: dict[str, Run] = {}

    def like(self, error: RunError) -> list[Run]:
        words = sorted(message_words(error.message))[:_WORDS]
        query = " ".join((error.name.rpartition(".")[2], *words))
        filters = Filters(kind=("cell", "note"))
        answer = self._searching.hits(query, filters=filters, profile=_BY_WORDS, limit=_MOST_ERRORS, time=False)
        found = (self._failed(hit.memory, error) for hit in answer.hits)
        return [run for run in found if run is not None]

    def kind_of(self, run: Run) -> FixKind:
        return "cell" if run.session in self._notebooks else "note" if run.session in self._notes else "history"

    def around(self, run: Run) -> tuple[Sequence[Run], Sequence[Run]]:
        # After the error of a note comes the note.
        if run.session in self._notes:
            return (), (self._notes[run.session],)
        cells = self._notebooks[run.session]
        return [one for one in cells if one.number < run.number], [one for one in cells if one.number > run.number]

    def _failed(self, memory: Memory, new: RunError) -> Run | None:
        error = _error_of(memory)
        if error is None or error.name.rpartition(".")[2] != new.name.rpartition(".")[2]:
            return None
        if memory.kind == "note":
            words = message_words(new.message)
            if bool(words) and words <= message_words(memory.text):
                error = new
            self._notes[memory.id] = Run(memory.text, memory.event_at, memory.id, 2, "ok", memory_id=memory.id)
            return Run("", memory.event_at, memory.id, 1, "error", error=error, language="", memory_id=memory.id)
        if memory.source not in self._notebooks:
            filters = self._scope.bound(Filters(kind=("cell",), path=(memory.source,)))
            with self._storage.snapshot() as snapshot:
                cells = snapshot.memories(snapshot.keys(filters)).values()
            self._notebooks[memory.source] = [
                _as_run(cell)
                for cell in sorted(cells, key=_place)
                if cell.source == memory.source and cell.metadata.get("cell_type") != "markdown"
            ]
        # Cells of two formats may have one index: the memory is the same.
        return next((run for run in self._notebooks[memory.source] if run.memory_id == memory.id), None)


def _as_run(cell: Memory) -> Run:
    error = _error_of(cell)
    return Run(
        source=source_of(cell.text),
        started=cell.event_at,
        session=cell.source,
        number=_place(cell) + 1,
        outcome="ok" if error is None else "error",
        error=error,
        notebook=cell.source,
        cell_id=cell.location,
        language=cell.lang,
        memory_id=cell.id,
    )


def _place(cell: Memory) -> int:
    index = cell.metadata.get("index")
    return index if isinstance(index, int) else 0


def _error_of(memory: Memory) -> RunError | None:
    text = memory.text if memory.kind == "note" else outputs_of(memory.text)
    if raised := read_traceback(text):
        return RunError(raised.name, raised.message, text)
    told = _TOLD.search(text) if memory.kind == "note" else None
    return RunError(told[1], told[2]) if told else None


# The newest failed runs that an error is compared with: at most a second of work.
_MOST = 200
# Two runs of one source that began so closely together are one, noted by two clocks.
_AT_ONCE = timedelta(milliseconds=100)


class Fixes:
    """What mended errors like a new one."""

    def __init__(self, storage: Storage, history: History, searching: Searching, scope: Scope) -> None:
        self._storage, self._history, self._searching, self._scope = storage, history, searching, scope

    def of_run(self, run: Run, before: Sequence[Run] = (), limit: int = 3) -> list[Fix]:
        """Return what mended the errors most like that of a run, the best first; nothing if none is alike.

        Args:
            run: It failed: its ``error`` has the exception.
            before: The earlier runs of its session, in their order: they tell where its variables came from.

        >>> import tempfile
        >>> from datetime import UTC, datetime, timedelta
        >>> from jupyter_memory import MemoryStore
        >>> from jupyter_memory.types import Run, RunError
        >>> store = MemoryStore(tempfile.mkdtemp() + "/memory.sqlite", embedder=None)
        >>> now, error = datetime.now(UTC), RunError("KeyError", "'id'")
        >>> failed = Run("left.merge(right, on='id')", now, "monday", 1, "error", error=error)
        >>> later = now + timedelta(minutes=1)
        >>> mended = Run("left.merge(right, left_on='id', right_on='nr')", later, "monday", 2, "ok")
        >>> store.history.record([failed, mended])
        2
        >>> again = Run("pd.merge(rows, names, on='id')", now, "tuesday", 1, "error", error=error)
        >>> [fix.mended.source for fix in store.fixes.of_run(again)]
        ["left.merge(right, left_on='id', right_on='nr')"]
        >>> store.close()
        """
        known, stored = self._known(run)
        return [replace(fix, kind=stored.kind_of(fix.failed)) for fix in known.fixes(run, before, limit)]

    def similar(self, run: Run, before: Sequence[Run] = ()) -> list[Run]:
        """Return the earlier runs with an error like that of a run, the likest first, whether it was mended or not."""
        return self._known(run)[0].similar(run, before)

    def of_traceback(self, text: str, limit: int = 3) -> list[Fix]:
        """Return what mended the errors most like the one that a traceback ends with, as ``of_run`` does."""
        return self.of_run(self.run_of(text), limit=limit)

    def run_of(self, traceback: str) -> Run:
        """Return the run that failed with a traceback, as far as that shows it.

        Raises:
            InputError: the text is no traceback of Python.
        """
        raised = read_traceback(traceback)
        if raised is None:
            raise InputError(
                "The text is no traceback of Python that can be read: it ends with a line such as KeyError: 'a'."
            )
        place = raised.of_user
        error = RunError(raised.name.rpartition(".")[2], raised.message, traceback)
        return Run(place.source if place else "", datetime.now(UTC), "", 0, "error", error=error)

    def answer(self, fixes: Sequence[Fix]) -> Answer:
        """Return the memories of fixes as an answer, in their order, for what goes on from the last search."""
        with self._storage.snapshot() as snapshot:
            keys = [snapshot.key_of(fix.mended.memory_id) for fix in fixes]
            known = snapshot.memories(keys)
        return self._searching.listed([known[key] for key in keys])

    def _known(self, run: Run) -> tuple[KnownErrors, _StoredErrors]:
        error = run.error
        if error is None:
            raise InputError("The run has no error: fixes are looked up for an exception.")
        stored = _StoredErrors(self._storage, self._searching, self._scope)

        def around(one: Run) -> tuple[Sequence[Run], Sequence[Run]]:
            if stored.kind_of(one) != "history":
                return stored.around(one)
            before = self._history.runs(session=one.session, before=one.started, limit=EARLIER)
            after = self._history.runs(session=one.session, after=one.started, oldest_first=True, limit=AFTER)
            return before[::-1], after

        if error.is_interruption:
            return KnownErrors((), around), stored
        failed = self._history.runs(error=error.name.rpartition(".")[2], limit=_MOST)
        # The history may know it by another session and number than who asks.
        place, code = (run.session, run.number) if run.session else None, run.source.strip()
        failed = [
            one
            for one in failed
            if (one.session, one.number) != place
            and (abs(one.started - run.started) >= _AT_ONCE or one.source.strip() != code)
        ]
        return KnownErrors([*failed, *stored.like(error)], around), stored
