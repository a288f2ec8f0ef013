"""Paths and files that lead nowhere: reported or read as far as they can be, and the others are indexed."""

from __future__ import annotations

import pytest

from jupyter_memory import JupyterMemoryError


def test_a_path_that_is_not_there(week_store, tmp_path):
    """Indexing nothing is refused, and forgets nothing."""
    for path in (tmp_path / "nowhere", tmp_path / "no\0thing", "~nobody-of-this-name/notes", "n" * 5000):
        with pytest.raises(JupyterMemoryError):
            week_store.index(path, progress=False)
    assert week_store.stats()["memories"] == 10


def test_a_loop_of_folders(store, tmp_path):
    """A link that leads back up is not followed for ever."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# λ\n\nNet of tax in Zürich")
    (tmp_path / "notes" / "up").symlink_to(tmp_path / "notes")
    (tmp_path / "notes" / "self").symlink_to(tmp_path / "notes" / "self")
    memory = store()
    assert memory.index(tmp_path / "notes", progress=False).files == 1
    assert memory.stats()["files"] == 1


@pytest.mark.parametrize("embedder", ["auto", None])
def test_files_without_anything_in_them(store, tmp_path, embedder):
    """Notebooks without cells and empty files are indexed, and hold nothing; the next run leaves them alone."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "empty.ipynb").write_text('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}')
    for name in ("empty.md", "empty.py", "empty.txt"):
        (tmp_path / "notes" / name).touch()
    memory = store(embedder=embedder)
    first, again = (memory.index(tmp_path / "notes", progress=False) for _ in range(2))
    assert (first.cells, first.failed, again.files, again.failed) == (0, (), 0, ())
    assert memory.stats()["memories"] == 0 and memory.doctor() == []


def test_file_names_that_are_no_text(store, tmp_path):
    """A file whose name is not UTF-8 is stored under a name that is, or reported; the others are indexed."""
    (tmp_path / "good.md").write_text("# λ\n\nNet of tax")
    try:
        (tmp_path / b"b\xffd.md".decode("utf-8", "surrogateescape")).write_text("# Odd\n\nName of a file")
    except OSError:
        pytest.skip("this file system takes only text for names")
    memory = store()
    first = memory.index(tmp_path, progress=False)
    again = memory.index(tmp_path, progress=False)
    assert memory.hits("tax").hits
    assert first.files + len(first.failed) + len(first.skipped) >= 2
    assert again.forgotten == 0 and memory.doctor() == []
    str(first), repr(first)
