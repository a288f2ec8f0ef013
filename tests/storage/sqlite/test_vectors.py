"""The vector index: codes find the neighbours, and every connection sees what the others wrote."""

from __future__ import annotations

import hashlib
import random
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from jupyter_memory import EmbeddingMismatch, MemoryStore
from jupyter_memory.storage import Prepared, SqliteStorage
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
# Among more chunks than this, a search compares codes first.
EXACT = 4_096


def unit(rng, *shape):
    """Return random vectors of length 1."""
    drawn = rng.normal(size=shape).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)


class Made:
    """A model whose vectors the test makes."""

    threshold = 0.0

    def __init__(self, dimensions=64, name="made"):
        self.dimensions, self.name, self.fingerprint = dimensions, name, f"{name}/{dimensions}"


def stored(storage, drafts, of, embedder=None):
    """Store drafts with these vectors, a chunk each unless the draft has its own; return the storage."""
    drafts = [draft if draft.chunks else replace(draft, chunks=(Chunk(0, len(draft.text)),)) for draft in drafts]
    parts = zip(drafts, np.split(of, np.cumsum([len(draft.chunks) for draft in drafts])[:-1]), strict=True)
    storage.writer.add([Prepared(draft, part) for draft, part in parts], embedder or Made(of.shape[1]))
    return storage


def in_many_chunks(letter, count):
    """Return a memory of so many chunks, a letter each."""
    return Draft(text=letter * count, chunks=tuple(Chunk(i, i + 1) for i in range(count)))


def finds(storage, query, count, threshold=None):
    """Return the texts of the memories that a search finds, with their cosines."""
    with storage.snapshot() as snapshot:
        model = snapshot.active_model()
        assert model is not None
        found = snapshot.vector_matches(model, query, ANY, count, threshold)
        held = snapshot.memories([one.memory for one in found])
    return [(held[one.memory].text, one.score) for one in found if held[one.memory].text != "-" * EXACT]


def texts(*search, **options):
    """Return the texts of the memories that a search finds."""
    return [text for text, _ in finds(*search, **options)]


@pytest.fixture(params=["exact", "codes"])
def opened(request, sqlite):
    """Open a store, ``opened(query)``: for the path through codes it holds many chunks that are as far as can be."""

    def make(query, *where):
        storage = sqlite(*where)
        if request.param == "codes":
            stored(storage, [in_many_chunks("-", EXACT)], np.tile(-query, (EXACT, 1)))
        return storage

    return make


# -- codes -------------------------------------------------------------------------------------------------------------


def codes(storage):
    """Return the codes of a store as it holds them, in order of their chunks."""
    rows = storage.database.connection.execute("select code from codes_1 order by chunk")
    return np.array([np.frombuffer(code, np.uint64) for (code,) in rows])


@pytest.mark.parametrize("dimensions", GOLDEN)
def test_codes_stay_what_they_are(sqlite, dimensions):
    """The codes of these vectors are those of every store there is, to the bit.

    Whole numbers, whose sums are exact in whatever order a machine adds them up.
    """
    given = np.random.RandomState(7).randint(-8, 9, (32, dimensions)).astype(np.float32)
    made = codes(stored(sqlite(), [in_many_chunks("x", 32)], given))

    assert made.shape == (32, 16)
    assert hashlib.sha256(made.tobytes()).hexdigest()[:16] == GOLDEN[dimensions]


def test_bits_follow_the_angle(sqlite):
    """The share of bits in which codes differ is the angle's share of a half-turn; opposite vectors differ in all."""
    rng = np.random.default_rng(1)
    one, other = unit(rng, 200, 256), unit(rng, 200, 256)
    made = codes(stored(sqlite(), [in_many_chunks("x", 600)], np.concatenate([one, other, -one])))
    angle = np.arccos((one * other).sum(axis=1)) / np.pi

    assert np.abs(np.bitwise_count(made[:200] ^ made[200:400]).sum(axis=1) / 1024 - angle).max() < 0.06
    assert (np.bitwise_count(made[:200] ^ made[400:]).sum(axis=1) > 1024 - 3).all()


