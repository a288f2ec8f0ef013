"""What the tests of a storage's writer share: a note, the cells of a notebook, and what a new snapshot shows."""

from __future__ import annotations

from datetime import UTC, datetime

from jupyter_memory import FileState
from jupyter_memory.ingest import prepare
from jupyter_memory.types import Draft, Filters

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)
NOTE = Draft(text="The λ of Zürich is 3.2.", title="λ", tags=("decision",))
NOTEBOOK = "/week/λ.ipynb"


def add(storage, *drafts, embedder=None):
    """Store drafts and return their memories."""
    return storage.writer.add(prepare(drafts, embedder), embedder)


def cells(*texts, source=NOTEBOOK):
    return [
        Draft(text=text, kind="cell", tier="file", source=source, location=f"#{place}", lang="python")
        for place, text in enumerate(texts)
    ]


def read_file(storage, *texts, path=NOTEBOOK, embedder=None):
    """Store a file of these cells, and return its memories in their order."""
    state = FileState(path, 1, len(texts), "-".join(texts))
    storage.writer.replace_files([(state, prepare(cells(*texts, source=path), embedder))], embedder, "")
    return sorted(everything(storage, kind=("cell",), path=(path,)), key=lambda memory: memory.location)


def everything(storage, **filters):
    with storage.snapshot() as snapshot:
        return list(snapshot.memories(snapshot.keys(Filters(**filters))).values())


def seen(storage, read):
    """Return what a new snapshot shows."""
    with storage.snapshot() as snapshot:
        return read(snapshot)
