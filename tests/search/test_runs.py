"""Other weights on what one search gathered: the same answer as a new search gives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jupyter_memory import InputError, QueryError
from jupyter_memory.search import PROFILES
from jupyter_memory.search.profiles import OverFetch, auto, memini

# Words and meaning turned down, turned off, turned up; a term that the query does not wake.
SETTINGS = (
    {},
    {"keyword": 0.0},
    {"vector": 0.0, "semantic_margin": 0.0},
    {"recency": 40.0},
    {"tier": 5.0, "quality": 3.0, "severity": 2.0, "keyword": 0.001},
)
QUERY = "how did we scale the electricity prices in Zürich"


def other(profile, weights):
    """Return a profile with these weights wherever it has such terms."""
    changed = tuple(replace(term, weight=weights.get(term.name, term.weight)) for term in profile.terms)
    alone = tuple(replace(term, weight=weights.get(term.name, term.weight)) for term in profile.keyword_only)
    return profile.replace(name="mine", terms=changed, keyword_only=alone)


@pytest.mark.parametrize("embedder", ["static", None], ids=["both retrievers", "words alone"])
@pytest.mark.parametrize("name", PROFILES)
def test_weighing_is_searching(store, week, now, name, embedder):
    """By every profile and every setting, the pool weighed anew is what a new search gives: order, scores, evidence."""
    filled = store(embedder=embedder)
    filled.add_many(week, progress=False)
    filled.add(week[0]["text"] + " ", title="A copy of the λ notes")
    pooled = filled.pooled(QUERY, profile=name, limit=5, now=now)
    for weights in SETTINGS:
        mine = other(PROFILES[name], weights)
        weighed, fresh = pooled.weighed(mine), filled.hits(QUERY, profile=mine, limit=5, now=now)

        assert len(fresh.hits) > 1
        for one, same in zip(weighed.hits, fresh.hits, strict=True):
            # NaN is no opinion, and equals nothing.
            assert repr(replace(one, signals=dict(one.signals))) == repr(replace(same, signals=dict(same.signals)))
            assert (one.rank, one.score, one.snippet, one.highlights) == (
                same.rank,
                same.score,
                same.snippet,
                same.highlights,
            )
            assert repr(one.to_json()) == repr(same.to_json())
            assert one.score == pytest.approx(sum(seen.contribution for seen in one.signals.values()), abs=1e-9)
        assert (weighed.counts, weighed.terms, weighed.verdict) == (fresh.counts, fresh.terms, fresh.verdict)


def test_the_answer_of_a_pool_is_the_answer(week_store, now):
    """What comes with the pool is what `hits` gives."""
    pooled = week_store.pooled(QUERY, now=now)

    assert [hit.memory.id for hit in pooled.answer.hits] == [
        hit.memory.id for hit in week_store.hits(QUERY, now=now).hits
    ]
    assert repr(pooled.weighed(auto).hits) == repr(pooled.answer.hits)


def test_it_outlives_the_store(week_store, now):
    """What was gathered needs no store any more."""
    pooled = week_store.pooled(QUERY, profile="memini", now=now)
    week_store.close()

    assert pooled.weighed(other(memini, {"quality": 5.0})).hits


def test_ranks_of_everyone(week_store, now):
    """Ranks go on below the answer, to the last candidate."""
    pooled = week_store.pooled(QUERY, limit=1, now=now)
    ranks = pooled.ranks(auto)

    assert sorted(ranks.values()) == list(range(1, pooled.answer.counts["fused"] + 1))
    assert ranks[pooled.answer.hits[0].memory.id] == 1


def test_what_has_nothing_to_say(week_store, now):
    """A term without an opinion of anybody is known: no time is named."""
    pooled = week_store.pooled("prices", now=now)
    said = {term.name: pooled.speaks(term) for term in pooled.terms}

    assert said["keyword"] and said["recency"] and not said["time"]


def test_more_than_weights(week_store, now):
    """A profile that would look at something else is refused; so is a question without words."""
    pooled = week_store.pooled(QUERY, now=now)
    with pytest.raises(InputError, match="search by itself"):
        pooled.weighed(auto.replace(fetch=OverFetch(1, 1)))
    with pytest.raises(QueryError, match="Add some words"):
        week_store.pooled("tag:prices")
