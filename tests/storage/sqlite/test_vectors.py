"""The vector index: codes find the neighbours, filters hold in each retriever, connections see what others wrote."""

import hashlib
import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from operator import and_

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import run_sql

from jupyter_memory import MemoryStore
from jupyter_memory.storage import Prepared, open_storage
from jupyter_memory.types import KINDS, Chunk, Draft, Filters, Terms

ANY = Filters()
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
# What the codes of the vectors below were when the first store was written; another value makes every store useless.
GOLDEN = {
    64: "695ee28e3e790508", 128: "1f48a3e1f972c253", 256: "42fb5dfc0dc21cc2", 384: "16b641d39a7957be",
    768: "9539f9b4cf126a38", 1536: "bf6ba492443c1a91",
}  # fmt: skip
# Among more chunks than this, a search compares codes first.
EXACT = 4_096


def unit(rng, *shape):
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
    return Draft(text=letter * count, chunks=tuple(Chunk(i, i + 1) for i in range(count)))


def finds(storage, query, count, threshold=None):
    with storage.snapshot() as snapshot:
        model = snapshot.active_model()
        assert model is not None
        found = snapshot.vector_matches(model, query, ANY, count, threshold)
        held = snapshot.memories([one.memory for one in found])
    return [(held[one.memory].text, one.score) for one in found if held[one.memory].text != "-" * EXACT]


def texts(*search, **options):
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


def codes(storage):
    rows = storage.database.connection.execute("select code from codes_1 order by chunk")
    return np.array([np.frombuffer(code, np.uint64) for (code,) in rows])


@pytest.mark.parametrize("dimensions", GOLDEN)
def test_codes_stay_what_they_are(sqlite, dimensions):
    """The codes of these vectors are those of every store there is, to the bit."""
    # Whole numbers, whose sums are exact in whatever order a machine adds them up.
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


def test_as_brute_force(opened, monkeypatch):
    """The best by cosine come in their order, with NumPy's cosine to five digits; the threshold bounds them."""
    rng = np.random.default_rng(2)
    of, query = unit(rng, 500, 64), unit(rng, 64)
    storage, cosines = stored(opened(query), [Draft(text=f"λ {i}") for i in range(500)], of), of @ query
    found, best = finds(storage, query, 20), np.argsort(-cosines)[:20]
    assert [text for text, _ in found] == [f"λ {i}" for i in best]
    assert [score for _, score in found] == pytest.approx(cosines[best].tolist(), abs=1e-5)
    floor = float(np.sort(cosines)[-30] - 1e-6)
    assert len(texts(storage, query, 100, threshold=floor)) == 30
    assert texts(storage, query, 100, threshold=0.999) == []
    monkeypatch.delattr(apsw, "carray", raising=False)  # as where a distribution builds SQLite without
    assert finds(storage, query, 20) == found


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


@pytest.fixture(scope="module", params=[0, EXACT], ids=["exact", "codes"])
def template(request, tmp_path_factory):
    """A store of no or of many notes, to be copied."""
    path = tmp_path_factory.mktemp("template") / "memory.sqlite"
    with MemoryStore(path, "static") as store:
        store.add_many(({"text": f"Row {i} was left out."} for i in range(request.param)), progress=False)
    return path


@pytest.fixture
def two(template, store, week, path):
    path.parent.mkdir()
    shutil.copy(template, path)
    first, second = store(), store()
    first.add_many(week, progress=False)
    for memory in (first, second):
        assert top(memory, "λ of the Poisson model") == "Poisson λ"
    return first, second


def top(memory, query):
    hits = [hit for hit in memory.hits(query, profile="trovella").hits if hit.sem_rank == 1]
    return hits[0].memory.title if hits else None


def test_what_another_changes_is_seen(two):
    """What one connection adds is found by the other, new words of an old memory too, and what it forgets no more."""
    first, second = two
    [poisson] = [hit.memory for hit in first.browsed(filters={"tag": "model"}).hits if hit.memory.title == "Poisson λ"]
    added = first.add("Walruses live on Spitsbergen", title="Walruses")
    assert top(second, "walruses of Spitsbergen") == "Walruses"
    first.forget(added.id)
    assert top(second, "walruses of Spitsbergen") != "Walruses"
    first.update(poisson.id, text="Belugas live in the White Sea", title="Belugas")
    assert top(second, "belugas of the White Sea") == "Belugas"
    assert top(second, "λ of the Poisson model") not in ("Belugas", "Poisson λ")


