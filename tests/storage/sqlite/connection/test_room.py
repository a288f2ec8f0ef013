"""On a full disk forgetting works with what was set aside for it, or says how much room it needs."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress

import pytest

from jupyter_memory import MemoryStore, StoreFull
from jupyter_memory.storage.sqlite.connection import room


@pytest.fixture
def disk(tmp_path):
    """A disk of 24 megabytes, on its own; only root can make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "none", folder], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no disk can be mounted here: {error}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_forgetting_on_a_full_disk(disk, bytes_of):
    """When adding is no longer possible, forgetting is, here and in a store that is opened anew, without a trace."""
    with MemoryStore(disk / "memory.sqlite", embedder=None) as store:
        memories = []
        with pytest.raises(StoreFull):
            while True:
                memories.append(store.add(f"walross{len(memories)}zahl " + os.urandom(50_000).hex()))
        assert store.forget(memories[0].id) == 1
    with MemoryStore(disk / "memory.sqlite", embedder=None) as store:
        assert store.forget(memories[1].id) == 1
        assert store.stats()["memories"] == len(memories) - 2 and store.doctor() == []
        for number in range(2):
            assert f"walross{number}zahl".encode() not in bytes_of(store.path)


def test_forgetting_a_folder_on_a_full_disk(disk):
    """A folder and the searches are forgotten there, too."""
    (disk / "notes").mkdir()
    for number in range(20):
        (disk / "notes" / f"{number}.md").write_text(f"# Note {number}\n\nwalross{number}zahl")
    with MemoryStore(disk / "memory.sqlite", embedder=None) as store:
        store.index(disk / "notes", progress=False)
        with pytest.raises(StoreFull):
            while True:
                store.add(os.urandom(50_000).hex(), tags=["filler"])
        assert store.remove_folder(disk / "notes") == 20
        assert store.forget(filters={"tag": "filler"}) > 0
        assert store.count() == 0 and store.doctor() == []


def test_where_even_the_reserve_is_too_little(disk):
    """If the room of the reserve is taken, the error says how much to make, and nothing is forgotten."""
    with MemoryStore(disk / "memory.sqlite", embedder=None) as store:
        ids = [memory.id for memory in store.add_many({"text": os.urandom(2_000).hex()} for _ in range(400))]
        store._storage.database.connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        room._reserve_of(store.path).unlink(missing_ok=True)
        with (disk / "filler").open("wb", buffering=0) as filler, suppress(OSError):
            while filler.write(bytes(4096)):
                pass
        with pytest.raises(StoreFull, match=r"needs about 8 MB .* Nothing was forgotten\. Remove or move other files"):
            store.forget(ids)
        (disk / "filler").unlink()
        assert store.count() == 400 and store.doctor() == []
        assert store.forget(ids) == 400


@pytest.mark.parametrize(("free", "size"), [(200_000_000, None), (60_000_000, 8_000_000), (1_000_000, 500_000)])
def test_the_reserve(week_store, monkeypatch, free, size):
    """Room is set aside where the disk is nearly full, at most half of it, and given back where there is much again."""
    reserve = week_store.path.with_name(".memory.sqlite.reserve")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9 - free, free))
    room.keep_reserve(week_store.path)
    assert (reserve.stat().st_size if reserve.exists() else None) == size

    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 0, 10**9))
    week_store.add("with much room")
    assert not reserve.exists()
