"""Writing a store anew takes little memory, and no place but the store's own folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from jupyter_memory.storage.temporary import temporary_files_in


def spilling(path: Path, vfs: str) -> apsw.Connection:
    """Return a connection that has written ten megabytes of temporary data."""
    connection = apsw.Connection(str(path), vfs=vfs)
    connection.pragma("temp_store", "file")
    connection.pragma("cache_size", -100)
    connection.execute(
        "create temp table zürich as with recursive n (i) as (select 1 union all select i + 1 from n where i < 100) "
        "select randomblob(100000) as data from n"
    )
    return connection


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the open files of a process are seen on Linux")
def test_temporary_files_lie_in_the_folder_without_a_name(tmp_path):
    """What SQLite spills is in the folder, has no name there, and is its owner's alone."""
    with temporary_files_in(tmp_path) as vfs:
        connection = spilling(tmp_path / "memory.sqlite", vfs)
        links = {link: str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()}
        spilled = [link for link, target in links.items() if target.startswith(str(tmp_path)) and "deleted" in target]

        assert len(spilled) == 1
        assert spilled[0].stat().st_mode & 0o077 == 0
        assert spilled[0].stat().st_size > 5_000_000
        assert [path.name for path in tmp_path.iterdir()] == ["memory.sqlite"]
        connection.close()


def test_nothing_is_left(tmp_path):
    """When the connection is closed, the folder holds no more than before, and the VFS is gone."""
    with temporary_files_in(tmp_path) as vfs:
        spilling(tmp_path / "memory.sqlite", vfs).close()

    assert [path.name for path in tmp_path.iterdir()] == ["memory.sqlite"]
    assert vfs not in apsw.vfs_names()


FORGET = """
import resource, sys
from jupyter_memory import MemoryStore

store = MemoryStore(sys.argv[1], embedder=None)
memory = store.add("The λ of Zürich is 0.3.")
with store._database.write() as connection:
    connection.execute("create table ballast (data)")
    connection.executemany("insert into ballast values (randomblob(?))", [(1_000_000,)] * 80)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
store.forget(memory.id)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(grown // (1024 * 1024 if sys.platform == "darwin" else 1024))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the most memory a process had is told on POSIX")
def test_forgetting_takes_less_memory_than_the_store_is_large(tmp_path):
    """Forgetting one memory of a store of 80 MB takes no 40 MB of memory."""
    done = subprocess.run(
        [sys.executable, "-c", FORGET, str(tmp_path / "memory.sqlite")], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 40
