"""memini's functions on one's own lists: the numbers of their source, and one implementation with the profiles."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

import jupyter_memory
from jupyter_memory import InputError, RerankWeights, Scored, TimeAnchor, dedup, fuse, fuse_scores, rerank

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)


@pytest.fixture
def notes(store):
    """Give four memories by a letter."""
    opened = store()
    return {name: opened.add(f"note {name}", event_at=NOW) for name in "abcd"}


def scored(notes, **scores):
    return [Scored(notes[name], score) for name, score in scores.items()]


def named(notes, results):
    names = {memory.id: name for name, memory in notes.items()}
    return [(names[one.memory.id], pytest.approx(one.score)) for one in results]


def test_fuse_sums_reciprocal_ranks_from_zero(notes):
    """1 / (k + rank), k 5 and ranks from 0; scores are not read, and a memory counts once a list, where it is first."""
    lists = [scored(notes, a=0.1, b=0.9), scored(notes, b=7, c=8, d=9)]
    assert named(notes, fuse(lists)) == [("b", 1 / 6 + 1 / 5), ("a", 1 / 5), ("c", 1 / 6), ("d", 1 / 7)]
    assert named(notes, fuse(lists, 1, k=60)) == [("b", 1 / 61 + 1 / 60)]
    assert named(notes, fuse([[*lists[0], *scored(notes, a=1)]])) == [("a", 1 / 5), ("b", 1 / 6)]
    assert fuse([]) == fuse([[]]) == []
    with pytest.raises(InputError, match="above 0"):
        fuse(lists, k=0)


def test_fuse_scores_scales_each_list(notes):
    """The best is 1 and the worst 0; equal scores are 1 each; weights align by place; ties stay as first seen."""
    lists = [scored(notes, a=4, b=3, c=2), scored(notes, d=5, c=5)]
    assert named(notes, fuse_scores(lists)) == [("a", 1), ("c", 1), ("d", 1), ("b", 0.5)]
    assert named(notes, fuse_scores(lists, [2])) == [("a", 2), ("b", 1), ("c", 1), ("d", 1)]
    assert named(notes, fuse_scores(lists, [0.5, 0.1], 2)) == [("a", 0.5), ("b", 0.25)]
    assert len(fuse_scores(lists, limit=0)) == len(fuse_scores(lists, limit=-1)) == 4


def test_dedup_keeps_the_first(notes):
    """Case, white space and the last punctuation make no difference; the order and the scores stay."""
    copy = replace(notes["a"], id="copy", text="  NOTE\n a. ")
    results = [*scored(notes, b=3, a=2), Scored(copy, 1.5), *scored(notes, c=1)]
    assert named(notes, dedup(results)) == [("b", 3), ("a", 2), ("c", 1)]
    assert named(notes, dedup(results, 1)) == [("b", 3)]


def test_rerank_is_relevance_and_quality(notes):
    """0.80 * score / best + 0.20 * quality; with the weights of each part, that part alone; ties keep their order."""
    old = replace(notes["a"], event_at=NOW - timedelta(days=365), accessed=1)
    results = [Scored(old, 2.0), *scored(notes, b=2.0, c=1.0)]
    # note .7, read once, a year old; and note .7, never read, new.
    worth = {"a": 0.4 * 0.7 + 0.2 * 0.25 + 0.2 * 0.5, "b": 0.4 * 0.7 + 0.2, "c": 0.4 * 0.7 + 0.2}
    values = {"b": 0.8 + 0.2 * worth["b"], "a": 0.8 + 0.2 * worth["a"], "c": 0.4 + 0.2 * worth["c"]}
    assert named(notes, rerank(results, now=NOW)) == list(values.items())

    def only(**weights):
        chosen = RerankWeights(**{"relevance": 0.0, "quality": 0.0, **weights})
        return named(notes, rerank(results, now=NOW, weights=chosen))

    assert only(recency=1.0) == [("b", 1.0), ("c", 1.0), ("a", 0.5)]
    pinned = replace(notes["c"], tier="core")
    found = rerank([*results[:2], Scored(pinned, 1.0)], now=NOW, weights=RerankWeights(0.0, 0.0, 1.0, 0.0))
    assert named(notes, found) == [("c", 1.0), ("a", 0.7), ("b", 0.7)]


def test_copies_in_other_sources_count(notes):
    """A content that two more sources have is worth more: 0.2 * 2 / 3 of the quality."""
    copies = [replace(notes["a"], id=name, source=f"/{name}.md") for name in "xy"]
    alone = rerank(scored(notes, a=1), now=NOW)[0].score
    among = rerank([*scored(notes, a=1), *(Scored(one, 0.5) for one in copies)], now=NOW)[0].score
    assert among - alone == pytest.approx(0.2 * 0.2 * 2 / 3)


def test_a_time_that_the_query_names(notes):
    """Up to 0.40 at the time that is meant, nothing from three tolerances on; without one nothing changes."""
    then = replace(notes["a"], event_at=NOW - timedelta(days=21))
    near = replace(notes["b"], event_at=NOW - timedelta(days=21 + 4.5))
    results = [Scored(then, 1.0), Scored(near, 1.0), *scored(notes, c=1.0)]
    plain = {one.memory.id: one.score for one in rerank(results, now=NOW)}
    for query, by in (
        ("what did I do three weeks ago", (0.4, 0.2, 0.0)),
        ("what did I do", (0, 0, 0)),
        ("", (0, 0, 0)),
    ):
        found = {one.memory.id: one.score - plain[one.memory.id] for one in rerank(results, query, now=NOW)}
        assert list(found.values()) == pytest.approx([0] * 3) if not any(by) else True
        assert [found[one.memory.id] for one in results] == pytest.approx(list(by), abs=0.02)
    assert [one.score for one in rerank(results, "three weeks ago", now=NOW, boost=0)] == [
        one.score for one in rerank(results, now=NOW)
    ]


def test_an_extractor_of_ones_own(notes):
    """It gets the query and the moment, and its days and tolerance are used; None means no time."""
    old = replace(notes["d"], event_at=NOW - timedelta(days=400))
    results = [*scored(notes, a=1.0), Scored(old, 0.9)]
    asked = []

    def before_my_trip(query, now):
        asked.append((query, now))
        return TimeAnchor(400, 20) if "trip" in query else None

    assert rerank(results, "before my trip", now=NOW, anchor=before_my_trip)[0].memory.id == notes["d"].id
    assert rerank(results, "yesterday", now=NOW, anchor=before_my_trip) == rerank(results, now=NOW)
    assert asked == [("before my trip", NOW), ("yesterday", NOW)]
    with pytest.raises(InputError, match="tolerance"):
        TimeAnchor(3, 0)


@pytest.mark.parametrize(("profile", "query"), [
    ("memini", "how were the prices scaled"),
    ("memini", "what did we do with the prices three days ago"),
    ("memini-rrf", "who joins orders on the customer"),
])  # fmt: skip
def test_the_profiles_are_made_of_the_same(week_store, profile, query):
    """The lists of a search, fused and ranked again by these functions, are the answer of the profile."""
    trace = week_store.trace(query, profile=profile, now=NOW)
    lists = [
        [Scored(week_store.get(one.memory_id), one.score) for one in each] for each in (trace.vector, trace.keyword)
    ]
    fused = fuse_scores(lists, [0.5, 0.5]) if profile == "memini" else fuse(lists)
    mine = rerank(dedup(fused), query, now=NOW)

    hits = trace.answer.hits
    assert {one.memory.id: one.score for one in mine[: len(hits)]} == pytest.approx(
        {hit.memory.id: hit.score for hit in hits}
    )


def test_they_are_public():
    """They are names of the package, listed and loaded when they are first used."""
    names = {"fuse", "fuse_scores", "dedup", "rerank", "Scored", "RerankWeights", "TimeAnchor"}
    assert names <= set(jupyter_memory.__all__) <= set(dir(jupyter_memory))
