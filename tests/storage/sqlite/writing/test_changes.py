"""Changes in steps: long work lets go of the write lock between them."""

from __future__ import annotations

from jupyter_memory import FileState
from jupyter_memory.ingest.chunking import with_chunks
from jupyter_memory.storage import Prepared
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.writing.steps import in_steps
from jupyter_memory.storage.sqlite.writing.writer import SqliteWriter
from jupyter_memory.types import Draft


def read(path, count):
    """Return a file that holds so many memories."""
    drafts = with_chunks(
        [Draft(text=f"λ {path} {i}", kind="file", source=path, location=f"#{i}") for i in range(count)]
    )
    return FileState(path, 1, 1, f"hash of {path}"), [Prepared(draft, None) for draft in drafts]


def test_new_files_in_steps(database):
    """New files are written some at a time, each as a whole."""
    files = [read(f"/n{i}.md", 50) for i in range(6)] + [read("/book.md", 500)]
    with database().read() as connection:
        steps = in_steps(connection, files, "")
    assert [[len(of_it) for _, of_it in step] for step in steps] == [[50, 50, 50], [50, 50, 50], [500]]


def test_known_files_together(database):
    """Files that hold memories are written together, since their cells may have moved from one to another."""
    opened = database()
    files = [read(f"/n{i}.md", 100) for i in range(4)]
    SqliteWriter(opened, VectorIndex()).replace_files(files[:1], None, "")
    with opened.read() as connection:
        assert in_steps(connection, files, "") == [files]
        assert len(in_steps(connection, files[1:], "")) == 2
        assert in_steps(connection, [], "") == []
