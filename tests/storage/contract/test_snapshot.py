"""What every storage must answer about one state of the store: words, memories, files, activity, vectors, a part."""

import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from contract import CELL, DRAFTS, EVERYTHING, NOW, PRICES, RATE, WEIGHTS, add, everything, keys_of, seen, vector_of
from hashing import Hashing

from jupyter_memory import UnknownMemory
from jupyter_memory.search import newer_first
from jupyter_memory.storage import EmbeddedParts, Passage, Prepared
from jupyter_memory.types import Chunk, Draft, Filters, Terms, WordForms

UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


def test_versions(filled):
    """The version stays while nothing changes; what is added, removed or built anew makes another."""
    versions = [seen(filled, lambda snapshot: snapshot.version)]
    for change in (
        lambda: None,
        lambda: add(filled, Draft(text="μ")),
        lambda: filled.writer.forget([memory.id for memory in everything(filled) if memory.text == "μ"]),
        filled.writer.rebuild,
    ):
        change()
        versions.append(seen(filled, lambda snapshot: snapshot.version))
    assert versions[0] == versions[1] and len(set(versions)) == 4


def test_an_empty_store(storage):
    with storage.snapshot() as snapshot:
        assert snapshot.newest_chunk() == snapshot.count(EVERYTHING) == snapshot.corpus.chunks == 0
        assert snapshot.sample(9) == snapshot.keys(EVERYTHING) == snapshot.tags() == snapshot.models() == []
        assert snapshot.keyword_matches(Terms(words=("λ",)), WEIGHTS, EVERYTHING, 9) == []
        assert not snapshot.exists(EVERYTHING) and not snapshot.has_query_vectors()
        assert snapshot.active_model() is None


def test_samples(filled):
    """A sample goes evenly from the first chunk to the last; a small store gives all that it has."""
    with filled.snapshot() as snapshot:
        chunks = snapshot.chunks_of(keys_of(snapshot, *DRAFTS))
        assert snapshot.newest_chunk() == chunks[-1] and snapshot.sample(9) == chunks
        assert snapshot.sample(2) == [chunks[0], chunks[-1]]
        assert snapshot.embedded_parts(chunks[:1]) == {chunks[0]: EmbeddedParts(RATE.kind, "Rate", "", RATE.text)}


def test_keyword_matches(filled):
    """Memories that hold any term come best first, within the filters, and no more than asked for."""
    with filled.snapshot() as snapshot:
        rate, prices, cell = keys_of(snapshot, *DRAFTS)

        def found(*words, weights=WEIGHTS, filters=EVERYTHING, count=9):
            return snapshot.keyword_matches(Terms(words=words), weights, filters, count)

        best = found("rate", "zürich", "prices")
        assert [one.memory for one in best] == [rate, prices]
        assert best[0].score > best[1].score > 0 and [best[0].chunk] == snapshot.chunks_of([rate])
        assert [one.memory for one in found("orders", filters=Filters(kind=("cell",)))] == [cell]
        assert len(found("queue", count=1)) == 1
        assert found("queue", weights={"text": 1.0}) == found("nowhere") == []
        scores = snapshot.keyword_scores(Terms(words=("rate", "orders")), WEIGHTS, [rate, prices, cell])
        assert scores == pytest.approx({one.memory: one.score for one in found("rate", "orders")})
        assert snapshot.keyword_scores(Terms(words=("rate", "orders")), WEIGHTS, [prices]) == {}
        # A word in two forms, each in another memory, tells as little as one that both hold.
        both = Terms(words=("orders",), forms=(WordForms("orders", inflected=("prices",)),))
        [alone] = snapshot.keyword_scores(Terms(words=("prices",)), WEIGHTS, [prices]).values()
        [shared] = snapshot.keyword_scores(both, WEIGHTS, [prices]).values()
        assert 0 < shared < alone


