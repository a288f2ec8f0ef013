"""The vector index: codes find the neighbours, and every connection sees what the others wrote."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from jupyter_memory import EmbeddingMismatch, MemoryStore
from jupyter_memory.storage import Prepared
from jupyter_memory.storage.sqlite.indexes import quantization, vectors
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.writing.writer import SqliteWriter
from jupyter_memory.types import Chunk, Draft, Filters

ANY = Filters()
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
# What the codes of the vectors below were when the first store was written; another value makes every store useless.
GOLDEN = {
    64: "695ee28e3e790508",
    128: "1f48a3e1f972c253",
    256: "42fb5dfc0dc21cc2",
    384: "16b641d39a7957be",
    768: "9539f9b4cf126a38",
    1536: "bf6ba492443c1a91",
}


def unit(rng, *shape):
    """Return random vectors of length 1."""
    drawn = rng.normal(size=shape).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)


class Made:
    """A model whose vectors the test makes."""

    name, threshold = "made", 0.0

    def __init__(self, dimensions=64, name="made"):
        self.dimensions, self.name = dimensions, name

    @property
    def fingerprint(self):
        return f"{self.name}/{self.dimensions}"


@pytest.fixture(params=["exact", "codes"])
def path_taken(request, monkeypatch):
    """Take the exact path, then the one through the codes."""
    if request.param == "codes":
        monkeypatch.setattr(vectors, "EXACT", 0)
    return request.param


def stored(database, drafts, of, embedder=None):
    """Store drafts with these vectors, a chunk each unless the draft has its own; return an index and their keys."""
    index = VectorIndex()
    drafts = [draft if draft.chunks else replace(draft, chunks=(Chunk(0, len(draft.text)),)) for draft in drafts]
    edges = np.cumsum([len(draft.chunks) for draft in drafts])[:-1]
    parts = zip(drafts, np.split(of, edges), strict=True)
    SqliteWriter(database, index).add([Prepared(draft, part) for draft, part in parts], embedder or Made(of.shape[1]))
    return index


def found(index, database, query, count, filters=ANY, threshold=None):
    """Search an index in a snapshot; return the texts of the memories found."""
    with database.read() as connection:
        model = index.active(connection)
        finds = index.search(connection, model, query, filters, count, threshold)
        texts = dict(connection.execute("select memory, text from texts"))
    return [texts[one.memory] for one in finds]


# -- codes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimensions", GOLDEN)
def test_codes_stay_what_they_are(dimensions):
    """The codes of these vectors are those of every store there is, to the bit.

    Whole numbers, whose sums are exact in whatever order a machine adds them up.
    """
    given = np.random.RandomState(7).randint(-8, 9, (32, dimensions)).astype(np.float32)
    made = quantization.codes(given)

    assert made.shape == (32, 16) and made.dtype == np.uint64
    assert hashlib.sha256(made.tobytes()).hexdigest()[:16] == GOLDEN[dimensions]


def test_bits_follow_the_angle():
    """The share of bits in which codes differ is the angle's share of a half-turn; opposite vectors differ in all."""
    rng = np.random.default_rng(1)
    one, other = unit(rng, 200, 256), unit(rng, 200, 256)
    share = np.bitwise_count(quantization.codes(one) ^ quantization.codes(other)).sum(axis=1) / quantization.BITS
    angle = np.arccos((one * other).sum(axis=1)) / np.pi

    assert np.abs(share - angle).max() < 0.06
    assert (
        np.bitwise_count(quantization.codes(one) ^ quantization.codes(-one)).sum(axis=1) > quantization.BITS - 3
    ).all()


def test_distances_are_bits_that_differ():
    """Each distance is the number of bits in which two codes differ, from none to all of them."""
    rng = np.random.default_rng(2)
    among = rng.integers(0, 2**64, (500, 16), np.uint64)
    query = among[7].copy()
    among[8] = ~query

    differing = quantization.distances(query, among)

    assert differing.tolist() == np.bitwise_count(among ^ query).sum(axis=1).tolist()
    assert differing[7] == 0 and differing[8] == quantization.BITS
    assert quantization.distances(query, among[::2]).tolist() == differing[::2].tolist()
    assert quantization.distances(query, among[:0]).shape == (0,)


def test_nearest_takes_all_that_tie():
    """Where codes differ as much as the last one taken, all of them are taken, so that their order never matters."""
    among = np.zeros((5000, 16), np.uint64)
    among[:4000, 0] = 1
    among[7, 0] = 0

    differing = quantization.distances(np.zeros(16, np.uint64), among)

    assert set(quantization.nearest(differing, 100).tolist()) == {7, *range(4000, 5000)}
    assert quantization.nearest(differing, 9999).size == 5000


