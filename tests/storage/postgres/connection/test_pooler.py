"""Behind PgBouncer, which may give each transaction another server process, a store works as it does without."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import parse_qs

import pytest
from hashing import Hashing

from jupyter_memory import MemoryStore
from jupyter_memory.text import database_address

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

import psycopg

from jupyter_memory.storage.postgres.connection.database import Database

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@pytest.fixture
def pooled(postgres_address):
    """The address of a database behind PgBouncer, which shares two server processes among all transactions."""
    if PROGRAM is None:
        pytest.skip("PgBouncer is not installed: apt install pgbouncer")
    folder = Path(tempfile.mkdtemp(prefix="pooler-"))
    folder.chmod(0o777)
    url, _, options = postgres_address.url.partition("?")
    [server] = parse_qs(options)["host"]
    (folder / "users").write_text('"postgres" ""\n')
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n* = host={server}\n[pgbouncer]\nlisten_port = 6432\nunix_socket_dir = {folder}\n"
        f"auth_type = trust\nauth_file = {folder}/users\npool_mode = transaction\ndefault_pool_size = 2\n"
    )
    # It refuses to run as root, and the folder of the server's socket is its own.
    user = {"user": Path(server).stat().st_uid} if os.geteuid() == 0 else {}
    with subprocess.Popen(
        [PROGRAM, folder / "pgbouncer.ini"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **user
    ) as running:
        until = monotonic() + 20
        while not (folder / ".s.PGSQL.6432").exists() and monotonic() < until:
            sleep(0.05)
        yield database_address(f"{url}?host={folder}&port=6432")
        running.kill()
    shutil.rmtree(folder)


def test_many_search_and_write_behind_a_pooler(pooled, postgres_address):
    """The tables are made, and four programs write and search through two processes of the server."""

    def work(name):
        with MemoryStore(pooled, Hashing()) as store:
            for number in range(8):
                store.add(f"the {name} note {number} on prices")
                assert store.hits("prices", limit=3).hits

    with MemoryStore(pooled, Hashing()) as first:
        first.add("a note on prices")
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(work, ("first", "second", "third", "fourth")))
        assert first.count() == 33
    # Nothing stays set for other programs.
    with psycopg.connect(pooled.url, autocommit=True, prepare_threshold=None) as other:
        assert other.execute("show search_path").fetchone() == ('"$user", public',)
        assert other.execute("select count(*) from pg_prepared_statements").fetchone() == (0,)
    with MemoryStore(postgres_address, Hashing()) as store:
        assert store.count() == 33


def test_a_connection_of_ones_own_keeps_its_settings(postgres_address):
    """Without a pooler the settings are made once, and statements are prepared."""
    store = Database(postgres_address)
    with store.read() as session:
        assert session.value("select current_setting('search_path')") == "jupyter_memory, public"
        assert session.connection.prepare_threshold == 5
        assert session.value("select source from pg_settings where name = 'work_mem'") == "session"
    store.close()