def test_what_another_embeds_anew_is_seen(two):
    """When another connection switches the model, this one searches and writes with the new one from then on."""
    first, second = two
    with MemoryStore(first.path, embedder="static-64") as other:
        assert other.reembed(progress=False) == other.stats()["chunks"]
    assert top(second, "λ of the Poisson model") == "Poisson λ"
    second.add("Walruses live on Spitsbergen", title="Walruses")
    assert top(first, "walruses of Spitsbergen") == "Walruses" and first.doctor() == []


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


def test_a_snapshot_that_is_older_than_the_cache(opened):
    """A reader in an older state finds that state, whatever the codes in memory know already."""
    rng = np.random.default_rng(6)
    of, query = unit(rng, 12, 64), unit(rng, 64)
    mine = stored(opened(query), [Draft(text=f"λ {i}") for i in range(10)], of[:10])
    # Threads have the same codes.
    with ThreadPoolExecutor(1) as threads, mine.snapshot() as snapshot:
        assert snapshot.count(ANY) in (10, 11)
        threads.submit(stored, mine, [Draft(text="ü")], of[10:11], Made()).result()
        assert (len(threads.submit(texts, mine, query, 100).result()), len(texts(mine, query, 100))) == (11, 10)
        assert threads.submit(mine.writer.forget, ANY).result() in (11, 12)
        assert (len(threads.submit(texts, mine, query, 100).result()), len(texts(mine, query, 100))) == (0, 10)
    assert texts(mine, query, 100) == []


def test_codes_in_memory_outlast_a_removal(sqlite):
    """What another process removes is found no more, the rest as by one that reads all anew; no code is read again."""
    rng = np.random.default_rng(8)
    query, of = unit(rng, 64), unit(rng, 6_000, 64)
    mine, other = stored(sqlite(), [Draft(text=f"λ {i}") for i in range(6_000)], of), sqlite()
    order = [f"λ {place}" for place in np.argsort(-(of @ query))]
    assert texts(mine, query, 1) == texts(other, query, 1) == order[:1]
    with other.snapshot() as snapshot:
        ids = {memory.text: memory.id for memory in snapshot.browse(ANY, 6_000)}
    for begin, end in ((0, 1), (1, 300)):
        other.writer.forget([ids[text] for text in order[begin:end]])
        stored(other, [Draft(text=f"ü {end}")], unit(rng, 1, 64))
        assert texts(mine, query, 1) == order[end : end + 1]
        assert finds(mine, query, 400) == finds(other, query, 400) == finds(sqlite(), query, 400)
    best = finds(mine, query, 20)
    run_sql(other.path, "update codes_1 set code = zeroblob(128)")
    other.writer.forget([ids[order[-1]]])
    assert finds(mine, query, 20) == best
    assert finds(sqlite(), query, 20) != best
    # Where many are gone, they are read anew.
    other.writer.forget([ids[text] for text in order[1_000:2_000]])
    assert finds(mine, query, 20) != best


def test_a_code_that_was_repaired_is_read_anew(sqlite):
    """What another process repairs is found, the newest chunk too, whose new code is the last again."""
    rng = np.random.default_rng(8)
    query, of = unit(rng, 64), unit(rng, 6_000, 64)
    of[-1] = query
    mine, other = stored(sqlite(), [Draft(text=f"λ {i}") for i in range(6_000)], of), sqlite()
    run_sql(other.path, "update codes_1 set code = (select code from codes_1 order by 1 limit 1) where chunk = 6000")
    assert texts(mine, query, 1) != ["λ 5999"]
    assert other.writer.drop_damaged_vectors(Made()) == 1
    other.writer.add_vectors(Made(), {6_000: query})
    assert texts(mine, query, 1) == texts(other, query, 1) == ["λ 5999"]


