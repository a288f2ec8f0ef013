"""A part of a store: within it, nothing is found, counted or spelt that only the rest holds."""

from __future__ import annotations

import pytest

from jupyter_memory import UnknownMemory
from jupyter_memory.types import Draft, Filters, Terms

SHOPS, ALL = Filters(space=("shops",)), Filters(not_kind=("history",))
COLUMNS = {"title": 1.0, "text": 1.0, "tags": 1.0}


@pytest.fixture
def opened(week_store, sqlite):
    """The storage of the week."""
    return sqlite(week_store.path)


@pytest.fixture
def shops(opened):
    """A snapshot of the space of shops, within the week."""
    with opened.snapshot(SHOPS) as snapshot:
        yield snapshot


def test_memories_of_the_rest_are_not_there(shops, week_memories):
    """The rest cannot be listed, counted or named by its ids."""
    orders = week_memories["Joining orders"].id

    assert shops.count(Filters()) == len(shops.keys(Filters())) == len(shops.browse(Filters(), 50)) == 2
    assert not shops.exists(Filters(tag=("rule",))) and shops.exists(Filters(tag=("prices",)))
    with pytest.raises(UnknownMemory):
        shops.key_of(orders)
    assert shops.keys(Filters(), [orders]) == [] and shops.selection(Filters()).kinds == {"note": 2}


def test_values_and_times_are_those_of_the_part(shops):
    """Tags, sources, languages, sessions and the first and last day are of the part alone."""
    assert shops.facet_values("tag") == shops.tags() == ["prices"]
    assert shops.facet_values("path") == shops.facet_values("session") == shops.sessions(Filters()) == []
    assert shops.facet_counts(Filters())["kind"] == {"note": 2}
    assert [day.day for day in shops.event_span()] == [3, 4]


def test_words_are_counted_in_the_part(shops):
    """A word, a phrase and a spelling count only where a memory of the part has them."""
    corpus = shops.corpus
    rise, orders, prices = (corpus.words(word)[0] for word in ("rose", "orders", "price"))

    assert corpus.chunks == 2 and corpus.frequencies([rise, orders]) == {rise: 1, orders: 0}
    assert shops.holds_word("rose", COLUMNS) and not shops.holds_word("orders", COLUMNS)
    assert shops.holds_phrase("four percent", COLUMNS) and not shops.holds_phrase("join orders", COLUMNS)
    assert orders not in shops.words_beginning("or") and prices in shops.words_beginning("pr")
    assert shops.chunk_count_of(prices, COLUMNS) == 2 and shops.chunk_count_of(orders, COLUMNS) == 0


def test_matches_and_the_sample_are_of_the_part(shops, week_memories):
    """Both retrievers, and the sample that candidates are compared with, see the shops."""
    keys = {shops.key_of(week_memories[title].id) for title in ("Zürich and Genève", "東京の売上")}
    model = shops.active_model()
    vector = shops.vectors(model, shops.chunks_of(sorted(keys))).vectors[0]

    found = shops.keyword_matches(Terms(words=("prices", "orders")), COLUMNS, Filters(), 50)
    assert {one.memory for one in found} <= keys
    assert {one.memory for one in shops.vector_matches(model, vector, Filters(), 50, None)} <= keys
    assert sorted(shops.sample(50)) == sorted(shops.chunks_of(sorted(keys)))
    assert shops.in_background(lambda snapshot: snapshot.count(Filters()))() == 2


def test_a_part_that_is_all_costs_nothing(week_store, opened):
    """Where nothing is left out, the snapshot is the usual one; as soon as something is, it is one of a part."""
    with opened.snapshot() as whole, opened.snapshot(ALL) as snapshot:
        assert type(snapshot) is type(whole)
    week_store.add("a run", kind="history")
    with opened.snapshot() as whole, opened.snapshot(ALL) as snapshot:
        assert type(snapshot) is not type(whole) and snapshot.count(Filters()) == 10


def test_a_part_answers_as_if_it_were_alone(week_store, store, week):
    """Strength, verdict and notices of a part are those of a store that holds nothing else."""
    alone = store("alone.sqlite")
    alone.add_many([one for one in week if one.get("space") == "shops"], progress=False)
    shops = week_store.part(SHOPS)

    for query in ("sales in Zürich", "join orders on customer", "zurich salez"):
        here, there = shops.hits(query), alone.hits(query)
        assert (here.verdict, here.strength, here.notices) == (there.verdict, there.strength, there.notices)
        assert here.facets == there.facets and here.counts == there.counts


def test_a_large_part_is_counted_by_a_sample(opened, remember):
    """Of a part that is too large to be read, rare words are counted exactly and frequent ones in proportion."""
    texts = (f"frequent words of day {number}" for number in range(2_100))
    remember(opened, *(Draft(text=text, space="shops") for text in texts))
    with opened.snapshot(SHOPS) as snapshot:
        corpus = snapshot.corpus
        rose, orders, frequent = (corpus.words(word)[0] for word in ("rose", "orders", "frequent"))
        counted = corpus.frequencies([rose, orders, frequent])

        assert corpus.chunks == 2_102 and counted[rose] == 1 and counted[orders] == 0
        assert counted[frequent] == pytest.approx(2_100, abs=5)
        assert snapshot.holds_word("rose", COLUMNS) and not snapshot.holds_word("orders", COLUMNS)
        assert snapshot.chunk_count_of(orders, COLUMNS) == 0
