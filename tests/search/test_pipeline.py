"""The path of a query, with retrievers made by hand: what they find, in any order, is added up to one score."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.search import RETRIEVERS, Profile, ReciprocalRank, parse
from jupyter_memory.search.fusion import ReciprocalValue, Weighted
from jupyter_memory.search.profiles import OverFetch, covalence, trovella
from jupyter_memory.search.retrieval import retrieve

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Given:
    """A signal that says what it was told to; it has nothing to say of keys that it was not told of."""

    name: str
    values: dict

    def __call__(self, query, pool, /):
        return {one.key: self.values[one.key] for one in pool if one.key in self.values}


def only(result):
    """Return the one row of a result."""
    [row] = result.ranked
    return row


def keys(result):
    """Return the keys of a result in order."""
    return [row.candidate.key for row in result.ranked]


def table(result):
    """Return all that a result says, by rank."""
    return [(row.rank, row.candidate.key, row.score, dict(row.ranks)) for row in result.ranked]


# -- covalence and trovella, by their numbers --------------------------------------------------------------------------


def test_covalence_at_its_best(rank, memory):
    """First in both found, pinned, with a title that matches, just now: 0.0447590164."""
    best = memory(1, tier="core", title="Electricity prices, cleaned")
    row = only(rank(covalence, {"vector": {1: 0.9}, "keyword": {1: 4.2}}, best))

    assert row.score == pytest.approx(0.0447590164, abs=5e-11)
    assert {name: seen.contribution for name, seen in row.evidence.items()} == pytest.approx(
        {"vector": 0.9 / 61, "keyword": 0.9 / 61, "tier": 0.18 / 61, "title": 0.009, "recency": 0.0033}
    )


def test_covalence_of_a_year_old_file(rank, memory):
    """Third by meaning, without the words, a file of a year ago: 0.0188389401."""
    old = memory(3, tier="file", event_at=NOW - timedelta(hours=8760))
    result = rank(covalence, {"vector": {1: 0.9, 2: 0.8, 3: 0.7}}, old)
    row = next(row for row in result.ranked if row.candidate.key == 3)

    assert row.score == pytest.approx(0.0188389401, abs=5e-11)
    assert row.ranks == {"vector": 3}
    assert row.evidence["keyword"].contribution == 0.0 and isnan(row.evidence["keyword"].value)
    assert row.evidence["recency"].contribution == pytest.approx(0.00165)


def test_trovella_reads_two_ranks(rank, memory):
    """Trovella adds 1/(60 + rank) of each retriever, whatever the tier, the title and the age are."""
    loud = memory(2, tier="core", title="prices", event_at=NOW)
    result = rank(trovella, {"keyword": {1: 9.0, 2: 5.0}, "vector": {2: 0.6, 1: 0.5, 3: 0.4}}, loud)

    assert {row.candidate.key: row.score for row in result.ranked} == pytest.approx(
        {1: 1 / 61 + 1 / 62, 2: 1 / 62 + 1 / 61, 3: 1 / 63}
    )
    assert set(result.ranked[0].evidence) == {"keyword", "vector"}


# -- what the retrievers are asked for ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "asked"), [(1, 20), (5, 20), (6, 24), (50, 200)])
@pytest.mark.parametrize("profile", [covalence, trovella], ids=lambda profile: profile.name)
def test_retrievers_fetch_more_than_is_shown(profile, limit, asked):
    """Each retriever finds max(4 * limit, 20) memories: what two retrievers half-like can still win."""
    counts = {}

    def retriever(name):
        return lambda query, count: counts.update({name: count}) or ()

    query = parse("prices", now=NOW, limit=limit)
    retrieve(query, profile.fetches(limit), {name: retriever(name) for name in RETRIEVERS}, lambda name: None)

    assert counts == {"keyword": asked, "vector": asked}


def test_overfetch_of_ones_own():
    """A profile may look deeper."""
    assert OverFetch(5, 50)(3) == 50
    assert OverFetch(5, 50)(11) == 55


def test_one_retriever_is_enough(rank):
    """Without a model the keyword retriever answers alone."""
    result = rank(covalence, {"keyword": {1: 2.0, 2: 1.0}})

    assert keys(result) == [1, 2]
    assert result.retrieved["vector"] == ()
    assert all(row.evidence["vector"].rank is None for row in result.ranked)


def test_nothing_found(rank):
    """Retrievers that find nothing give an empty result, with its timings."""
    result = rank(covalence, {"keyword": {}, "vector": {}})

    assert list(result.ranked) == []
    assert set(result.timings) == {"keyword", "vector", "pool", "rank"}


# -- ties --------------------------------------------------------------------------------------------------------------


def test_equal_scores_share_a_rank(rank):
    """Ranks of a retriever go 1, 2, 2, 4."""
    result = rank(trovella, {"keyword": {1: 9.0, 2: 5.0, 3: 5.0, 4: 1.0}})

    assert {row.candidate.key: row.ranks["keyword"] for row in result.ranked} == {1: 1, 2: 2, 3: 2, 4: 4}


def test_the_newer_of_equals_comes_first(rank, memory):
    """Where scores are equal the newer event comes first, then the smaller content hash."""
    found = {"keyword": {1: 5.0, 2: 5.0, 3: 5.0}}
    memories = (
        memory(1, event_at=NOW - timedelta(days=1)),
        memory(2, event_at=NOW, content_hash="ff"),
        memory(3, event_at=NOW, content_hash="aa"),
    )

    assert keys(rank(trovella, found, *memories)) == [3, 2, 1]
    assert keys(rank(trovella, found, *memories, backwards=True)) == [3, 2, 1]


def test_copies_are_ordered_by_place(rank, memory):
    """Two files with one text and one time are told apart by their paths, not by which was stored first."""
    found = {"keyword": {1: 5.0, 2: 5.0}}
    copies = (memory(1, content_hash="aa", source="z.md"), memory(2, content_hash="aa", source="a.md"))

    assert keys(rank(trovella, found, *copies)) == keys(rank(trovella, found, *copies, backwards=True)) == [2, 1]


# -- whatever is found, signals and weights ----------------------------------------------------------------------------

KEYS = st.integers(1, 12)
SCORES = st.dictionaries(KEYS, st.floats(-100, 100) | st.sampled_from([0.25, 0.5]), max_size=12)
SCORES_FOUND = st.fixed_dictionaries({"keyword": SCORES, "vector": SCORES})
VALUES = st.dictionaries(KEYS, st.floats(-5, 5) | st.just(nan) | st.sampled_from([0.0, 1.0]), max_size=12)
WEIGHTS = st.floats(-2, 2)


@st.composite
def profiles(draw):
    """Draw a profile of any terms over the found and up to three signals."""
    signals = tuple(Given(f"signal_{i}", draw(VALUES)) for i in range(draw(st.integers(0, 3))))
    terms = [
        ReciprocalRank(retriever, draw(WEIGHTS))
        for retriever in draw(st.permutations(RETRIEVERS))[: draw(st.integers(0, 2))]
    ]
    for signal in signals:
        # A term may go by another name than the signal that it reads, and no term may read it at all.
        name, reads = draw(st.sampled_from([(signal.name, ""), (f"term_{signal.name}", signal.name), (None, "")]))
        make = draw(st.sampled_from([Weighted, ReciprocalRank, ReciprocalValue]))
        if name is not None:
            terms.append(make(name, draw(WEIGHTS), reads=reads))
    return Profile("any", "Anything.", tuple(terms), {"text": 1.0}, signals)


@given(profile=profiles(), found=SCORES_FOUND)
def test_the_score_is_the_sum_of_its_contributions(rank, profile, found):
    """For every profile and every row, score == sum of the contributions, and no contribution is NaN."""
    result = rank(profile, found)

    assert sorted(keys(result)) == sorted({*found["keyword"], *found["vector"]})
    for row in result.ranked:
        contributions = [seen.contribution for seen in row.evidence.values()]
        assert abs(row.score - sum(contributions)) < 1e-9
        assert {term.name for term in profile.terms} | {one.name for one in profile.signals} <= set(row.evidence)
        for seen in row.evidence.values():
            assert isnan(seen.value) == (seen.rank is None)
            assert seen.contribution == 0.0 or not isnan(seen.value)


@given(profile=profiles(), found=SCORES_FOUND)
def test_the_order_of_found_and_candidates_never_matters(rank, profile, found):
    """Rankings are a mapping: turned around, they give the same hits, ranks and scores."""
    assert table(rank(profile, found)) == table(rank(profile, found, backwards=True))


@given(found=SCORES_FOUND, values=VALUES)
def test_no_opinion_changes_nothing(rank, found, values):
    """A signal that is NaN for everyone leaves every score as it was."""
    silent = covalence.with_signal(Given("silent", dict.fromkeys(range(13), nan)), weight=3.0)

    assert table(rank(silent, found)) == table(rank(covalence, found))


TIERS = {"note": 3, "mcp": 3, "file": 2, "core": 1}


@st.composite
def memories(draw, make):
    """Draw memories of any tier, age and title for the keys."""
    return [
        make(
            key,
            tier=draw(st.sampled_from(sorted(TIERS))),
            title=draw(st.sampled_from(["", "Prices", "Kühlung"])),
            event_at=NOW - timedelta(hours=draw(st.integers(-10, 20_000))),
        )
        for key in range(1, 13)
    ]


def place(result, key):
    """Return the rank of a key."""
    return next(row.rank for row in result.ranked if row.candidate.key == key)


@pytest.mark.parametrize("profile", [covalence, trovella], ids=lambda profile: profile.name)
@given(data=st.data(), found=SCORES_FOUND, more=st.floats(0.001, 50))
def test_a_better_find_never_lowers_the_rank(rank, memory, profile, data, found, more):
    """In a profile of fixed weights, a higher score in a retriever, or a first one, never costs a memory places."""
    known = data.draw(memories(memory))
    before = rank(profile, found, *known)
    if not before.ranked:
        return
    key, retriever = data.draw(st.sampled_from(keys(before))), data.draw(st.sampled_from(RETRIEVERS))
    improved = {**found, retriever: {**found[retriever], key: found[retriever].get(key, -100.0) + more}}

    assert place(rank(profile, improved, *known), key) <= place(before, key)


@pytest.mark.parametrize("profile", [covalence, trovella], ids=lambda profile: profile.name)
@given(data=st.data(), found=SCORES_FOUND, hours=st.integers(1, 20_000))
def test_a_better_memory_never_lowers_the_rank(rank, memory, profile, data, found, hours):
    """Newer, of a better tier, or with a title that matches: nothing of this ever costs a memory places."""
    known = data.draw(memories(memory))
    before = rank(profile, found, *known)
    if not before.ranked:
        return
    key = data.draw(st.sampled_from(keys(before)))
    old = known[key - 1]
    changes = data.draw(
        st.sampled_from([{"event_at": old.event_at + timedelta(hours=hours)}, {"tier": "core"}, {"title": "PRICES"}])
    )
    fields = {name: getattr(old, name) for name in ("tier", "title", "event_at")}
    improved = [*known[: key - 1], memory(key, **{**fields, **changes}), *known[key:]]

    assert place(rank(profile, found, *improved), key) <= place(before, key)
