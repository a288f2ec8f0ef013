"""Errors that a store has seen, and what mended them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.search.fixes import AFTER, EARLIER, KnownErrors
from jupyter_memory.storage.databases import Storage
from jupyter_memory.store.history import History
from jupyter_memory.store.runnable import place_of, seen
from jupyter_memory.store.searching import Searching
from jupyter_memory.store.sources import Scope
from jupyter_memory.text.errors import message_words, read_traceback
from jupyter_memory.text.markdown import outputs_of, source_of
from jupyter_memory.types import Answer, Filters, Fix, FixKind, Memory, Run, RunError

_BY_WORDS = "covalence"  # it searches words alone: no model is loaded for an error
_WORDS = 30
_MOST_ERRORS = 50
# What a note says of an error: its name, and its message in the same line.
_TOLD = re.compile(r"(?<![\w.])((?:\w++\.)*+[A-Z]\w{0,80}(?:Error|Exception|Warning|Interrupt))\b[:,]?[ \t]*([^\n]*)")
# The runs in cells and notes, by the name of their place: each is a session of its own.
_Stored = dict[str, tuple[FixKind, list[Run]]]
_MOST = 200  # the newest failed runs that an error is compared with: at most a second of work
# Two runs of one source that began so closely together are one, noted by two clocks.
_AT_ONCE = timedelta(milliseconds=100)


class Fixes:
    """What mended errors like a new one."""

    def __init__(
        self, storage: Storage, history: History, searching: Searching, scope: Scope, bound: Filters | None = None
    ) -> None:
        self._storage, self._history, self._searching, self._scope = storage, history, searching, scope
        self._bound = bound

    def within(self, searching: Searching, bound: Filters) -> Fixes:
        """Return what mended errors in a part of the store: its searches, and what its memories match."""
        return Fixes(self._storage, self._history, searching, self._scope, bound)

    def of_run(self, run: Run, before: Sequence[Run] = (), limit: int = 3) -> list[Fix]:
        """Return what mended the errors most like that of a run, best first, given those before it in its session."""
        known, stored = self._known(run)
        fixes = known.fixes(run, before, limit)
        return [replace(fix, kind=stored.get(fix.failed.session, ("history", ()))[0]) for fix in fixes]

    def similar(self, run: Run, before: Sequence[Run] = ()) -> list[Run]:
        """Return the earlier runs with an error like that of a run, the likest first, whether it was mended or not."""
        return self._known(run)[0].similar(run, before)

    def of_traceback(self, text: str, limit: int = 3) -> list[Fix]:
        """Return what mended the errors most like the one that a traceback ends with, as ``of_run`` does."""
        return self.of_run(self.run_of(text), limit=limit)

    def run_of(self, traceback: str) -> Run:
        """Return the run that failed with a traceback; raise ``InputError`` if the text is no traceback of Python."""
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

    def _known(self, run: Run) -> tuple[KnownErrors, _Stored]:
        error, stored = run.error, _Stored()
        if error is None:
            raise InputError("The run has no error: fixes are looked up for an exception.")

        def around(one: Run) -> tuple[Sequence[Run], Sequence[Run]]:
            if one.session in stored:
                _, runs = stored[one.session]
                return [r for r in runs if r.number < one.number], [r for r in runs if r.number > one.number]
            before = self._runs(session=one.session, before=one.started, limit=EARLIER)
            after = self._runs(session=one.session, after=one.started, oldest_first=True, limit=AFTER)
            return before[::-1], after

        if error.is_interruption:
            return KnownErrors((), around), stored
        failed = self._runs(error=error.name.rpartition(".")[2], limit=_MOST)
        # The history may know it by another session and number than who asks.
        place, code = (run.session, run.number) if run.session else None, run.source.strip()
        failed = [
            one
            for one in failed
            if (one.session, one.number) != place
            and (abs(one.started - run.started) >= _AT_ONCE or one.source.strip() != code)
        ]
        return KnownErrors([*failed, *self._in_texts(error, stored)], around), stored

    def _runs(self, **wanted: Any) -> list[Run]:
        return seen(self._storage, self._history.runs(**wanted), self._bound)

    def _in_texts(self, new: RunError, stored: _Stored) -> list[Run]:
        # The errors of the same type in cells and notes.
        words, name = message_words(new.message), new.name.rpartition(".")[2]
        query, filters = " ".join((name, *sorted(words)[:_WORDS])), Filters(kind=("cell", "note"))
        answer = self._searching.hits(query, filters=filters, profile=_BY_WORDS, limit=_MOST_ERRORS, time=False)
        found = []
        for memory in (hit.memory for hit in answer.hits):
            error = _error_of(memory)
            if error is None or error.name.rpartition(".")[2] != name:
                continue
            if memory.kind == "note":
                if words and words <= message_words(memory.text):
                    error = new
                # After the error of a note comes the note.
                mended = Run(memory.text, memory.event_at, memory.id, 2, "ok", memory_id=memory.id)
                stored[memory.id] = "note", [mended]
                found.append(replace(mended, source="", number=1, outcome="error", error=error, language=""))
            else:
                if memory.source not in stored:
                    stored[memory.source] = "cell", self._cells(memory.source)
                # Cells of two formats may have one index: the memory is the same.
                found += [run for run in stored[memory.source][1] if run.memory_id == memory.id][:1]
        return found

    def _cells(self, notebook: str) -> list[Run]:
        with self._storage.snapshot(self._bound) as snapshot:
            keys = snapshot.keys(self._scope.bound(Filters(kind=("cell",), path=(notebook,))))
            cells = [one for one in snapshot.memories(keys).values() if one.source == notebook]
        runs = []
        for cell in sorted(cells, key=place_of):
            if cell.metadata.get("cell_type") != "markdown":
                error = _error_of(cell)
                run = Run(
                    source=source_of(cell.text),
                    started=cell.event_at,
                    session=notebook,
                    number=place_of(cell) + 1,
                    outcome="ok" if error is None else "error",
                    error=error,
                    notebook=notebook,
                    cell_id=cell.location,
                    language=cell.lang,
                    memory_id=cell.id,
                )
                runs.append(run)
        return runs


def _error_of(memory: Memory) -> RunError | None:
    text = memory.text if memory.kind == "note" else outputs_of(memory.text)
    if raised := read_traceback(text):
        return RunError(raised.name, raised.message, text)
    told = _TOLD.search(text) if memory.kind == "note" else None
    return RunError(told[1], told[2]) if told else None