def test_other_spellings_and_forms(filled):
    """Another spelling has half the score of the word, another form all of it, compounds and parts less, filtered."""
    with filled.snapshot() as snapshot:
        keys = keys_of(snapshot, RATE)
        [chunk] = snapshot.chunks_of(keys)

        def score(terms):
            [found] = snapshot.keyword_scores(terms, WEIGHTS, keys).values()
            marked = snapshot.highlights(terms, WEIGHTS, {chunk: RATE.text})[chunk]
            assert [RATE.text[start:end] for start, end in marked] == ["Zürich"]
            for tag, expected in (("queue", keys), ("nowhere", [])):
                matches = snapshot.keyword_matches(terms, WEIGHTS, Filters(tag=(tag,)), 9)
                assert [one.memory for one in matches] == expected
            return found

        written = score(Terms(words=("zurich",)))
        assert score(Terms(respelled=("zurich",))) == pytest.approx(written / 2)
        for form, share in (("inflected", 1), ("compounds", 0.8), ("parts", 0.8)):
            forms = WordForms("stadt", **{form: ("zürich" if share == 1 else "zurich",)})
            assert score(Terms(words=("stadt",), forms=(forms,))) == pytest.approx(share * written)


def test_words_of_the_index(filled):
    """Phrases and words are found by their stems, in the columns asked for, counted by chunk, and marked in a text."""
    with filled.snapshot() as snapshot:
        corpus = snapshot.corpus
        assert corpus.holds_phrase("arrival rate", WEIGHTS) and not corpus.holds_phrase("rate arrival", WEIGHTS)
        assert corpus.holds_word("orders", ["text"]) and not corpus.holds_word("orders", ["title", "tags"])
        assert list(corpus.beginning("zur")) == ["zurich"] and list(corpus.beginning("zzz")) == []
        assert list(corpus.ending(("zurich",))) == [] and corpus.chunk_count("queue", ["tags", "text"]) == 2
        assert corpus.chunk_count("queue", ["text"]) == corpus.chunk_count("nowhere", ["text"]) == 0
        words = corpus.words("Queues in Zürich")
        assert corpus.chunks == 3 and len(words) == 3
        assert corpus.frequencies([*words, "nowhere"]) == dict(zip((*words, "nowhere"), (2, 2, 1, 0), strict=True))
        [chunk] = snapshot.chunks_of(keys_of(snapshot, RATE))
        marked = snapshot.highlights(Terms(words=("zürich",), phrases=("orders an",)), WEIGHTS, {chunk: RATE.text})
        assert [RATE.text[start:end] for start, end in marked[chunk]] == ["Zürich", "orders an"]


def test_memories_by_key(filled):
    """A memory has the key that its id leads to, and comes back as it was written; an unknown id is an error."""
    with filled.snapshot() as snapshot:
        keys = keys_of(snapshot, *DRAFTS)
        found = snapshot.memories(keys)
        assert snapshot.whole([*keys, -1]) == found
        assert [found[key].text for key in keys] == [draft.text for draft in DRAFTS] == [*snapshot.texts(keys).values()]
        assert [snapshot.key_of(found[key].id) for key in keys] == keys
        assert [snapshot.memory(memory.id) for memory in found.values()] == list(found.values())
        assert snapshot.by_id([found[keys[0]].id, "none"]) == {found[keys[0]].id: found[keys[0]]}
        rate = found[keys[0]]
        assert (rate.title, rate.event_at, rate.session) == ("Rate", RATE.event_at, "monday")
        assert set(rate.tags) == set(RATE.tags)
        with pytest.raises(UnknownMemory):
            snapshot.key_of("none")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (EVERYTHING, DRAFTS), (Filters(tag=("queue",)), (RATE, PRICES)),
        (Filters(tag=("queue",), not_tag=("zürich",)), (PRICES,)), (Filters(tier=("core",)), (PRICES,)),
        (Filters(kind=("cell",), lang=("python",)), (CELL,)), (Filters(path=("/week",)), (CELL,)),
        (Filters(path=("/wee",)), ()), (Filters(not_session=("monday",)), (PRICES, CELL)),
        (Filters(since=NOW - timedelta(days=1), until=NOW), (CELL,)),
        (Filters(not_word=("genève",)), (RATE, CELL)),
        (Filters(tag=("queue",), also=Filters(tag=("zürich",))), (RATE,)),
        (Filters(space=("elsewhere",)), ()),
    ],
)  # fmt: skip
def test_filters(filled, filters, expected):
    with filled.snapshot() as snapshot:
        assert set(snapshot.keys(filters)) == set(keys_of(snapshot, *expected))
        assert snapshot.count(filters) == len(expected) and snapshot.exists(filters) is bool(expected)
        selection, memories = snapshot.selection(filters), snapshot.memories(snapshot.keys(filters)).values()
        assert set(selection.ids) == {memory.id for memory in memories} and selection.filters == filters
        assert selection.kinds == Counter(memory.kind for memory in memories)
        assert selection.pinned == sum(memory.pinned for memory in memories)
        assert selection.tagged == sum(bool(memory.tags) for memory in memories)


