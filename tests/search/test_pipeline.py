"""The path of a query: what is found, in any order, is added up to one score, also by other weights afterwards."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import isnan, nan

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from results import worded
from week import NOW

from jupyter_memory import InputError, MemoryStore, QueryError
from jupyter_memory.search import (
    PROFILES,
    RETRIEVERS,
    OverFetch,
    Profile,
    ReciprocalRank,
    ReciprocalValue,
    Weighted,
    auto,
    covalence,
    memini,
    newer_first,
    trovella,
)

FIXED = pytest.mark.parametrize("profile", [covalence, trovella], ids=lambda profile: profile.name)


def places(answer):
    return [hit.memory.source for hit in answer.hits]


@dataclass(frozen=True)
class Given:
    """A signal that says what it was told to, by source; it has nothing to say of others."""

    name: str
    values: dict

    def __call__(self, query, pool, /):
        return {one.key: self.values[one.memory.source] for one in pool if one.memory.source in self.values}


def test_covalence_by_hand(filled_with):
    """The best there is, first in both and pinned, has 0.0447590164; a year old, third by meaning, 0.0188389401."""
    memories = filled_with(worded(1, 0.9, tier="core", title="Electricity prices, cleaned"))
    [hit] = memories.hits("prices", profile=covalence, now=NOW).hits
    assert hit.score == pytest.approx(0.0447590164, abs=5e-11)
    assert {name: seen.contribution for name, seen in hit.signals.items()} == pytest.approx(
        {"vector": 0.9 / 61, "keyword": 0.9 / 61, "tier": 0.18 / 61, "title": 0.009, "recency": 0.0033}
    )
    old = worded(0, 0.7, tier="file", event_at=NOW - timedelta(hours=8760))
    hits = filled_with(worded(0, 0.9), worded(0, 0.8), old).hits("prices", profile=covalence, now=NOW).hits
    [hit] = [one for one in hits if one.memory.source == "3.md"]
    assert hit.score == pytest.approx(0.0188389401, abs=5e-11) and (hit.sem_rank, hit.kw_rank) == (3, None)
    assert hit.signals["keyword"].contribution == 0.0 and isnan(hit.signals["keyword"].value)
    assert hit.signals["recency"].contribution == pytest.approx(0.00165)


def test_trovella_reads_two_ranks(filled_with):
    """Trovella adds 1/(60 + rank) of each retriever, whatever the tier and the age are; ranks go 1, 2, 2, 4."""
    memories = filled_with(worded(5, 0.5), worded(3, 0.6, tier="core"), worded(0, 0.4))
    hits = memories.hits("prices", profile=trovella, now=NOW).hits
    assert {hit.memory.source: hit.score for hit in hits} == pytest.approx(
        {"1.md": 1 / 61 + 1 / 62, "2.md": 1 / 62 + 1 / 61, "3.md": 1 / 63}
    )
    assert set(hits[0].signals) == {"keyword", "vector"}
    hits = filled_with(*map(worded, (7, 4, 4, 1)), embedder=False).hits("prices", profile=trovella, now=NOW).hits
    assert {hit.memory.source: hit.kw_rank for hit in hits} == {"1.md": 1, "2.md": 2, "3.md": 2, "4.md": 4}


@pytest.mark.parametrize(("limit", "asked"), [(1, 20), (5, 20), (6, 24), (10, 40)])
@FIXED
def test_retrievers_fetch_more_than_is_shown(filled_with, profile, limit, asked):
    memories = filled_with(*(worded(1 + number % 8, number / 99, title=str(number)) for number in range(50)))
    trace = memories.trace("prices", profile=profile, limit=limit, now=NOW)
    assert (len(trace.keyword), len(trace.vector)) == (asked, asked)
    assert profile.fetches(50) == 200 and OverFetch(5, 50)(3) == 50 and OverFetch(5, 50)(11) == 55


def test_one_retriever_is_enough(filled_with):
    """Without a model the keyword retriever answers alone; what finds nothing gives an empty answer, with its times."""
    memories = filled_with(worded(5), worded(3), embedder=False)
    answer = memories.hits("prices", profile=covalence, now=NOW)
    assert places(answer) == ["1.md", "2.md"] and answer.counts["vector"] == 0
    assert all(hit.signals["vector"].rank is None for hit in answer.hits)
    nothing = memories.hits("zebra", profile=covalence, now=NOW)
    assert nothing.hits == () and {"keyword", "vector", "pool", "rank"} <= set(nothing.timings)


def test_the_order_of_equals(filled_with):
    """Of equal scores the newer event comes first, then content and place decide, never what was stored first."""
    records = [worded(3, source=f"{place}.md", event_at=NOW - (place == "a") * timedelta(days=1)) for place in "abcd"]
    answers = [
        filled_with(*ordered, embedder=False).hits("prices", profile=trovella, now=NOW)
        for ordered in (records, records[::-1])
    ]
    assert places(answers[0]) == places(answers[1]) and places(answers[0])[-1] == "a.md"
    memories = [hit.memory for hit in answers[0].hits]
    assert memories == sorted(memories, key=newer_first)


SOURCES = [f"{number}.md" for number in range(1, 13)]
VALUES = st.dictionaries(
    st.sampled_from(SOURCES), st.floats(-5, 5) | st.just(nan) | st.sampled_from([0.0, 1.0]), max_size=12
)
WEIGHTS = st.floats(-2, 2)
QUERIES = st.sampled_from(["prices", "prices of the λ", "how were prices scaled in Zürich", "zebra", "other", "λ 3"])


@pytest.fixture(scope="module")
def twelve(tmp_path_factory):
    """Two stores of the same twelve memories, filled in opposite order."""
    words = ("prices", "λ prices of Zürich", "other scaled prices", "weather of λ", "orders", "prices prices")
    records = [
        {"text": words[number % 6], "source": source, "event_at": NOW - number % 5 * timedelta(days=9)}
        for number, source in enumerate(SOURCES)
    ]
    folder = tmp_path_factory.mktemp("twelve")
    with MemoryStore(folder / "λ.sqlite", "static") as one, MemoryStore(folder / "μ.sqlite", "static") as other:
        one.add_many(records, progress=False)
        other.add_many(records[::-1], progress=False)
        yield one, other


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


def table(answer):
    return [(hit.rank, hit.memory.source, hit.score, hit.kw_rank, hit.sem_rank) for hit in answer.hits]


@given(profile=profiles(), query=QUERIES)
def test_the_score_is_the_sum_of_its_contributions(twelve, profile, query):
    """For every profile and every row, score == sum of the contributions, no contribution is NaN, and order is none."""
    trace = twelve[0].trace(query, profile=profile, limit=12, now=NOW)
    hits = trace.answer.hits
    assert {hit.memory.id for hit in hits} == {one.memory_id for one in (*trace.keyword, *trace.vector)}
    for hit in hits:
        assert abs(hit.score - sum(seen.contribution for seen in hit.signals.values())) < 1e-9
        assert {term.name for term in profile.terms} | {one.name for one in profile.signals} <= set(hit.signals)
        for seen in hit.signals.values():
            assert isnan(seen.value) == (seen.rank is None)
            assert seen.contribution == 0.0 or not isnan(seen.value)
    assert table(twelve[1].hits(query, profile=profile, limit=12, now=NOW)) == table(trace.answer)


@given(query=QUERIES, values=VALUES)
def test_no_opinion_changes_nothing(twelve, query, values):
    silent = covalence.with_signal(Given("silent", dict.fromkeys(SOURCES, nan)), weight=3.0)
    one, other = (twelve[0].hits(query, profile=profile, now=NOW) for profile in (silent, covalence))
    assert table(one) == table(other)


# Another word or title would change the statistics of words, and so what the others are worth.
BETTER = (
    lambda old: {**old, "cosine": min(0.99, old["cosine"] + 0.3)},
    lambda old: {**old, "event_at": old["event_at"] + timedelta(days=100)},
    lambda old: {**old, "tier": "core"},
)
RECORDS = st.fixed_dictionaries({
    "count": st.integers(0, 8), "cosine": st.floats(-0.9, 0.9), "tier": st.sampled_from(["mcp", "file", "core"]),
    "title": st.sampled_from(["", "Prices", "Kühlung"]), "event_at": st.datetimes(
        datetime(2023, 1, 1), datetime(2026, 4, 1), timezones=st.just(UTC)),
})  # fmt: skip


@FIXED
# Each example has new stores.
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=st.lists(RECORDS, min_size=2, max_size=6), chosen=st.integers(0, 5), better=st.sampled_from(BETTER))
def test_what_is_better_never_loses_places(filled_with, profile, records, chosen, better):
    """In a profile of fixed weights, a nearer meaning, a later time or a better tier never costs a memory places."""
    chosen %= len(records)
    ranked = []
    for of in (records, [*records[:chosen], better(records[chosen]), *records[chosen + 1 :]]):
        with filled_with(*(worded(**one) for one in of)) as memories:
            ranked.append(places(memories.hits("prices", profile=profile, now=NOW)))
    before, after = ranked
    assert after.index(f"{chosen + 1}.md") <= before.index(f"{chosen + 1}.md")


# Words and meaning turned down, turned off, turned up; a term that the query does not wake.
SETTINGS = (
    {}, {"keyword": 0.0}, {"vector": 0.0, "semantic_margin": 0.0}, {"recency": 40.0},
    {"tier": 5.0, "quality": 3.0, "severity": 2.0, "keyword": 0.001},
)  # fmt: skip
QUERY = "how did we scale the electricity prices in Zürich"


def other(profile, weights):
    changed, alone = (
        tuple(replace(term, weight=weights.get(term.name, term.weight)) for term in terms)
        for terms in (profile.terms, profile.keyword_only)
    )
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
            assert repr(one.to_json()) == repr(same.to_json()) and one.highlights == same.highlights
            assert one.score == pytest.approx(sum(seen.contribution for seen in one.signals.values()), abs=1e-9)
        assert (weighed.counts, weighed.terms, weighed.verdict) == (fresh.counts, fresh.terms, fresh.verdict)


def test_a_pool_outlives_its_store(week_store, now):
    """A pool is its answer, weighs nothing but weights, ranks every candidate, and outlives its store."""
    pooled = week_store.pooled(QUERY, now=now)
    with pytest.raises(InputError, match="search by itself"):
        pooled.weighed(auto.replace(fetch=OverFetch(1, 1)))
    with pytest.raises(QueryError, match="Add some words"):
        week_store.pooled("tag:prices")
    pooled, answer = week_store.pooled(QUERY, limit=1, now=now), week_store.hits(QUERY, limit=1, now=now)
    ranks, said = pooled.ranks(auto), {term.name: pooled.speaks(term) for term in pooled.terms}
    of_memini = week_store.pooled(QUERY, profile="memini", now=now)
    week_store.close()
    assert [hit.memory.id for hit in pooled.answer.hits] == [hit.memory.id for hit in answer.hits]
    assert repr(pooled.weighed(auto).hits) == repr(pooled.answer.hits)
    assert sorted(ranks.values()) == list(range(1, pooled.answer.counts["fused"] + 1))
    assert ranks[pooled.answer.hits[0].memory.id] == 1
    assert said["keyword"] and said["recency"] and not said["time"]
    assert of_memini.weighed(other(memini, {"quality": 5.0})).hits


def test_filters_after_changes(store):
    """A filtered search sees what was changed a moment ago, by the same store or by another one that has it open."""
    mine, other = store(), store()
    ids = [mine.add(f"{word} prices", tags=["first"]).id for word in ("hourly", "daily")]

    def found(**filters):
        return {hit.memory.id for hit in mine.hits("prices", filters=filters).hits}

    assert found(tag="first") == {*ids} and found(tier="core") == set()
    for changing, changed in ((mine, ids[0]), (other, ids[1])):
        changing.pin(changed)
        assert changed in found(tier="core")
        changing.update(changed, tags=["second"])
        assert changed in found(tag="second") and changed not in found(tag="first")
    other.forget(ids[0])
    assert found(tier="core") == found(tag="second") == {ids[1]}
