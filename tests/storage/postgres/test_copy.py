"""A store that moves to a server and back is what it was, and answers alike wherever it is."""

from __future__ import annotations

import signal

import pytest
from hashing import Hashing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transferred import NOTES, PLAIN, RUNS, answers, carried, contents, fill

from jupyter_memory import MemoryStore
from jupyter_memory.storage.postgres.indexes import vectors
from jupyter_memory.store.transfer import copying

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from jupyter_memory.storage.postgres.writing.transfer import PostgresTransfer


@given(st.lists(NOTES, max_size=6), st.lists(RUNS, max_size=6))
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_there_and_back_is_what_it_was(tmp_path_factory, postgres_server, postgres_address, notes, runs):
    """Everything comes to the server and back exactly, vectors to the last bit; hits and scores are the same."""
    folder = tmp_path_factory.mktemp("store")
    with MemoryStore(folder / "a.sqlite", "static", settings=PLAIN) as store:
        fill(store, folder / "week", notes, runs)
        before, more, asked = contents(store), carried(store), answers(store)
        store.copy_to(postgres_address, progress=False)
    with MemoryStore(postgres_address, settings=PLAIN) as store:
        found, scores = answers(store)
        assert found == asked[0]
        assert scores == pytest.approx(asked[1], abs=1e-5)
        vectors, tokens, drafts, *_ = carried(store)
        assert (vectors, tokens, drafts) == more[:3]
        assert store.doctor() == []
        store.copy_to(folder / "b.sqlite", progress=False)
    with MemoryStore(folder / "b.sqlite", settings=PLAIN) as store:
        memories, files, folders, feedback = contents(store)
        assert (memories, files, feedback) == (before[0], before[1], before[3])
        assert [one.watched for one in folders] == [False] * len(before[2])
        assert carried(store) == more
        assert answers(store) == asked
    postgres_server.clear(postgres_address)


def test_a_copy_goes_on_after_the_server_crashed(tmp_path, postgres_server, postgres_address, monkeypatch):
    """What was stored before the crash is there; the same call copies the rest, and nothing is there twice."""
    monkeypatch.setattr(copying, "_ON_SERVER", 7)
    put, done = PostgresTransfer.put, []

    def crashing(self, *arguments, **options):
        done.append(1)
        became = put(self, *arguments, **options)
        if len(done) == 3:
            postgres_server.restart(signal.SIGQUIT)
            raise KeyboardInterrupt
        return became

    with MemoryStore(tmp_path / "a.sqlite", Hashing(), settings=PLAIN) as store:
        store.add_many([{"text": f"The price of shop {number} rose."} for number in range(40)])
        asked = answers(store)
        with monkeypatch.context() as patched:
            patched.setattr(PostgresTransfer, "put", crashing)
            with pytest.raises(KeyboardInterrupt):
                store.copy_to(postgres_address, progress=False)
        report = store.copy_to(postgres_address, progress=False)
    assert (report.memories.kept, report.memories.added) == (21, 19)
    with MemoryStore(postgres_address, Hashing(), settings=PLAIN) as copy:
        assert copy.count() == 40
        assert answers(copy)[0] == asked[0]
        assert copy.doctor() == []


def test_a_copy_into_a_new_store_indexes_its_vectors_afterwards(tmp_path, postgres_address, monkeypatch):
    """While it runs there is no index; then there is one, and the counts are folded."""
    monkeypatch.setattr(copying, "_ON_SERVER", 1)
    put, seen = PostgresTransfer.put, []

    def watched(self, *arguments, **options):
        became = put(self, *arguments, **options)
        seen.append(indexes(self._database))
        return became

    monkeypatch.setattr(PostgresTransfer, "put", watched)
    with MemoryStore(tmp_path / "a.sqlite", Hashing(), settings=PLAIN) as store:
        store.add_many([{"text": f"The price of shop {number} rose."} for number in range(70)])
        store.copy_to(postgres_address, progress=False)
    assert seen == [[]] * 70
    with MemoryStore(postgres_address, Hashing(), settings=PLAIN) as copy, copy._storage.database.read() as session:
        assert len(indexes(copy._storage.database)) == 1
        assert session.value("select count(*) from totals") < 64
        assert session.value("select count(*) from frequencies where term = 'price'") < 64


def test_a_copy_that_was_broken_off_is_indexed_by_the_next_change_of_many(tmp_path, postgres_address, monkeypatch):
    """A store without the index answers, by comparing everything; upkeep makes it."""
    monkeypatch.setattr(PostgresTransfer, "finish", lambda self: None)
    with MemoryStore(tmp_path / "a.sqlite", Hashing(), settings=PLAIN) as store:
        store.add_many([{"text": f"The price of shop {number} rose."} for number in range(40)])
        asked = answers(store)
        store.copy_to(postgres_address, progress=False)
    monkeypatch.setattr(vectors, "EXACT", 10)
    with MemoryStore(postgres_address, Hashing(), settings=PLAIN) as copy:
        assert indexes(copy._storage.database) == []
        assert answers(copy)[0] == asked[0]
        copy._storage.writer.tidy()
        assert len(indexes(copy._storage.database)) == 1


def indexes(database):
    """Return the names of the HNSW indexes of a store."""
    with database.read() as session:
        return session.rows("select indexname from pg_indexes where indexname like 'vectors_nearest%%'")


def test_a_write_looks_rows_up_by_their_keys_in_tables_that_were_never_counted(postgres_address):
    """Else each memory reads all those before it, until the server counts the rows a minute later."""
    with MemoryStore(postgres_address, Hashing(), settings=PLAIN) as store:
        read = store._storage.database.change(lambda session: session.value("show enable_seqscan"))
        assert read == "off"
        with store._storage.database.read() as session:
            assert session.value("show enable_seqscan") == "on"
