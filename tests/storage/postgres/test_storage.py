"""A store on a server as a whole: what it costs in round trips, what a space sees, and what is refused."""

from __future__ import annotations

import pytest
from contract import DRAFTS, EVERYTHING, RATE, WEIGHTS, keys_of, vector_of
from hashing import Hashing

from jupyter_memory import StoreReadOnly
from jupyter_memory.ingest import prepare
from jupyter_memory.storage import open_storage
from jupyter_memory.types import Draft, Filters, Terms

psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")


@pytest.fixture
def storage(emptied_postgres):
    """A store of three memories with vectors."""
    opened, embedder = open_storage(emptied_postgres, busy_seconds=2), Hashing()
    opened.writer.add(prepare(DRAFTS, embedder), embedder)
    yield opened
    opened.close()


@pytest.fixture
def statements(monkeypatch):
    """How many statements were sent so far, by a connection that counts them."""
    sent = []
    execute = psycopg.Connection.execute

    def counted(self, *args, **options):
        sent.append(args[0])
        return execute(self, *args, **options)

    monkeypatch.setattr(psycopg.Connection, "execute", counted)
    return sent


@pytest.mark.parametrize(
    ("stage", "most"),
    [
        (lambda snapshot: snapshot.corpus.frequencies(["rate", "queue"]), 1),
        (lambda snapshot: snapshot.keyword_matches(Terms(words=("rate", "queue")), WEIGHTS, EVERYTHING, 9), 2),
        (lambda snapshot: snapshot.keyword_matches(Terms(phrases=("arrival rate",)), WEIGHTS, EVERYTHING, 9), 2),
        (lambda snapshot: snapshot.vector_matches(snapshot.active_model(), vector_of(RATE), EVERYTHING, 9, None), 2),
        (lambda snapshot: snapshot.memories(keys_of(snapshot, *DRAFTS)), 2),
        (lambda snapshot: snapshot.passages([1, 2, 3]), 1),
        (lambda snapshot: snapshot.facet_counts(EVERYTHING), 2),
    ],
    ids=["frequencies", "words", "phrase", "vectors", "memories", "passages", "facets"],
)
def test_a_stage_of_a_search_takes_one_round_trip(storage, statements, stage, most):
    """Whatever it asks for comes at once; before it, the rarity of words or the model is read, once a state."""
    with storage.snapshot() as snapshot:
        begun = len(statements)
        stage(snapshot)
        assert len(statements) - begun <= most
        begun = len(statements)
        snapshot.keyword_matches(Terms(words=("rate", "queue")), WEIGHTS, EVERYTHING, 9)
        snapshot.keyword_matches(Terms(words=("rate",)), WEIGHTS, Filters(tag=("queue",)), 9)
        assert len(statements) - begun <= 3


def test_a_space_sees_and_counts_nothing_of_another(storage):
    """Ids, words, frequencies, scores and totals are those of the space that the store was opened with."""
    secret = Draft(text="zanzibar: the arrival rate of the others", space="b", tags=("theirs",))
    ours = Draft(text="The arrival rate is ours.", space="a")
    [theirs, own] = storage.writer.add(prepare([secret, ours], Hashing()), Hashing())
    alone = open_storage(storage.path, busy_seconds=2, space="a")
    with alone.snapshot() as snapshot:
        before = snapshot.keyword_matches(Terms(words=("rate",)), WEIGHTS, EVERYTHING, 9)
        assert [memory.id for memory in snapshot.browse(EVERYTHING, 9)] == [own.id]
        assert snapshot.corpus.chunks == 1 and snapshot.tags() == []
        assert snapshot.corpus.frequencies(["zanzibar", "rate"]) == {"zanzibar": 0, "rate": 1}
        assert not snapshot.holds_word("zanzibar", ["text"]) and list(snapshot.words_beginning("zan")) == []
        assert not snapshot.keys(EVERYTHING, [theirs.id]) and not snapshot.exists(Filters(space=("b",)))
    storage.writer.add(prepare([Draft(text=f"rate {number}", space="b") for number in range(9)], None), None)
    with alone.snapshot() as snapshot:
        assert snapshot.keyword_matches(Terms(words=("rate",)), WEIGHTS, EVERYTHING, 9) == before
    alone.close()


def test_a_part_of_a_store_tells_nothing_of_the_rest(storage):
    """Within filters there are no other memories, words, tags or times."""
    with storage.snapshot(Filters(tag=("zürich",))) as part:
        [memory] = part.browse(EVERYTHING, 9)
        assert memory.text == RATE.text and part.count(EVERYTHING) == part.corpus.chunks == 1
        assert part.corpus.frequencies(["rate", "price"]) == {"rate": 1, "price": 0}
        assert part.holds_word("rate", ["text"]) and not part.holds_word("genève", ["text"])
        assert list(part.words_beginning("gen")) == [] and list(part.words_beginning("zur")) == ["zurich"]
        assert not part.holds_phrase("prices fell", WEIGHTS) and part.holds_phrase("arrival rate", WEIGHTS)
        assert set(part.tags()) == {"queue", "zürich"} and part.facet_values("session") == ["monday"]
        assert len(part.vector_matches(part.active_model(), vector_of(RATE), EVERYTHING, 9, None)) == 1
        assert len(part.sample(9)) == 1 and part.event_span() == (RATE.event_at, RATE.event_at)
    with storage.snapshot(Filters(kind=("note", "cell"))) as all_of_it:
        assert all_of_it.count(EVERYTHING) == 3


def test_damage_is_found_and_told_with_its_cure(storage, postgres_server):
    """A text that somebody changed by hand, lost words and a count that is off are each named."""
    name = storage.path.url.rpartition("?")[0].rpartition("/")[2]
    assert list(storage.problems()) == []
    postgres_server.execute("update jupyter_memory.texts set text = 'other' where text like 'Prices%'", name)
    postgres_server.execute("delete from jupyter_memory.postings where term = 'arriv'", name)
    found = " ".join(storage.problems())
    assert "another text or title" in found and "Repair it with store.rebuild()" in found
    storage.writer.rebuild()
    assert "keyword index" not in " ".join(storage.problems())


def test_a_role_that_may_only_read_is_told(storage, postgres_server):
    """Searching works; whatever writes says that the role may only read."""
    name = storage.path.url.rpartition("?")[0].rpartition("/")[2]
    postgres_server.execute("create role only_reads login")
    try:
        for grant in ("usage on schema jupyter_memory", "select on all tables in schema jupyter_memory"):
            postgres_server.execute(f"grant {grant} to only_reads", name)
        postgres_server.execute("alter role only_reads bypassrls", name)
        reader = open_storage(type(storage.path)(storage.path.url.replace("postgres@", "only_reads@")), busy_seconds=2)
        assert reader.read_only
        with reader.snapshot() as snapshot:
            assert snapshot.count(EVERYTHING) == 3
        with pytest.raises(StoreReadOnly, match="may only read"):
            reader.writer.add(prepare([RATE], None), None)
        reader.close()
    finally:
        postgres_server.execute("drop owned by only_reads", name)
        postgres_server.execute("drop role only_reads")