def test_chunks_that_a_damaged_index_lacked_come_back(sqlite):
    """While the keyword index does not list a chunk it counts as gone; once the index is built anew, it is found."""
    rng = np.random.default_rng(8)
    query = unit(rng, 64)
    mine, other = stored(sqlite(), [Draft(text="a"), Draft(text="b")], unit(rng, 2, 64)), sqlite()
    assert set(texts(mine, query, 3)) == {"a", "b"}
    stored(other, [Draft(text="c")], unit(rng, 1, 64))
    run_sql(other.path, "delete from word_segments")
    run_sql(other.path, "update counters set value = value + 1 where name = 'removals'")
    assert not {"a", "b"} & set(texts(mine, query, 3))
    other.writer.rebuild()
    assert set(texts(mine, query, 3)) == {"a", "b", "c"}


WEIGHTS = {"title": 5.0, "text": 1.0}
TAGS = ("λ", "ü b", "prices")
SPACES = ("", "shops", "Shops")
LANGS = ("", "python", "markdown")
SESSIONS = (None, "s1", "s2")
SOURCES = (
    *("", "/a", "/a/b", "/a/bc", "/a/b/c.md", "/a/b/d/e.md", "/a/b.md", "/a/b%", "/a/b-c/x.md", "/a/b0"),
    *("/A/b/c.md", "/a/ü/λ.md", "https://a/b/c", "chat:42"),
)
moments = st.integers(0, 6).map(lambda days: MONDAY + timedelta(days=days))


def several(*values):
    return st.lists(st.sampled_from(values), max_size=2, unique=True).map(tuple)


drafts = st.builds(
    Draft, text=st.just(""), kind=st.sampled_from(KINDS), tier=st.sampled_from(("file", "mcp", "note")),
    pinned=st.booleans(), space=st.sampled_from(SPACES), source=st.sampled_from(SOURCES), lang=st.sampled_from(LANGS),
    session=st.sampled_from(SESSIONS), tags=several(*TAGS), event_at=moments,
)  # fmt: skip
PATHS = several(*SOURCES[1:], "/", "/a/", "/a/b/", "/a/b/d", "https://a", "https://a/b/")
FACETS = {
    "tag": several(*TAGS, "no such"), "kind": several(*KINDS), "tier": several("core", "file", "mcp", "note"),
    "space": several(*SPACES), "path": PATHS, "lang": several(*LANGS), "session": several("s1", "s2", "s3"),
}  # fmt: skip
# Every filter is drawn alone often enough; several at once leave little.
filters = st.one_of(
    *(st.builds(Filters, **{name: values}) for name, values in {**FACETS, "since": moments, "until": moments}.items()),
    *(st.builds(Filters, **{f"not_{name}": values}) for name, values in FACETS.items()),
    st.builds(Filters, tag=several(*TAGS), tier=several("core", "file", "note"), until=moments),
    st.builds(Filters, tag=several(*TAGS), not_tag=several(*TAGS), not_session=several("s1"), not_lang=several("")),
    st.builds(Filters, path=several("/a", "/a/b", "https://a"), kind=several("note", "file"), since=moments),
)


def is_below(source, path):
    folder = path if path.endswith("/") else path + "/"
    return source == (path.rstrip("/") or path) or source.startswith(folder)


