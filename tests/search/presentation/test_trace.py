"""A search with its lists: the same answer as hits(), each list in order, and what the candidates have in common."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from jupyter_memory import QueryError

NOW = datetime(2026, 3, 6, 18, tzinfo=UTC)
QUERY = "prices of the Poisson model in March"


def as_shown(answer):
    """Return an answer without what differs between two runs."""
    return replace(answer, timings={}, query_id="").to_json()


@pytest.mark.parametrize("profile", ["auto", "covalence", "memini"])
def test_the_answer_is_that_of_hits(week_store, profile):
    """A trace holds the answer that hits() gives for the same keywords."""
    asked = {"limit": 3, "profile": profile, "now": NOW}

    assert as_shown(week_store.trace(QUERY, **asked).answer) == as_shown(week_store.hits(QUERY, **asked))


def test_the_lists_are_whole_and_in_order(week_store):
    """Each list has every memory that counts for it, best first, with the ranks and scores that the hits show."""
    trace = week_store.trace(QUERY, limit=50, now=NOW)
    answer = trace.answer

    assert {name: len(getattr(trace, name)) for name in ("keyword", "vector", "fused")} == answer.counts
    for listed in (trace.keyword, trace.vector, trace.fused):
        assert [one.score for one in listed] == sorted((one.score for one in listed), reverse=True)
    assert [(one.memory_id, one.title, one.rank, one.score) for one in trace.fused] == [
        (hit.memory.id, hit.memory.title, hit.rank, hit.score) for hit in answer.hits
    ]
    assert {one.memory_id: (one.rank, one.score) for one in trace.keyword} == {
        hit.memory.id: (hit.kw_rank, hit.bm25) for hit in answer.hits if hit.kw_rank is not None
    }
    assert {one.memory_id: one.rank for one in trace.vector} == {
        hit.memory.id: hit.sem_rank for hit in answer.hits if hit.sem_rank is not None
    }


def test_facets_count_every_candidate(week_store):
    """Facets count all candidates, not only those shown, the most frequent value first; an empty value is none."""
    trace = week_store.trace(QUERY, limit=1, now=NOW)
    everyone = [week_store.get(one.memory_id) for one in trace.fused]

    assert len(everyone) > 1 and len(trace.answer.hits) == 1
    facets = trace.answer.facets
    assert list(facets) == ["kind", "lang", "tier", "tag"]
    for facet, of in (("kind", "kind"), ("lang", "lang"), ("tier", "tier")):
        values = [getattr(memory, of) for memory in everyone if getattr(memory, of)]
        assert facets[facet] == {value: values.count(value) for value in values}
        assert list(facets[facet].values()) == sorted(facets[facet].values(), reverse=True)
    assert sum(facets["tag"].values()) == sum(len(memory.tags) for memory in everyone)


def test_facets_of_a_list(week_store):
    """A list without a question counts everything that its filters let through, however few are shown."""
    all_of_it = week_store.browsed(limit=1).facets
    some = week_store.browsed(limit=1, filters={"tag": "prices"}).facets

    assert sum(all_of_it["kind"].values()) == week_store.count()
    assert all_of_it["tag"]["prices"] == some["tag"]["prices"] == sum(some["kind"].values()) > 1


def test_filters_alone(week_store):
    """Where nothing but filters is typed, nothing is ranked: the lists are empty."""
    trace = week_store.trace("tag:prices")

    assert trace.answer.hits and trace.answer.profile == "browse"
    assert (trace.keyword, trace.vector, trace.fused, trace.without) == ((), (), (), {})


def test_words_that_are_no_time(week_store):
    """With time=False the words "last week" are only words; without it they are a time."""
    query = "prices last week"
    read = week_store.hits(query, now=NOW)

    assert read.query.temporal.phrase == "last week" and read.time_range is not None
    for answer in (week_store.hits(query, now=NOW, time=False), week_store.trace(query, now=NOW, time=False).answer):
        assert answer.query.temporal is None and answer.time_range is None
        assert not any("Read “" in notice for notice in answer.notices)
    first = read.hits[0].memory.id
    assert not week_store.explain(query, first, now=NOW, time=False).hit.signals["time"].contribution


def test_an_empty_question(week_store):
    """An empty question has no trace."""
    with pytest.raises(QueryError, match="nothing to search for"):
        week_store.trace("  ")


def test_an_explanation_tells_of_other_ranks(week_store):
    """An explanation says where a memory would be without each term, in numbers and words, and so in an answer."""
    trace = week_store.trace(QUERY, profile="covalence", now=NOW)
    moved = [hit for hit in trace.answer.hits if set(trace.without[hit.memory.id].values()) - {hit.rank}]
    hit = moved[0]
    without = trace.without[hit.memory.id]
    for why in (
        week_store.explain(QUERY, hit.memory.id, profile="covalence", now=NOW),
        week_store.explain_in(trace.answer, hit.memory.id),
    ):
        assert why.without == without
        (sentence,) = [reason for reason in why.details if reason.startswith("Without ")]
        assert all(f"ithout {term}" in sentence for term, rank in without.items() if rank != hit.rank)


def test_an_explanation_of_an_answer_long_ago(week_store):
    """What was stored since changes nothing of an answer's explanation; of one many searches ago less is told."""
    answer = week_store.hits(QUERY, profile="covalence", now=NOW)
    first = answer.hits[0].memory.id
    before = week_store.explain_in(answer, first)
    week_store.add("prices of the Poisson model in March", title="prices of the Poisson model in March")

    assert before.without and week_store.explain_in(answer, first) == before
    for number in range(10):
        week_store.hits(f"prices {number}")
    after = week_store.explain_in(answer, first)
    assert after.without == {} and len(after.details) == len(before.details) - 1
    assert after.reasons[:3] == before.reasons[:3] and after.hit == before.hit
