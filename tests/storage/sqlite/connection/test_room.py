"""On a full disk forgetting works with what was set aside for it, or says how much room it needs."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.errors import StoreFull
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


def test_where_even_the_reserve_is_too_little(week_store):
    """If there is too little room all the same, the reserve has gone, and the error says how much to make."""
    reserve = week_store.path.with_name(".memory.sqlite.reserve")
    tries = []

    def forget():
        tries.append(reserve.exists())
        raise StoreFull("no room")

    reserve.write_bytes(b"room")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "keep_reserve", lambda _: None)
        with pytest.raises(StoreFull, match=r"needs some 8 MB .* Nothing was forgotten\. Remove or move other files"):
            room.with_room(week_store._storage.database, forget)
    assert tries == [True, False]


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
