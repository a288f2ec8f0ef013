"""A part of a store: within it, nothing is found, counted or spelt that only the rest holds."""

from __future__ import annotations

import pytest

from jupyter_memory.errors import UnknownMemory
from jupyter_memory.storage.sqlite.part import PartSnapshot
from jupyter_memory.types import Filters, Terms

SHOPS, ALL = Filters(space=("shops",)), Filters(not_kind=("history",))
COLUMNS = {"title": 1.0, "text": 1.0, "tags": 1.0}


@pytest.fixture
def part(week_store):
    """A snapshot of the space of shops, within the week."""
    with week_store._storage.snapshot(SHOPS) as snapshot:
        yield snapshot


def test_memories_of_the_rest_are_not_there(part, week_memories):
    """The rest cannot be listed, counted or named by its ids."""
    orders = week_memories["Joining orders"].id

    assert part.count(Filters()) == len(part.keys(Filters())) == len(part.browse(Filters(), 50)) == 2
    assert not part.exists(Filters(tag=("rule",))) and part.exists(Filters(tag=("prices",)))
    with pytest.raises(UnknownMemory):
        part.key_of(orders)
    assert part.keys(Filters(), [orders]) == [] and part.selection(Filters()).kinds == {"note": 2}


def test_values_and_times_are_those_of_the_part(part):
    """Tags, sources, languages, sessions and the first and last day are of the part alone."""
    assert part.facet_values("tag") == part.tags() == ["prices"]
    assert part.facet_values("path") == part.facet_values("session") == part.sessions(Filters()) == []
    assert part.facet_counts(Filters())["kind"] == {"note": 2}
    assert [day.day for day in part.event_span()] == [3, 4]


def test_words_are_counted_in_the_part(part):
    """A word, a phrase and a spelling count only where a memory of the part has them."""
    corpus = part.corpus
    rise, orders, prices = (corpus.words(word)[0] for word in ("rose", "orders", "price"))

    assert corpus.chunks == 2 and corpus.frequencies([rise, orders]) == {rise: 1, orders: 0}
    assert part.holds_word("rose", COLUMNS) and not part.holds_word("orders", COLUMNS)
    assert part.holds_phrase("four percent", COLUMNS) and not part.holds_phrase("join orders", COLUMNS)
    assert orders not in part.words_beginning("or") and prices in part.words_beginning("pr")
    assert part.chunk_count_of(prices, COLUMNS) == 2 and part.chunk_count_of(orders, COLUMNS) == 0


def test_matches_and_the_sample_are_of_the_part(part, week_memories):
    """Both retrievers, and the sample that candidates are compared with, see the part."""
    shops = {part.key_of(week_memories[title].id) for title in ("Zürich and Genève", "東京の売上")}
    model = part.active_model()
    vector = part.vectors(model, part.chunks_of(sorted(shops))).vectors[0]

    found = part.keyword_matches(Terms(words=("prices", "orders")), COLUMNS, Filters(), 50)
    assert {one.memory for one in found} <= shops
    assert {one.memory for one in part.vector_matches(model, vector, Filters(), 50, None)} <= shops
    assert sorted(part.sample(50)) == sorted(part.chunks_of(sorted(shops)))
    assert part.in_background(lambda snapshot: snapshot.count(Filters()))() == 2


def test_a_part_that_is_all_costs_nothing(week_store):
    """Where nothing is left out, the snapshot is the usual one; as soon as something is, it is one of a part."""
    with week_store._storage.snapshot(ALL) as snapshot:
        assert not isinstance(snapshot, PartSnapshot)
    week_store.add("a run", kind="history")
    with week_store._storage.snapshot(ALL) as snapshot:
        assert isinstance(snapshot, PartSnapshot) and snapshot.count(Filters()) == 10


def test_a_part_answers_as_if_it_were_alone(week_store, store, week):
    """Strength, verdict and notices of a part are those of a store that holds nothing else."""
    alone = store("alone.sqlite")
    alone.add_many([one for one in week if one.get("space") == "shops"], progress=False)
    part = week_store.part(SHOPS)

    for query in ("sales in Zürich", "join orders on customer", "zurich salez"):
        here, there = part.hits(query), alone.hits(query)
        assert (here.verdict, here.strength, here.notices) == (there.verdict, there.strength, there.notices)
        assert here.facets == there.facets and here.counts == there.counts
