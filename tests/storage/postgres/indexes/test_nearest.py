"""Vector search by the HNSW index: it answers as comparing everything does, and filters never empty a non-empty set."""

from __future__ import annotations

import pytest
from hashing import Hashing

from jupyter_memory.ingest import prepare
from jupyter_memory.storage import open_storage
from jupyter_memory.types import Draft, Filters

pytest.importorskip("psycopg", reason="needs the extra `postgres`")
from jupyter_memory.storage.postgres.indexes import vectors

TEXTS = [f"the rate {number} of queue {number % 7} and price {number % 5}" for number in range(150)]
FILTERS = (
    Filters(),
    Filters(tag=("seven",)),
    Filters(tag=("rare",)),
    Filters(not_tag=("seven",)),
    Filters(tag=("no",)),
)


@pytest.fixture(scope="module")
def storage(postgres_server):
    """A store of 150 memories, of which every seventh has a tag, and one another tag; some in another space."""
    opened, embedder = open_storage(postgres_server.new_database(), busy_seconds=5), Hashing()
    drafts = [
        Draft(text=text, tags=("rare",) if number == 140 else ("seven",) * (number % 7 == 0), space="b" * (number == 3))
        for number, text in enumerate(TEXTS)
    ]
    opened.writer.add(prepare(drafts, embedder), embedder)
    yield opened
    opened.close()


@pytest.fixture
def by_index(monkeypatch):
    """Let the index be asked, however small the store is."""
    monkeypatch.setattr(vectors, "EXACT", 0)


def found(session, filters, wanted=20):
    """Return the best memories by the cosine with a text, with their scores."""
    query = Hashing().embed_query("the rate 140 of queue 0")
    return vectors.search(session, vectors.active(session), query, filters, wanted, None)


def indexes(storage):
    """Return the names of the HNSW indexes of a store."""
    with storage.database.read() as session:
        return [name for (name,) in session.rows("select indexname from pg_indexes where indexdef like '%% hnsw %%'")]


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_the_index_answers_as_comparing_everything_does(storage, monkeypatch, filters):
    """A small graph is searched whole, so memories, order and scores are those of the exact search."""
    with storage.database.read() as session:
        exact = found(session, filters)
        monkeypatch.setattr(vectors, "EXACT", 0)
        # What a larger store makes worth it.
        session.execute("set local enable_sort = off")
        scans = "select pg_stat_get_xact_numscans('vectors_nearest_1'::regclass)"
        before = session.value(scans)
        assert found(session, filters) == exact and bool(exact) == (filters.tag != ("no",))
        assert filters or session.value(scans) > before


def test_filters_never_empty_a_set(storage, by_index):
    """Where the index gives up before it meets what a filter lets through, everything that fits is compared."""
    with storage.database.read() as session:
        for setting in ("enable_sort = off", "hnsw.ef_search = 1", "hnsw.iterative_scan = off"):
            session.execute(f"set local {setting}")
        fitting = {Filters(tag=("rare",)): 1, Filters(space=("b",)): 1, Filters(tag=("seven",)): 21}
        for filters, count in fitting.items():
            assert len(found(session, filters, 30)) == count


def test_a_model_has_its_index_as_long_as_it_is_there(emptied_postgres):
    """The index is made when the first vector is written, and goes when the last one does."""
    storage, embedder = open_storage(emptied_postgres, busy_seconds=5), Hashing()
    try:
        assert indexes(storage) == []
        storage.writer.add(prepare([Draft(text=TEXTS[0])], embedder), embedder)
        assert len(indexes(storage)) == 1
        storage.database.change(lambda session: vectors.register(session, Hashing("other", 24)))
        assert len(indexes(storage)) == 2
        storage.database.change(lambda session: vectors.drop(session, vectors.known(session, embedder.fingerprint)))
        assert len(indexes(storage)) == 1
    finally:
        storage.close()
