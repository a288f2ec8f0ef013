"""The history of a store: records, reads, limits and forgets runs."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby
from pathlib import Path

from jupyter_memory.config import JupyterMemory
from jupyter_memory.errors import EmbedderError, JupyterMemoryError, StoreError
from jupyter_memory.runtime import batches
from jupyter_memory.storage import journal as journals
from jupyter_memory.storage.base import Noted, RunFilter
from jupyter_memory.storage.databases import Storage
from jupyter_memory.store.models import ModelChoice
from jupyter_memory.store.sources import Part, Scope
from jupyter_memory.text.paths import absolute
from jupyter_memory.types import Draft, Filters, HistoryStatus, Memory, Outcome, Run, Version, changed
from jupyter_memory.types.memory import DURATIONS
from jupyter_memory.types.protocols import Embedder

log = logging.getLogger(__name__)
_TOGETHER = 128  # runs that are noted in one transaction: others may write in between
_MOST = 1_000  # runs of a notebook, or of a cell, that are compared
_Drafted = tuple[Run, Draft]


class History(Part):
    """The history of one store: a memory of kind ``history`` for each text, and each of its runs."""

    def __init__(self, storage: Storage, model: ModelChoice, settings: JupyterMemory, scope: Scope) -> None:
        super().__init__(storage, model, settings, scope)
        self._unreadable: set[Path] = set()  # journals, of which this is said once

    def record(self, runs: Iterable[Run]) -> int:
        """Note runs, without secrets and without what ``history_ignore`` excludes; return how many changed."""
        return self._record(replace(run, space=self._scope.space) for run in runs)

    def _record(self, runs: Iterable[Run]) -> int:
        from jupyter_memory.ingest.runs import drafted, is_excluded

        changed = 0
        for batch in batches(runs, _TOGETHER):
            redacting = self._settings.redact
            wanted = (run for run in batch if not is_excluded(run.source, self._settings.history_ignore))
            found = (drafted(run, space=run.space, redacting=redacting) for run in wanted)
            waiting: Sequence[_Drafted] = [one for one in found if one is not None]

            while waiting:
                noted = self._model.writing(partial(self._note, waiting))
                changed += noted.changed
                # These texts were forgotten after they were looked up.
                waiting = [waiting[place] for place in noted.left]
        self._model.calibrate(changed)
        return changed

    def absorb(self) -> int:
        """Store what kernels recorded before they died; return how many runs were new."""
        changed = 0
        for journal in journals.abandoned(self._storage.path):
            try:
                changed += self._record(journals.runs(journal.read()))
                journal.remove()
            except (StoreError, EmbedderError):
                raise  # no other journal could be taken in either
            except Exception as error:  # noqa: BLE001  whatever is wrong in one journal, the others are taken in
                if journal.path not in self._unreadable:
                    log.warning("%s cannot be taken in: %s", journal.path.name, type(error).__name__)
                self._unreadable.add(journal.path)
            finally:
                journal.close()
        return changed

    def catch_up(self) -> None:
        """Note what dead kernels recorded, if this store has an embedder and can be written to now."""
        if self._storage.read_only or not self._model.is_wanted:
            return
        # A store that is busy or full must answer all the same.
        with suppress(JupyterMemoryError, OSError):
            self.absorb()

    def runs(
        self,
        *,
        error: str | None = None,
        outcome: Outcome | None = None,
        session: str | None = None,
        notebook: str | None = None,
        memory_id: str | None = None,
        cell_id: str | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
        oldest_first: bool = False,
        limit: int = 100,
    ) -> list[Run]:
        """Return runs with the ids of their memories; ``error`` is a name, and ``after < started < before``."""
        wanted = RunFilter(self._scope.space, error, outcome, session, notebook, memory_id, cell_id, after, before)
        return self._storage.runs.find(wanted, limit, oldest_first=oldest_first)

    def versions(self, memory_id: str, *, every_run: bool = False) -> list[Version]:
        """Return what ran in the cell of a memory, the newest first: each text once, or with ``every_run`` each run.

        What no cell of a notebook ran is known by its text. Raises ``UnknownMemory`` if no memory has this id.
        """
        with self._storage.snapshot() as snapshot:
            memory = snapshot.memory(memory_id)
        runs = self.runs(notebook=memory.source, cell_id=memory.location, limit=_MOST) if memory.location else []
        runs = runs or self.runs(memory_id=memory_id, limit=_MOST)
        elsewhere = self._elsewhere(runs[0]) if every_run and runs else {}
        texts: dict[object, list[Run]] = {}
        for run in runs[::-1]:
            texts.setdefault(_known(run) if every_run else run.memory_id, []).insert(0, run)
        found, before = list[Version](), None
        for number, some in enumerate(texts.values(), start=1):
            found.insert(0, Version(number, tuple(some), before, elsewhere.get(_known(some[0]), "")))
            before = some[0].source
        return found

    def durations(self, memories: Iterable[Memory]) -> dict[str, list[float]]:
        """Return how long the last runs of cells took that ended well, the newest first, by id; of those that ran."""
        cells = {one.id: (one.source, one.location) for one in memories if one.kind in ("cell", "history")}
        cells = {id_: cell for id_, cell in cells.items() if cell[1]}
        wanted = list(dict.fromkeys(cells.values()))
        found = self._storage.runs.durations(self._scope.space, wanted, DURATIONS) if wanted else {}
        return {id_: found[cell] for id_, cell in cells.items() if cell in found}

    @property
    def nothing_ran(self) -> str:
        """Return what to say to who looks for runs that are not there."""
        return journals.refusal(self._storage.path) or (
            "The history has no run of it: `%memory history on`, in a notebook, remembers what runs from then on."
        )

    def _elsewhere(self, last: Run) -> dict[object, str]:
        # How the other cells of the notebook differ at each run of a cell from what they were at the one before.
        texts, before, found = dict[str, str](), None, dict[object, str]()
        for run in self.runs(notebook=last.notebook, limit=_MOST)[::-1] if last.cell_id else ():
            if run.cell_id != last.cell_id:
                texts[run.cell_id] = run.source
                continue
            if before is not None:
                changes = (changed(before.get(cell, ""), text, cell, cell) for cell, text in texts.items())
                found[_known(run)] = "\n".join(filter(None, changes))
            before = dict(texts)
        return found

    def status(self) -> HistoryStatus:
        """Return how many runs of how many texts there are, and since when."""
        return self._storage.runs.status(self._scope.space)

    def offered(self, what: str = "history") -> bool:
        """Note that the history, or more of it, was offered; return whether this was the first time."""
        with suppress(StoreError):
            return not self._storage.read_only and self._storage.writer.note_once(f"offered {what}")
        return False

    def clear(self) -> int:
        """Forget all memories of kind ``history``, notes about them and the kernels' journals; return the number."""
        chosen = self._scope.bound(Filters(kind=("history",)))
        gone = self._storage.writer.forget(chosen)
        # Some of it may have been forgotten before, and could still be taken back.
        self._storage.forgotten.drop(None)
        journals.empty(self._storage.path)
        # A kernel may have taken in some of its runs in between.
        return gone + self._storage.writer.forget(chosen)

    def retain(self) -> int:
        """Forget runs older, or more, than the settings keep, but for those with a pin or tag; return the number."""
        most = self._settings.history_runs or None
        return self._storage.runs.retain(self._scope.space, since=self._since(), most=most)

    def import_ipython(self, path: str | Path) -> int:
        """Note what IPython's own history holds, its file ``history.sqlite``; return how many runs were new.

        Raises ``InputError`` if there is no such file, it is not a history of IPython, or another program keeps it
        locked.
        """
        from jupyter_memory.storage.foreign import ipython_runs

        since = self._since()
        # Numbers tell which runs are known: their starts differ where the time zone changed.
        changed = self.record(
            run
            for session, runs in groupby(ipython_runs(absolute(path)), key=lambda run: run.session)
            for known in [self._storage.runs.numbers(session)]
            for run in runs
            if run.number not in known and (since is None or run.started >= since)
        )
        self.retain()
        return changed

    def _since(self) -> datetime | None:
        days = self._settings.history_days
        return datetime.now(UTC) - timedelta(days=days) if days else None

    def _note(self, drafts: Sequence[_Drafted], embedder: Embedder | None) -> Noted:
        # Texts that the store lacks are prepared first, outside of the transaction.
        texts = {draft.text: draft for _, draft in drafts}
        distinct = list(texts.values())
        held = self._storage.runs.holds(distinct)
        fresh = self._prepared([draft for draft, there in zip(distinct, held, strict=True) if not there], embedder)
        return self._storage.runs.note(drafts, fresh, embedder)


def _known(run: Run) -> object:
    return run.session, run.number, run.started