@pytest.mark.parametrize(("dimensions", "count"), [(64, 20_000), (256, 20_000), (1536, 5_000)])
def test_recall(sqlite, dimensions, count):
    """Among vectors in clusters, a search through the codes finds nearly all of the true best 20."""
    rng = np.random.default_rng(3)
    centres = unit(rng, count // 40, dimensions)

    def around(chosen):
        moved = centres[chosen] + 0.7 * rng.normal(size=(len(chosen), dimensions)) / np.sqrt(dimensions)
        return (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)

    corpus = around(rng.integers(0, len(centres), count))
    storage = stored(sqlite(), [Draft(text=str(i)) for i in range(count)], corpus)
    with storage.snapshot() as snapshot:
        assert snapshot.is_large(snapshot.active_model())
    hits = 0
    for query in around(np.arange(20)):
        best = np.argpartition(-(corpus @ query), 20)[:20]
        hits += len(set(map(str, best)) & set(texts(storage, query, 20)))
    assert hits / 400 >= 0.98


def test_nearest_take_all_that_tie(sqlite):
    """Where thousands of codes are equally near, the best are found wherever they lie."""
    query = np.ones(64, np.float32) / 8
    of = np.tile(query, (5_000, 1))
    of[:, :2] += np.linspace(-1e-3, 1e-3, 5_000)[np.random.RandomState(0).permutation(5_000)][:, None]
    of /= np.linalg.norm(of, axis=1, keepdims=True)
    storage = stored(sqlite(), [Draft(text=str(i)) for i in range(5_000)], of)

    found = finds(storage, query, 20)
    assert [score for _, score in found] == pytest.approx(np.sort(of @ query)[::-1][:20].tolist(), abs=1e-6)
    assert len({code.tobytes() for code in codes(storage)}) < 50


# -- search ------------------------------------------------------------------------------------------------------------


def test_as_brute_force(opened):
    """The best by cosine come in their order, with the cosine of NumPy to five digits."""
    rng = np.random.default_rng(2)
    of, query = unit(rng, 500, 64), unit(rng, 64)
    found = finds(stored(opened(query), [Draft(text=f"λ {i}") for i in range(500)], of), query, 20)
    best = np.argsort(-(of @ query))[:20]

    assert [text for text, _ in found] == [f"λ {i}" for i in best]
    assert [score for _, score in found] == pytest.approx((of @ query)[best].tolist(), abs=1e-5)


def test_none_below_the_threshold(opened):
    """What is below the threshold stays out, what is on it stays in."""
    rng = np.random.default_rng(4)
    of, query = unit(rng, 300, 64), unit(rng, 64)
    storage = stored(opened(query), [Draft(text=f"λ {i}") for i in range(300)], of)
    floor = float(np.sort(of @ query)[-30] - 1e-6)

    assert len(texts(storage, query, 100, threshold=floor)) == 30
    assert texts(storage, query, 100, threshold=0.999) == []


def test_many_chunks_of_one_memory(opened):
    """However many of its chunks come first, a memory is one find, and the others come, too."""
    rng = np.random.default_rng(5)
    query = unit(rng, 64)
    of = np.concatenate([query + 0.01 * unit(rng, 3000, 64), query + 2 * unit(rng, 8, 64)])
    of /= np.linalg.norm(of, axis=1, keepdims=True)
    storage = stored(opened(query), [in_many_chunks("x", 3000), *(Draft(text=f"λ {i}") for i in range(8))], of)

    assert texts(storage, query, 5)[0] == "x" * 3000
    assert len(set(texts(storage, query, 5))) == 5
    assert len(set(texts(storage, query, 100))) == 9


@pytest.mark.parametrize("count", [3, 10])
def test_ties(tmp_path, opened, count):
    """Of equal cosines the newer comes first, then by content; the order of insertion never speaks, nor at the cut."""
    query = np.ones(64, np.float32) / 8
    drafts = [Draft(text=f"λ {i}", event_at=MONDAY + timedelta(days=i % 2)) for i in range(40)]
    random.Random(1).shuffle(drafts)
    answers = []
    for number, order in enumerate((drafts, drafts[::-1], sorted(drafts, key=lambda draft: draft.text))):
        storage = stored(opened(query, tmp_path / f"{number}.sqlite"), order, np.tile(query, (40, 1)))
        answers.append(texts(storage, query, count))

    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0]) == count
    assert all(int(text.split()[1]) % 2 for text in answers[0])