@pytest.mark.parametrize("near", [slice(0, None, 16), slice(1, None, 16), slice(0, 900), slice(0, 0)])
@pytest.mark.parametrize("count", [1, 50, 4990])
def test_nearest_wherever_they_are(near, count):
    """The nearest are found also where the codes that are near lie so that a sample of all misleads."""
    differing = np.random.RandomState(0).randint(400, 600, 5000).astype(np.float32)
    differing[near] -= 300

    last = np.sort(differing)[count - 1]
    assert quantization.nearest(differing, count).tolist() == np.flatnonzero(differing <= last).tolist()


@pytest.mark.parametrize(
    ("dimensions", "count", "candidates"), [(64, 20_000, 400), (256, 20_000, 400), (1536, 4000, 100)]
)
def test_recall(dimensions, count, candidates):
    """Among vectors in clusters, the candidates by code hold nearly all of the true best 20."""
    rng = np.random.default_rng(3)
    centres = unit(rng, count // 40, dimensions)

    def around(chosen):
        moved = centres[chosen] + 0.7 * rng.normal(size=(len(chosen), dimensions)) / np.sqrt(dimensions)
        return (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)

    corpus = around(rng.integers(0, len(centres), count))
    among = quantization.codes(corpus)
    hits = 0
    for query in around(np.arange(20)):
        best = np.argpartition(-(corpus @ query), 20)[:20]
        hits += np.isin(
            best,
            quantization.nearest(quantization.distances(quantization.codes(query[None])[0], among), candidates),
        ).sum()
    assert hits / 400 >= 0.98


# -- search ------------------------------------------------------------------------------------------------------------


def test_as_brute_force(database, path_taken):
    """The best by cosine come in their order, with the cosine of NumPy to five digits."""
    rng = np.random.default_rng(2)
    of, query = unit(rng, 500, 64), unit(rng, 64)
    opened = database()
    index = stored(opened, [Draft(text=f"λ {i}") for i in range(500)], of)
    best = np.argsort(-(of @ query))

    assert found(index, opened, query, 20) == [f"λ {i}" for i in best[:20]]
    with opened.read() as connection:
        finds = index.search(connection, index.active(connection), query, ANY, 20)
    assert [one.score for one in finds] == pytest.approx((of @ query)[best[:20]].tolist(), abs=1e-5)


def test_none_below_the_threshold(database, path_taken):
    """What is below the threshold stays out, what is on it stays in."""
    rng = np.random.default_rng(4)
    of, query = unit(rng, 300, 64), unit(rng, 64)
    opened = database()
    index = stored(opened, [Draft(text=f"λ {i}") for i in range(300)], of)
    cosines = of @ query
    floor = float(np.sort(cosines)[-30] - 1e-6)

    assert len(found(index, opened, query, 100, threshold=floor)) == 30
    assert found(index, opened, query, 100, threshold=0.999) == []


def test_many_chunks_of_one_memory(database, path_taken):
    """However many of its chunks come first, a memory is one find, and the others come, too."""
    rng = np.random.default_rng(5)
    query = unit(rng, 64)
    near = query + 0.01 * unit(rng, 3000, 64)
    far = query + 2 * unit(rng, 8, 64)
    of = np.concatenate([near, far])
    of /= np.linalg.norm(of, axis=1, keepdims=True)
    long = Draft(text="x" * 3000, chunks=tuple(Chunk(i, i + 1) for i in range(3000)))
    opened = database()
    index = stored(opened, [long, *(Draft(text=f"λ {i}") for i in range(8))], of)

    assert found(index, opened, query, 5)[0] == "x" * 3000
    assert len(set(found(index, opened, query, 5))) == 5
    assert len(set(found(index, opened, query, 100))) == 9


@pytest.mark.parametrize("count", [3, 10])
def test_ties(tmp_path, database, path_taken, count):
    """Of equal cosines the newer comes first, then by content; the order of insertion never speaks, nor at the cut."""
    query = np.ones(64, np.float32) / 8
    drafts = [Draft(text=f"λ {i}", event_at=MONDAY + timedelta(days=i % 2)) for i in range(40)]
    random.Random(1).shuffle(drafts)
    answers = []
    for number, order in enumerate((drafts, drafts[::-1], sorted(drafts, key=lambda draft: draft.text))):
        opened = database(tmp_path / f"{number}" / "memory.sqlite")
        index = stored(opened, order, np.tile(query, (40, 1)))
        answers.append(found(index, opened, query, count))

    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0]) == count
    assert all(int(text.split()[1]) % 2 for text in answers[0])


# -- coherence ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def two(store, path_taken, week):
    """The same store opened twice, both with the codes of the week read."""
    first, second = store(), store()
    first.add_many(week, progress=False)
    for memory in (first, second):
        assert top(memory, "λ of the Poisson model") == "Poisson λ"
    return first, second


def top(memory, query):
    """Return the title of the best find by meaning alone."""
    hits = [hit for hit in memory.hits(query, profile="trovella").hits if hit.sem_rank == 1]
    return hits[0].memory.title if hits else None


