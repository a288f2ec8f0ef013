"""The profiles memini and memini-rrf: retrievers fused by score or by rank, duplicates left out, quality added."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from jupyter_memory.search import PROFILES, parse
from jupyter_memory.search.fusion import MinMax
from jupyter_memory.search.postprocessing import normalised
from jupyter_memory.search.profiles import memini
from jupyter_memory.search.signals import Quality
from jupyter_memory.types import Ranking

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)
FRESH_NOTE = 0.4 * 0.7 + 0.2  # tier and recency; nobody else said it, nobody read it


def test_scores_are_scaled_over_the_fetched_list():
    """The best of a retriever has 1, the worst 0; where all are equal each has 1."""
    assert MinMax("keyword", 0.5).contributions(Ranking({1: 9.0, 2: 5.0, 3: 1.0})) == {1: 0.5, 2: 0.25, 3: 0.0}
    assert MinMax("vector", 0.5).contributions(Ranking({1: 0.3, 2: 0.3})) == {1: 0.5, 2: 0.5}
    assert MinMax("vector", 0.5).contributions(Ranking({})) == {}


def test_memini_by_hand(rank, memory):
    """0.5 of each retriever's scaled score, the best of the sums made 0.80, and 0.20 of quality."""
    retrieved = {"keyword": {1: 9.0, 2: 5.0, 3: 1.0}, "vector": {2: 0.8, 1: 0.6, 4: 0.3}}
    notes = [memory(key, text=f"λ {key}") for key in range(1, 5)]
    result = rank(memini, retrieved, *notes)
    fused = {1: 0.5 + 0.5 * 0.6, 2: 0.5 * 0.5 + 0.5, 3: 0.0, 4: 0.0}

    assert {row.candidate.key: row.score for row in result.ranked} == pytest.approx(
        {key: 0.8 * value / 0.8 + 0.2 * FRESH_NOTE for key, value in fused.items()}
    )
    assert result.ranked[0].evidence["keyword"].contribution == pytest.approx(0.5)


def test_memini_rrf_by_hand(rank, memory):
    """1 / (5 + rank - 1) of each retriever: a first place in one beats two middling places."""
    retrieved = {"keyword": {1: 9.0, 2: 5.0}, "vector": {3: 0.8, 2: 0.6}}
    rows = rank(PROFILES["memini-rrf"], retrieved, *[memory(key, text=f"λ {key}") for key in (1, 2, 3)]).ranked
    fused = {1: 1 / 5, 2: 1 / 6 + 1 / 6, 3: 1 / 5}

    assert {row.candidate.key: row.score for row in rows} == pytest.approx(
        {key: 0.8 * value / fused[2] + 0.2 * FRESH_NOTE for key, value in fused.items()}
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [("Prices are  scaled.", "prices are\nscaled"), ("ZÜRICH!", "zürich"), ("λ ", "λ")],
)
def test_what_counts_as_a_copy(one, other):
    """Case, white space and punctuation at the end do not make another text."""
    assert normalised(one) == normalised(other)
    assert normalised("prices") != normalised("the prices")


def test_copies_are_folded(rank, memory):
    """Of memories that say the same, the best by relevance stays, whatever its quality."""
    first, copy = memory(1, text="Prices are scaled."), memory(2, text="prices are  scaled", tier="core")
    other = memory(3, text="Zürich")
    result = rank(memini, {"keyword": {1: 9.0, 2: 8.0, 3: 1.0}}, first, copy, other)

    assert [row.candidate.key for row in result.ranked] == [1, 3]
    assert [row.rank for row in result.ranked] == [1, 2]
    assert result.duplicates == {2: 1}


@pytest.mark.parametrize(
    ("changes", "quality"),
    [
        ({}, FRESH_NOTE),
        ({"tier": "core"}, 0.4 + 0.2),
        ({"tier": "file"}, 0.4 * 0.6 + 0.2),
        ({"tier": "mcp"}, 0.4 * 0.5 + 0.2),
        ({"accessed": 3}, FRESH_NOTE + 0.1),
        ({"event_at": NOW - timedelta(hours=8760)}, FRESH_NOTE - 0.1),
    ],
)
def test_quality(context, memory, changes, quality):
    """Tier, corroboration, reading and age, weighed .4, .2, .2, .2."""
    assert Quality()(parse("prices", now=NOW), context([memory(1, **changes)]))[1] == pytest.approx(quality)


def test_what_others_say_too_is_worth_more(context, memory):
    """Two other sources with the same words add 0.2 * 2/3; the same source twice adds nothing."""
    copies = [memory(key, source=source) for key, source in enumerate(("a", "b", "c", "c"), start=1)]
    values = Quality()(parse("prices", now=NOW), context(copies))

    assert values[1] == pytest.approx(FRESH_NOTE + 0.2 * 2 / 3)
    assert Quality()(parse("prices", now=NOW), context(copies[2:]))[3] == pytest.approx(FRESH_NOTE)


def test_nothing_found(rank):
    """No candidates, no division by their best score."""
    assert rank(memini, {"keyword": {}, "vector": {}}).ranked == []
    assert rank(
        memini.replace(terms=(replace(memini.terms[0], weight=0.0),), steps=memini.steps), {"vector": {1: 0.5}}
    ).ranked


def test_a_named_time_by_hand(rank, memory):
    """0.40 for the memory of the very moment, half of that at half the reach, on top of the plain re-rank."""
    three_weeks = (NOW - parse("three weeks ago", now=NOW).temporal.target).total_seconds() / 86_400
    ages = {1: 0.0, 2: three_weeks, 3: three_weeks + 4.5}
    notes = [memory(key, text=f"λ {key}", event_at=NOW - timedelta(days=age)) for key, age in ages.items()]
    retrieved = {"keyword": {1: 9.0, 2: 6.0, 3: 1.0}}
    plain = {row.candidate.key: row.score for row in rank(memini, retrieved, *notes, text="what did I plot").ranked}
    timed = rank(memini, retrieved, *notes, text="what did I plot three weeks ago").ranked

    assert [row.candidate.key for row in timed] == [2, 1, 3]
    assert {row.candidate.key: row.score for row in timed} == pytest.approx(
        {1: plain[1], 2: plain[2] + 0.40, 3: plain[3] + 0.20}
    )


def test_no_named_time_is_the_plain_re_rank(rank, memory):
    """A question without a time, or with words that only look like one, is ranked by relevance and quality alone."""
    rows = rank(memini, {"keyword": {1: 9.0, 2: 5.0}}, memory(1), memory(2, text="λ"), text="may sales").ranked

    assert all(row.evidence["near_time"].contribution == 0.0 for row in rows)