# -- coherence ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[0, EXACT], ids=["exact", "codes"])
def template(request, tmp_path_factory):
    """A store of no or of many notes, to be copied."""
    path = tmp_path_factory.mktemp("template") / "memory.sqlite"
    with MemoryStore(path, "static") as store:
        store.add_many(({"text": f"Row {i} was left out."} for i in range(request.param)), progress=False)
    return path


@pytest.fixture
def two(template, store, week, path):
    """The same store opened twice, both with the codes of the week read."""
    path.parent.mkdir()
    shutil.copy(template, path)
    first, second = store(), store()
    first.add_many(week, progress=False)
    for memory in (first, second):
        assert top(memory, "λ of the Poisson model") == "Poisson λ"
    return first, second


def top(memory, query):
    """Return the title of the best find by meaning alone."""
    hits = [hit for hit in memory.hits(query, profile="trovella").hits if hit.sem_rank == 1]
    return hits[0].memory.title if hits else None


def test_what_another_changes_is_seen(two, week_memories_of):
    """What one connection adds is found by the other, new words of an old memory too, and what it forgets no more."""
    first, second = two
    poisson = week_memories_of(first)["Poisson λ"]
    added = first.add("Walruses live on Spitsbergen", title="Walruses")
    assert top(second, "walruses of Spitsbergen") == "Walruses"
    first.forget(added.id)
    assert top(second, "walruses of Spitsbergen") != "Walruses"

    first.update(poisson.id, text="Belugas live in the White Sea", title="Belugas")
    assert top(second, "belugas of the White Sea") == "Belugas"
    assert top(second, "λ of the Poisson model") not in ("Belugas", "Poisson λ")


@pytest.fixture
def week_memories_of():
    """Return the memories of a store that have a title, by title."""
    return lambda store: {hit.memory.title: hit.memory for hit in store.browsed(filters={"tag": "model"}).hits}


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


def test_vectors_that_come_late_are_seen(template, store, path, week):
    """Chunks that were stored without a model get their vectors later than newer chunks, and are found all the same."""
    path.parent.mkdir()
    shutil.copy(template, path)
    with store(embedder=None) as without:
        without.add_many(week, progress=False)
    first, second = store(), store()
    first.add("Walruses live on Spitsbergen", title="Walruses")
    assert top(second, "λ of the Poisson model") != "Poisson λ"
    assert "10 chunks have no vector" in first.doctor()[0]
    assert first.reembed(progress=False) == len(week)

    assert top(second, "λ of the Poisson model") == "Poisson λ"
    assert second.doctor() == []


def test_a_snapshot_that_is_older_than_the_cache(opened, database):
    """A reader in an older state finds that state, whatever the codes in memory know already."""
    rng = np.random.default_rng(6)
    of, query = unit(rng, 12, 64), unit(rng, 64)
    mine = stored(opened(query), [Draft(text=f"λ {i}") for i in range(10)], of[:10])
    # The same codes for both, as threads of a process have them.
    other = SqliteStorage(database(), mine.vectors)
    with mine.snapshot() as snapshot:
        assert snapshot.count(ANY) in (10, 11)
        stored(other, [Draft(text="ü")], of[10:11], Made())
        assert (len(texts(other, query, 100)), len(texts(mine, query, 100))) == (11, 10)
        assert other.writer.forget(ANY) in (11, 12)
        assert (len(texts(other, query, 100)), len(texts(mine, query, 100))) == (0, 10)
    assert texts(mine, query, 100) == []


def test_a_second_model_is_not_written_to(sqlite):
    """A memory with vectors of another model than the store's is refused within the transaction, and not stored."""
    rng = np.random.default_rng(9)
    storage = stored(sqlite(), [Draft(text="λ")], unit(rng, 1, 64))

    with pytest.raises(EmbeddingMismatch, match=r"written with made \(64 dimensions\), .* other \(32\)"):
        stored(storage, [Draft(text="ü")], unit(rng, 1, 32), Made(32, "other"))
    with storage.snapshot() as snapshot:
        assert (snapshot.count(ANY), len(snapshot.models())) == (1, 1)
