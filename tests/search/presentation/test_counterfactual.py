"""Ranks without the points of a term: what a search by the other terms would say of the same candidates."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jupyter_memory.search import PROFILES

NOW = datetime(2026, 3, 6, 18, tzinfo=UTC)
QUERY = "prices of the Poisson model in March"


@pytest.mark.parametrize("name", PROFILES)
def test_is_what_the_other_terms_say(week_store, name):
    """For every profile, the rank without a term is that by the profile without it: same retrievers, same signals."""
    profile = PROFILES[name]
    trace = week_store.trace(QUERY, profile=profile, limit=50, now=NOW)

    assert set(trace.without) == {hit.memory.id for hit in trace.answer.hits}
    for term in (one.name for one in profile.terms):
        others = week_store.hits(QUERY, profile=profile.without(term), limit=50, now=NOW)
        expected = {hit.memory.id: hit.rank for hit in others.hits}
        told = {memory: ranks[term] for memory, ranks in trace.without.items() if term in ranks}
        assert told == {memory: rank for memory, rank in expected.items() if memory in trace.without}
        assert told


def test_a_term_can_decide(week_store):
    """Some term moves some hit: the ranks are not simply those of the answer."""
    trace = week_store.trace(QUERY, profile="covalence", now=NOW)
    ranks = {hit.memory.id: hit.rank for hit in trace.answer.hits}

    assert any(rank != ranks[memory] for memory, terms in trace.without.items() for rank in terms.values())
