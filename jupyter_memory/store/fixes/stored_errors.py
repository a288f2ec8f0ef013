"""Errors in the outputs of saved notebooks and in notes, as runs that can be compared with others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from jupyter_memory.storage.writing import Storage
from jupyter_memory.store.scope import Scope
from jupyter_memory.store.searching import Searching
from jupyter_memory.text.errors import message_words, read_traceback
from jupyter_memory.text.markdown import outputs_of, source_of
from jupyter_memory.types import Filters, FixKind, Memory, Run, RunError

# The profile that searches words alone: no model is loaded for an error.
_BY_WORDS = "covalence"
_WORDS = 30
_MOST = 50
# What a note says of an error: its name, and its message in the same line.
_TOLD = re.compile(r"(?<![\w.])((?:\w++\.)*+[A-Z]\w{0,80}(?:Error|Exception|Warning|Interrupt))\b[:,]?[ \t]*([^\n]*)")


class StoredErrors:
    """The errors of one type in a store's cells and notes; each has a session of its own, by the name of its place."""

    def __init__(self, storage: Storage, searching: Searching, scope: Scope) -> None:
        self._storage = storage
        self._searching = searching
        self._scope = scope
        self._notebooks: dict[str, list[Run]] = {}
        self._notes: dict[str, Run] = {}

    def like(self, error: RunError) -> list[Run]:
        """Return cells of saved notebooks that failed with this type of error, and notes that tell of one."""
        words = sorted(message_words(error.message))[:_WORDS]
        query = " ".join((error.name.rpartition(".")[2], *words))
        filters = Filters(kind=("cell", "note"))
        answer = self._searching.hits(query, filters=filters, profile=_BY_WORDS, limit=_MOST, time=False)
        found = (self._failed(hit.memory, error) for hit in answer.hits)
        return [run for run in found if run is not None]

    def kind_of(self, run: Run) -> FixKind:
        """Return whether a run is a cell or a note from here, or of the history."""
        return "cell" if run.session in self._notebooks else "note" if run.session in self._notes else "history"

    def around(self, run: Run) -> tuple[Sequence[Run], Sequence[Run]]:
        """Return the cells before and after one in its notebook; after the error of a note comes the note."""
        if run.session in self._notes:
            return (), (self._notes[run.session],)
        cells = self._notebooks[run.session]
        return [one for one in cells if one.number < run.number], [one for one in cells if one.number > run.number]

    def _failed(self, memory: Memory, new: RunError) -> Run | None:
        error = _error_of(memory)
        if error is None or error.name.rpartition(".")[2] != new.name.rpartition(".")[2]:
            return None
        if memory.kind == "note":
            if _tells_of(memory.text, new):
                error = new
            self._notes[memory.id] = Run(memory.text, memory.event_at, memory.id, 2, "ok", memory_id=memory.id)
            return Run("", memory.event_at, memory.id, 1, "error", error=error, language="", memory_id=memory.id)
        if memory.source not in self._notebooks:
            self._notebooks[memory.source] = list(self._cells(memory))
        # Cells of two formats may have one index: the memory is the same.
        return next((run for run in self._notebooks[memory.source] if run.memory_id == memory.id), None)

    def _cells(self, memory: Memory) -> Iterator[Run]:
        """Yield the code cells of the notebook of a memory, in their order, as if they had run so."""
        filters = self._scope.bound(Filters(kind=("cell",), path=(memory.source,)))
        with self._storage.snapshot() as snapshot:
            cells = snapshot.memories(snapshot.keys(filters)).values()
        for cell in sorted(cells, key=_place):
            if cell.source == memory.source and cell.metadata.get("cell_type") != "markdown":
                yield _as_run(cell)


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


def _tells_of(note: str, error: RunError) -> bool:
    """Return whether a note has all the words of an error's message, as one has that says more in the same line."""
    words = message_words(error.message)
    return bool(words) and words <= message_words(note)


def _error_of(memory: Memory) -> RunError | None:
    """Return the error that a cell's outputs end with, or that a note tells of."""
    text = memory.text if memory.kind == "note" else outputs_of(memory.text)
    if raised := read_traceback(text):
        return RunError(raised.name, raised.message, text)
    told = _TOLD.search(text) if memory.kind == "note" else None
    return RunError(told[1], told[2]) if told else None