def test_browsing(filled):
    with filled.snapshot() as snapshot:
        listed = [memory.text for memory in snapshot.browse(EVERYTHING, 9)]
        assert listed == [draft.text for draft in (PRICES, RATE, CELL)]
        assert [memory.text for memory in snapshot.browse(Filters(not_tier=("core",)), 1)] == [RATE.text]


def test_browsing_by_source(storage):
    """The memories of a file stand together, the newest first; a note, which has no file, stands alone."""
    at = {text: NOW - timedelta(hours=hours) for hours, text in enumerate(["a 2", "λ", "b 1", "€", "a 1", "b 2"])}
    for text, when in at.items():
        draft = replace(CELL, source=f"/week/{text[0]}.ipynb") if " " in text else RATE
        add(storage, replace(draft, text=text, event_at=when))
    with storage.snapshot() as snapshot:
        listed = [memory.text for memory in snapshot.browse(EVERYTHING, 9, by_source=True)]
        assert listed == ["a 2", "a 1", "λ", "b 1", "b 2", "€"]
        assert [one.text for one in snapshot.browse(EVERYTHING, 3, by_source=True)] == listed[:3]


def test_facets(filled):
    """Facets and sessions are counted for what the filters let through, values and times listed for the whole store."""
    values = {"tag": {"queue", "zürich"}, "tier": {"core", "note", "file"}, "path": {CELL.source}}
    with filled.snapshot() as snapshot:
        assert snapshot.facet_counts(Filters(tag=("queue",)))["tag"] == {"queue": 2, "zürich": 1}
        assert snapshot.facet_counts(EVERYTHING)["tier"] == {"core": 1, "note": 1, "file": 1}
        assert {facet: set(snapshot.facet_values(facet)) for facet in values} == values
        assert snapshot.tags() == ["queue", "zürich"]
        assert set(snapshot.facet_values("session")) == {"monday", "friday"}
        assert snapshot.facet_values("session", Filters(tag=("zürich",))) == ["monday"]
        assert snapshot.event_span() == (NOW - timedelta(days=2), NOW)


def test_what_has_no_date(storage):
    """No filter by date finds a memory without a date; such memories are counted, and the times are of the others."""
    add(storage, Draft(text="λ of a copy", event_at=UNKNOWN), Draft(text="λ of another", tags=("a",), event_at=UNKNOWN))
    with storage.snapshot() as snapshot:
        assert snapshot.event_span() == (UNKNOWN, UNKNOWN) and snapshot.count_undated(Filters(tag=("a",))) == 1
    add(storage, Draft(text="λ of old", event_at=UNKNOWN - timedelta(days=9)))
    with storage.snapshot() as snapshot:
        assert snapshot.event_span() == (UNKNOWN - timedelta(days=9),) * 2 and snapshot.count_undated(EVERYTHING) == 2
        for dates in (Filters(since=UNKNOWN - timedelta(days=99)), Filters(until=NOW)):
            assert snapshot.count(dates) == 1


def test_chunks(storage):
    """Chunks cover their memory's text in order, with their lines, structural prefixes and words."""
    book = Draft(text="\n\n".join(f"# Part {part}\n\n" + f"λ is {part}. " * 300 for part in range(4)), title="Book")
    add(storage, book)
    with storage.snapshot() as snapshot:
        [key] = snapshot.keys(EVERYTHING)
        chunks = snapshot.chunks_of([key])
        spans, passages = snapshot.spans(chunks), snapshot.passages(chunks)
        assert len(chunks) > 1 and set(spans) == set(passages) == set(chunks)
        assert [spans[chunk].start for chunk in chunks] == sorted(span.start for span in spans.values())
        for chunk, span in spans.items():
            assert passages[chunk] == Passage("Book", span.context, book.text[span.start : span.stop])
        memory = snapshot.memories([key])[key]
        assert snapshot.first_contexts([memory.id, "none"]) == {memory.id: spans[chunks[0]].context}
        assert snapshot.chunks_of([]) == []


