"""What every storage must say of itself as a whole, and what its snapshots show."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from contract_writing import NOTE, add, everything, read_file, seen

from jupyter_memory import InputError
from jupyter_memory.types import Draft, Filters


def test_what_it_says_of_itself(storage):
    """A new store is whole, writable and counted; its index can be built anew."""
    add(storage, NOTE)
    known = {memory.id: memory.content_hash for memory in everything(storage)}

    assert storage.created and not (storage.read_only or storage.replaced) and not storage.notices
    assert list(storage.problems()) == []
    assert storage.stats()["memories"] == seen(storage, lambda snapshot: snapshot.count(Filters())) == 1
    assert seen(storage, lambda snapshot: snapshot.tags()) == ["decision"]
    assert seen(storage, lambda snapshot: snapshot.known({**known, "none": "0"}, Filters())) == set(known)
    storage.writer.rebuild()
    assert seen(storage, lambda snapshot: snapshot.holds_word("zürich", ["text"]))
    assert list(storage.problems()) == []


def test_a_backup(storage, tmp_path):
    """A file is copied into a file; a store on a server says how it is dumped or copied, and makes no file."""
    add(storage, NOTE)
    copy = tmp_path / "copy.sqlite"
    if isinstance(storage.path, Path):
        storage.backup(copy)
        assert copy.exists()
    else:
        with pytest.raises(InputError, match="pg_dump"):
            storage.backup(copy)
        assert not copy.exists()


def test_tidying_leaves_no_trace(storage, tmp_path):
    """Once a file was read again and the store tidied, none of the store's files holds what the file held before."""
    read_file(storage, "the word zanzibar", "the λ of Zürich")
    read_file(storage, "the λ of Zürich")

    storage.writer.tidy()

    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"zanzibar" in path.read_bytes()]
    assert [memory.text for memory in everything(storage)] == ["the λ of Zürich"]


def test_a_snapshot_stays_as_it_is(storage):
    """What is written after a snapshot began is not seen in it."""
    add(storage, NOTE)
    with storage.snapshot() as snapshot:
        assert snapshot.count(Filters()) == 1
        writing = threading.Thread(target=lambda: add(storage, Draft(text="μ")))
        writing.start()
        writing.join(100)
        assert snapshot.count(Filters()) == 1
    assert seen(storage, lambda snapshot: snapshot.count(Filters())) == 2