def test_what_another_adds_is_seen(two):
    """A memory that one connection adds is found by the other."""
    first, second = two
    first.add("Walruses live on Spitsbergen", title="Walruses")

    assert top(second, "walruses of Spitsbergen") == "Walruses"


def test_what_another_forgets_is_not_seen(two):
    """A memory that one connection forgets is no longer found by the other; one that comes after it is."""
    first, second = two
    first.forget(filters={"tag": "model"})
    assert top(second, "λ of the Poisson model") != "Poisson λ"
    first.add("Walruses live on Spitsbergen", title="Walruses")
    assert top(second, "walruses of Spitsbergen") == "Walruses"


def test_what_another_updates_is_seen(two):
    """New words of an old memory are found by the other connection, old ones no more."""
    first, second = two
    (poisson,) = [hit.memory for hit in first.browsed(limit=50).hits if hit.memory.title == "Poisson λ"]
    first.update(poisson.id, text="Walruses live on Spitsbergen", title="Walruses")

    assert top(second, "walruses of Spitsbergen") == "Walruses"
    assert top(second, "λ of the Poisson model") != "Walruses"


def test_what_another_embeds_anew_is_seen(two, store):
    """When another connection switches the model, this one searches and writes with the new one from then on.

    One that was opened with a model of its own says that it does not fit.
    """
    first, second = two
    old = store(embedder="static")
    with MemoryStore(first.path, embedder="static-64") as other:
        assert other.reembed(progress=False) == other.stats()["chunks"]

    assert top(second, "λ of the Poisson model") == "Poisson λ"
    second.add("Walruses live on Spitsbergen", title="Walruses")
    assert top(first, "walruses of Spitsbergen") == "Walruses" and first.doctor() == []
    assert top(old, "λ of the Poisson model") is None
    assert any("static" in notice and "reembed()" in notice for notice in old.hits("λ").notices)
    with pytest.raises(EmbeddingMismatch):
        old.add("not with the old model")


def test_vectors_that_come_late_are_seen(store, path_taken, week):
    """Chunks that were stored without a model get their vectors later than newer chunks, and are found all the same."""
    with store(embedder=None) as without:
        without.add_many(week, progress=False)
    first, second = store(), store()
    first.add("Walruses live on Spitsbergen", title="Walruses")
    assert top(second, "λ of the Poisson model") != "Poisson λ"
    assert "10 chunks have no vector" in first.doctor()[0]
    assert first.reembed(progress=False) == len(week)

    assert top(second, "λ of the Poisson model") == "Poisson λ"
    assert second.doctor() == []


def test_a_snapshot_that_is_older_than_the_cache(database, path_taken):
    """A reader in an older state finds that state, whatever the codes in memory know already."""
    rng = np.random.default_rng(6)
    of, query = unit(rng, 12, 64), unit(rng, 64)
    mine, other = database(), database()
    index = stored(mine, [Draft(text=f"λ {i}") for i in range(10)], of[:10])
    with mine.read() as connection:
        assert connection.execute("select count(*) from memories").get == 10
        library = SqliteWriter(other, index)  # the same codes for both, as threads of a process have them
        library.add([Prepared(Draft(text="ü", chunks=(Chunk(0, 1),)), of[10:11])], Made())
        assert len(found(index, other, query, 100)) == 11
        assert len(found(index, mine, query, 100)) == 10
        assert library.forget(ANY) == 11
        assert len(found(index, other, query, 100)) == 0
        assert len(found(index, mine, query, 100)) == 10
    assert len(found(index, mine, query, 100)) == 0


# -- models ------------------------------------------------------------------------------------------------------------


def test_two_models_beside_each_other(database):
    """A second model has tables of its own; the first stays active until another is activated."""
    rng = np.random.default_rng(8)
    opened = database()
    index = stored(opened, [Draft(text="λ"), Draft(text="ü")], unit(rng, 2, 64))
    with opened.write() as connection:
        other = index.register(connection, Made(32, "other"))
        index.add(connection, other, index.missing(connection, other, 10), unit(rng, 2, 32))
        assert index.active(connection).name == "made"
        assert (index.count(connection, other), index.missing(connection, other, 10)) == (2, [])
        index.activate(connection, other)
        assert index.active(connection) == other
        assert [model.name for model in index.models(connection)] == ["made", "other"]
    assert len(found(index, opened, unit(rng, 32), 10)) == 2


def test_a_second_model_is_not_written_to(database):
    """A memory with vectors of another model than the store's is refused within the transaction, and not stored."""
    rng = np.random.default_rng(9)
    opened = database()
    stored(opened, [Draft(text="λ")], unit(rng, 1, 64))

    with pytest.raises(EmbeddingMismatch, match=r"written with made \(64 dimensions\), .* other \(32\)"):
        stored(opened, [Draft(text="ü")], unit(rng, 1, 32), Made(32, "other"))
    assert opened.connection.execute("select count(*) from memories").get == 1
    assert opened.connection.execute("select count(*) from models").get == 1