def test_contents(filled):
    """Known content is recognised in its place, and by its hash wherever it is."""
    with filled.snapshot() as snapshot:
        assert snapshot.same_content([replace(RATE, source="/elsewhere"), Draft(text="ν")]) == [None, None]
        memories = snapshot.memories(keys_of(snapshot, RATE, PRICES))
        rate, prices = memories.values()
        contents = {rate.id: "0", "copy": prices.content_hash, "none": "0"}
        assert snapshot.known(contents, EVERYTHING) == {rate.id, "copy"}
        assert snapshot.known(contents, Filters(tag=("zürich",))) == {rate.id}


def test_models(embedded):
    """A model is known by its fingerprint; the first is active; few chunks are no large store."""
    embedder = Hashing()
    with embedded.snapshot() as snapshot:
        model = snapshot.active_model()
        assert (model.name, model.dimensions, model.fingerprint) == (embedder.name, 16, embedder.fingerprint)
        assert snapshot.model(embedder.fingerprint) == model and snapshot.models() == [model]
        assert snapshot.model("unknown") is snapshot.calibration(model) is None


def test_vector_matches(embedded):
    """Memories come by cosine, best first, within the filters, not below the threshold; vectors come by chunk."""
    query = vector_of(PRICES)
    with embedded.snapshot() as snapshot:
        model, keys = snapshot.active_model(), keys_of(snapshot, *DRAFTS)
        expected = {key: float(vector_of(draft) @ query) for key, draft in zip(keys, DRAFTS, strict=True)}

        def found(filters=EVERYTHING, count=9, threshold=None):
            return [(one.memory, one.score) for one in snapshot.vector_matches(model, query, filters, count, threshold)]

        assert dict(found()) == pytest.approx(expected, abs=1e-5) and expected[keys[1]] == pytest.approx(1, abs=1e-5)
        assert [key for key, _ in found()] == sorted(keys, key=expected.get, reverse=True)
        some = {key: expected[key] for key in keys[::2]}
        assert snapshot.cosines(model, query, list(some)) == pytest.approx(some, abs=1e-5)
        assert [key for key, _ in found(threshold=0.99)] == [keys[1]] and len(found(count=2)) == 2
        assert [key for key, _ in found(Filters(kind=("cell",)))] == [keys[2]]
        # A chunk without a vector is left out.
        vectors = snapshot.vectors(model, [*snapshot.chunks_of(keys), 99_999])
        assert vectors.memories.tolist() == keys and vectors.ids.tolist() == snapshot.chunks_of(keys)
        assert np.array_equal(vectors.vectors, np.stack([vector_of(draft) for draft in DRAFTS]))


@pytest.mark.parametrize("count", [1, 7, 20, 59])
@pytest.mark.parametrize("copies", ["abcdef", "aaabbb"])
def test_ties(storage, copies, count):
    """Of equal scores the newer comes first, then content and place decide, whatever was stored first, at any cut."""
    drafts = [
        replace(CELL, text=f"λ {day} {text}", source=f"/week/{place}.ipynb", event_at=NOW - timedelta(days=day % 2))
        for day in range(10)
        for place, text in enumerate(copies)
    ]
    random.Random(1).shuffle(drafts)
    vector = vector_of(CELL)
    whole = [replace(one, chunks=(Chunk(0, len(one.text)),)) for one in drafts]
    storage.writer.add([Prepared(one, vector[None]) for one in whole], Hashing())
    expected = [(one.text, one.source) for one in sorted(everything(storage), key=newer_first)]
    with storage.snapshot() as snapshot:
        for found in (
            snapshot.keyword_matches(Terms(words=("λ",)), WEIGHTS, EVERYTHING, count),
            snapshot.keyword_matches(Terms(words=("λ",)), WEIGHTS, Filters(kind=("cell",)), count),
            snapshot.vector_matches(snapshot.active_model(), vector, EVERYTHING, count, None),
        ):
            memories = snapshot.memories([one.memory for one in found])
            assert [(memories[one.memory].text, memories[one.memory].source) for one in found] == expected[:count]


SHOPS = Filters(space=("shops",))


@pytest.fixture
def peopled(storage):
    """Five memories by their text, of which two are in the space of shops."""
    texts = ("Sales in Zürich rose by four percent.", "The prices of λ are net.", "Join orders on the customer.")
    inside = [Draft(text=text, space="shops", tags=("prices",), event_at=NOW) for text in texts[:2]]
    memories = add(storage, *DRAFTS[:2], replace(RATE, text=texts[2], tags=("rule",)), *inside, embedder=Hashing())
    return {memory.text: memory for memory in memories}