def fits(draft, chosen):
    held = {name: {getattr(draft, name)} for name in ("kind", "space", "lang", "session")}
    held |= {"tag": set(draft.tags), "tier": {"core" if draft.pinned else draft.tier}}

    def has(name, wanted):
        return (
            any(is_below(draft.source, path) for path in wanted) if name == "path" else bool(held[name] & set(wanted))
        )

    return (
        all(not getattr(chosen, name) or has(name, getattr(chosen, name)) for name in FACETS)
        and not any(has(name, getattr(chosen, f"not_{name}")) for name in FACETS)
        and (chosen.since is None or draft.event_at >= chosen.since)
        and (chosen.until is None or draft.event_at < chosen.until)
        and (chosen.also is None or fits(draft, chosen.also))
    )


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A store of memories of all sorts, with one to three chunks each, and their drafts by key."""
    # They have more chunks than are compared one by one, so that filters that leave most of them search the codes.
    rng, chance, prepared = np.random.default_rng(1), random.Random(1), []
    for number in range(3_000):
        parts = [f"shared {number}.{part} " for part in range(number % 3 + 1)]
        edges = np.cumsum([0, *map(len, parts)]).tolist()
        draft = Draft(
            text="".join(parts),
            kind=chance.choice(KINDS),
            tier=chance.choice(("file", "mcp", "note")),
            pinned=chance.random() < 0.2,
            space=chance.choice(SPACES),
            source=chance.choice(SOURCES),
            location=f"#{number}",
            lang=chance.choice(LANGS),
            session=chance.choice(SESSIONS),
            tags=tuple(sorted(chance.sample(TAGS, chance.randint(0, 2)))),
            event_at=MONDAY + timedelta(days=chance.randint(0, 6)),
            chunks=tuple(Chunk(start, end) for start, end in pairwise(edges)),
        )
        prepared.append(Prepared(draft, unit(rng, len(parts), 64)))
    with closing(open_storage(tmp_path_factory.mktemp("many") / "memory.sqlite")) as storage:
        memories = storage.writer.add(prepared, Made())
        with storage.snapshot() as snapshot:
            keys = [snapshot.key_of(memory.id) for memory in memories]
        yield storage, {key: one.draft for key, one in zip(keys, prepared, strict=True)}


@given(chosen=filters | st.builds(and_, filters, filters), count=st.integers(1, 5))
def test_both_retrievers_search_what_matches(many, chosen, count):
    """Whatever is filtered, each retriever returns exactly what matches, up to the count asked for."""
    storage, held = many
    expected, query = {key for key, draft in held.items() if fits(draft, chosen)}, np.ones(64, np.float32) / 8
    with storage.snapshot() as snapshot:
        model = snapshot.active_model()
        for retrieve in (
            lambda limit: snapshot.keyword_matches(Terms(words=("shared",)), WEIGHTS, chosen, limit),
            lambda limit: snapshot.vector_matches(model, query, chosen, limit, None),
        ):
            everything = [one.memory for one in retrieve(10_000)]
            assert len(everything) == len(expected) and set(everything) == expected
            assert len({one.memory for one in retrieve(count)}) == min(count, len(expected))
        assert set(snapshot.keys(chosen)) == expected and snapshot.count(chosen) == len(expected)


@given(draft=drafts, one=filters, other=filters, third=filters)
def test_filters_together(draft, one, other, third):
    """Filters that are put together let through what each of them does: neither widens nor forgets the other."""
    assert fits(draft, one & other) == (fits(draft, one) and fits(draft, other))
    assert fits(draft, one & other & third) == fits(draft, one & (other & third))
    assert fits(draft, one & other & third) == all(fits(draft, each) for each in (one, other, third))


def test_times_to_the_microsecond(sqlite, remember):
    """A time comes back as it went in, and times keep their order."""
    chance, first, last = random.Random(1), datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
    drawn = [first + timedelta(microseconds=chance.randrange((last - first) // timedelta(microseconds=1)))
             for _ in range(200)]  # fmt: skip
    moments = [first, last, *drawn, *(moment + timedelta(microseconds=1) for moment in drawn)]
    opened = sqlite()
    remember(opened, *(Draft(text=f"{moment}", event_at=moment) for moment in moments))
    with opened.snapshot() as snapshot:
        listed = snapshot.browse(Filters(), 1_000)
    assert [memory.event_at for memory in listed] == sorted(moments, reverse=True)
    assert all(memory.text == str(memory.event_at) for memory in listed)


def test_a_path_of_this_machine(sqlite, remember, tmp_path, monkeypatch):
    """A relative path, or one from the user's home, means the file of this machine; an unknown user's means itself."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    opened = sqlite()
    remember(opened, Draft(text="λ", source=str(tmp_path / "notes" / "a.md")))
    remember(opened, Draft(text="ü", source="~nobody-here/a.md"))
    # The working folder is above both, but a source that looks like no path may be a file in it.
    expected = {"notes": 1, "notes/a.md": 1, "~/notes": 1, "~nobody-here": 1, "note": 0, ".": 1}
    with opened.snapshot() as snapshot:
        assert {path: len(snapshot.keys(Filters(path=(path,)))) for path in expected} == expected