@pytest.fixture
def shops(storage, peopled):
    """A snapshot of the space of shops, and all memories by their text."""
    with storage.snapshot(SHOPS) as snapshot:
        yield snapshot, peopled


def test_the_rest_is_not_there(shops):
    """The rest cannot be listed, counted or named by its ids; values and times are those of the part."""
    part, memories = shops
    orders = memories["Join orders on the customer."].id
    assert part.count(EVERYTHING) == len(part.keys(EVERYTHING)) == len(part.browse(EVERYTHING, 50)) == 2
    assert not part.exists(Filters(tag=("rule",))) and part.exists(Filters(tag=("prices",)))
    with pytest.raises(UnknownMemory):
        part.key_of(orders)
    assert part.keys(EVERYTHING, [orders]) == [] and part.selection(EVERYTHING).kinds == {"note": 2}
    assert part.facet_values("tag") == part.tags() == ["prices"] and part.event_span() == (NOW, NOW)
    assert part.facet_values("path") == part.facet_values("session") == []
    assert part.facet_counts(EVERYTHING)["kind"] == {"note": 2}


def test_words_are_counted_in_the_part(shops):
    """A word, a phrase and a spelling count only where a memory of the part has them."""
    part, corpus = shops[0], shops[0].corpus
    rose, orders, prices = (corpus.words(word)[0] for word in ("rose", "orders", "price"))
    assert corpus.chunks == 2 and corpus.frequencies([rose, orders]) == {rose: 1, orders: 0}
    assert part.corpus.holds_word("rose", WEIGHTS) and not part.corpus.holds_word("orders", WEIGHTS)
    assert part.corpus.holds_phrase("four percent", WEIGHTS) and not part.corpus.holds_phrase("join orders", WEIGHTS)
    assert orders not in part.corpus.beginning("or") and prices in part.corpus.beginning("pr")
    assert part.corpus.chunk_count(prices, WEIGHTS) == 2 and part.corpus.chunk_count(orders, WEIGHTS) == 0


def test_matches_and_the_sample_are_of_the_part(shops):
    """Both retrievers, and the sample that candidates are compared with, see the part alone."""
    part, memories = shops
    keys = {part.key_of(memory.id) for memory in memories.values() if memory.space == "shops"}
    found = part.keyword_matches(Terms(words=("prices", "orders")), WEIGHTS, EVERYTHING, 50)
    near = part.vector_matches(part.active_model(), vector_of(RATE), EVERYTHING, 50, None)
    assert {one.memory for one in found} <= keys == {one.memory for one in near}
    assert sorted(part.sample(50)) == sorted(part.chunks_of(sorted(keys)))


def test_a_part_that_is_all_costs_nothing(filled):
    """Where nothing is left out, the snapshot is the usual one; as soon as something is, it is one of a part."""
    notes = Filters(not_kind=("history",))
    with filled.snapshot(notes) as snapshot:
        assert not snapshot.within and snapshot.count(EVERYTHING) == 3
    add(filled, Draft(text="a run", kind="history"))
    with filled.snapshot(notes) as snapshot:
        assert snapshot.within == notes and snapshot.count(EVERYTHING) == 3


def test_a_large_part_is_counted_by_a_sample(peopled, storage):
    """Of a part that is too large to be read, rare words are counted exactly and frequent ones in proportion."""
    add(storage, *(Draft(text=f"frequent words of day {number}", space="shops") for number in range(2_100)))
    with storage.snapshot(SHOPS) as snapshot:
        corpus = snapshot.corpus
        rose, orders, frequent = (corpus.words(word)[0] for word in ("rose", "orders", "frequent"))
        counted = corpus.frequencies([rose, orders, frequent])
        assert corpus.chunks == 2_102 and counted[rose] == 1 and counted[orders] == 0
        assert counted[frequent] == pytest.approx(2_100, abs=5)
        assert snapshot.corpus.holds_word("rose", WEIGHTS) and not snapshot.corpus.holds_word("orders", WEIGHTS)
        assert snapshot.corpus.chunk_count(orders, WEIGHTS) == 0
