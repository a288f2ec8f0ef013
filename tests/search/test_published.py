"""The profiles of other systems, vault and memini: their published formulas, worked out by hand."""

from dataclasses import replace
from datetime import timedelta

import pytest
from results import worded
from week import NOW

import jupyter_memory
from jupyter_memory import InputError, RerankWeights, Scored, TimeAnchor, dedup, fuse, fuse_scores, rerank
from jupyter_memory.search import PROFILES, MinMax, adapted, memini, vault
from jupyter_memory.types import Ranking

FRESH_NOTE = 0.4 * 0.7 + 0.2  # tier and recency; nobody else said it, nobody read it


def scores(answer):
    return {int(hit.memory.source.removesuffix(".md")): hit.score for hit in answer.hits}


def scaled(hits, name):
    """Return what a retriever says of each hit that it found, 1 for the best and 0 for the worst."""
    found = {hit.memory.source: value for hit in hits if (value := getattr(hit, name)) == value}
    best, worst = max(found.values()), min(found.values())
    return {source: (value - worst) / (best - worst) for source, value in found.items()}


def test_equal_scores_scaled():
    """Where all are equal each has 1."""
    assert MinMax("keyword", 0.5).contributions(Ranking({1: 0.3, 2: 0.3})) == {1: 0.5, 2: 0.5}
    assert MinMax("keyword", 0.5).contributions(Ranking({})) == {}


@pytest.mark.parametrize(
    ("one", "other", "copies"),
    [
        ("Prices are  scaled.", "prices are\nscaled", True), ("PRICES ZÜRICH!", "prices zürich", True),
        ("prices λ ", "prices λ", True), ("prices", "the prices", False),
    ],
)  # fmt: skip
def test_copies_are_folded(filled_with, one, other, copies):
    """Case, white space and punctuation at the end make no other text; the best by relevance stays, not by quality."""
    memories = filled_with({"text": one}, {"text": other, "tier": "core"}, {"text": "Zürich"})
    answer = memories.hits("prices", profile=memini, now=NOW)
    assert (len(answer.hits) == 2) == copies
    assert [hit.rank for hit in answer.hits] == list(range(1, len(answer.hits) + 1))
    assert any("1 duplicate" in notice for notice in answer.notices) == copies


def test_nothing_found(filled_with):
    memories, term = filled_with({}, embedder=False), replace(memini.terms[0], weight=0.0)
    assert memories.hits("zebra", profile=memini, now=NOW).hits == ()
    assert memories.hits("prices", profile=memini.replace(terms=(term,), keyword_only=()), now=NOW).hits


@pytest.fixture
def notes(store):
    opened = store()
    return {name: opened.add(f"note {name}", event_at=NOW) for name in "abcd"}


def scored(notes, **scores):
    return [Scored(notes[name], score) for name, score in scores.items()]


def named(notes, results):
    names = {memory.id: name for name, memory in notes.items()}
    return [(names[one.memory.id], pytest.approx(one.score)) for one in results]


def test_fusing_by_hand(notes):
    """1 / (k + rank) with ranks from 0, or scores from 0 to 1 weighed by place; of copies the first stays."""
    lists = [scored(notes, a=0.1, b=0.9), scored(notes, b=7, c=8, d=9)]
    assert named(notes, fuse(lists)) == [("b", 1 / 6 + 1 / 5), ("a", 1 / 5), ("c", 1 / 6), ("d", 1 / 7)]
    assert named(notes, fuse(lists, 1, k=60)) == [("b", 1 / 61 + 1 / 60)]
    assert named(notes, fuse([[*lists[0], *scored(notes, a=1)]])) == [("a", 1 / 5), ("b", 1 / 6)]
    assert fuse([]) == fuse([[]]) == []
    with pytest.raises(InputError, match="above 0"):
        fuse(lists, k=0)
    lists = [scored(notes, a=4, b=3, c=2), scored(notes, d=5, c=5)]
    assert named(notes, fuse_scores(lists)) == [("a", 1), ("c", 1), ("d", 1), ("b", 0.5)]
    assert named(notes, fuse_scores(lists, [2])) == [("a", 2), ("b", 1), ("c", 1), ("d", 1)]
    assert named(notes, fuse_scores(lists, [0.5, 0.1], 2)) == [("a", 0.5), ("b", 0.25)]
    assert len(fuse_scores(lists, limit=0)) == len(fuse_scores(lists, limit=-1)) == 4
    # Case, white space and the last punctuation make no difference.
    copy = replace(notes["a"], id="copy", text="  NOTE\n a. ")
    results = [*scored(notes, b=3, a=2), Scored(copy, 1.5), *scored(notes, c=1)]
    assert named(notes, dedup(results)) == [("b", 3), ("a", 2), ("c", 1)]
    assert named(notes, dedup(results, 1)) == [("b", 3)]


def test_rerank_is_relevance_and_quality(notes):
    """0.80 * score / best + 0.20 * quality; with the weights of each part, that part alone; ties keep their order."""
    old = replace(notes["a"], event_at=NOW - timedelta(days=365), accessed=1)
    results = [Scored(old, 2.0), *scored(notes, b=2.0, c=1.0)]
    # note .7, read once, a year old; and note .7, never read, new.
    worth = {"a": 0.4 * 0.7 + 0.2 * 0.25 + 0.2 * 0.5, "b": FRESH_NOTE, "c": FRESH_NOTE}
    values = {name: share + 0.2 * worth[name] for name, share in (("b", 0.8), ("a", 0.8), ("c", 0.4))}
    assert named(notes, rerank(results, now=NOW)) == list(values.items())

    recent = RerankWeights(relevance=0.0, quality=0.0, recency=1.0)
    assert named(notes, rerank(results, now=NOW, weights=recent)) == [("b", 1.0), ("c", 1.0), ("a", 0.5)]
    pinned = replace(notes["c"], tier="core")
    found = rerank([*results[:2], Scored(pinned, 1.0)], now=NOW, weights=RerankWeights(0.0, 0.0, 1.0, 0.0))
    assert named(notes, found) == [("c", 1.0), ("a", 0.7), ("b", 0.7)]
    # A content that two more sources have is worth more: 0.2 * 2 / 3 of the quality.
    copies = [Scored(replace(notes["a"], id=name, source=f"/{name}.md"), 0.5) for name in "xy"]
    alone, among = (rerank([*scored(notes, a=1), *more], now=NOW)[0].score for more in ((), copies))
    assert among - alone == pytest.approx(0.2 * 0.2 * 2 / 3)


@pytest.mark.parametrize(
    ("query", "more"),
    [("what did I do three weeks ago", [0.4, 0.2, 0.0]), ("what did I do", [0.0] * 3), ("", [0.0] * 3)],
)
def test_a_time_that_the_query_names(notes, query, more):
    """Up to 0.40 at the time that is meant, nothing from three tolerances on; without one nothing changes."""
    then = replace(notes["a"], event_at=NOW - timedelta(days=21))
    near = replace(notes["b"], event_at=NOW - timedelta(days=21 + 4.5))
    results = [Scored(then, 1.0), Scored(near, 1.0), *scored(notes, c=1.0)]
    plain = {one.memory.id: one.score for one in rerank(results, now=NOW)}
    found = {one.memory.id: one.score - plain[one.memory.id] for one in rerank(results, query, now=NOW)}
    assert [found[one.memory.id] for one in results] == pytest.approx(more, abs=0.02 if any(more) else 1e-9)
    assert rerank(results, query, now=NOW, boost=0) == rerank(results, now=NOW)


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


@pytest.mark.parametrize(
    ("profile", "query"),
    [
        ("memini", "how were the prices scaled"),
        ("memini", "what did we do with the prices three days ago"),
        ("memini-rrf", "who joins orders on the customer"),
    ],
)
def test_the_profiles_are_made_of_the_same(week_store, profile, query):
    """The lists of a search, fused and ranked again by these functions, are the answer of the profile."""
    trace = week_store.trace(query, profile=profile, now=NOW)
    lists = [
        [Scored(week_store.get(one.memory_id), one.score) for one in each] for each in (trace.vector, trace.keyword)
    ]
    mine = rerank(dedup(fuse_scores(lists, [0.5, 0.5]) if profile == "memini" else fuse(lists)), query, now=NOW)
    theirs = {hit.memory.id: hit.score for hit in trace.answer.hits}
    assert {one.memory.id: one.score for one in mine[: len(theirs)]} == pytest.approx(theirs)
    names = {"fuse", "fuse_scores", "dedup", "rerank", "Scored", "RerankWeights", "TimeAnchor"}
    assert names <= set(jupyter_memory.__all__) <= set(dir(jupyter_memory))


def test_the_sum_of_vault(filled_with):
    """Hybrid weighs .25 and .15 each, keywords alone .40 and no vector; a history entry scores 0.5."""
    best = {"text": "prices cos=1.0", "severity": "critical"}
    both = filled_with(best).hits("prices", profile=vault, now=NOW).hits[0]
    words = filled_with(best, embedder=False).hits("prices", profile=vault, now=NOW).hits[0]
    assert both.score == pytest.approx(0.25 * both.signals["semantic"].value + 0.15 * (1.0 + 1.0 + 1.0), abs=1e-6)
    assert words.score == pytest.approx(0.40 * words.signals["semantic"].value + 0.15 * (1.0 + 1.0))
    assert both.signals["semantic"].value > 0 < words.signals["semantic"].value
    assert [term.weight for term in vault.terms] == [0.25, 0.15, 0.15, 0.15, 0.15, 0.15, 0.5]
    assert [term.weight for term in vault.keyword_only] == [0.40, 0.0, 0.15, 0.15, 0.15, 0.15, 0.5]
    memories = filled_with({"text": "prices", "kind": "history", "severity": "critical"}, {"text": "prices in Zürich"})
    found = {hit.memory.kind: hit for hit in memories.hits("prices", profile=vault, now=NOW).hits}
    entry = found["history"]
    assert entry.score == pytest.approx(0.5) == entry.signals["history"].contribution
    assert entry.signals["semantic"].contribution == 0.0 and found["note"].score != pytest.approx(0.5)


@pytest.mark.parametrize(
    ("matches", "limit", "shown"), [(12, 5, 12), (12, 6, 6), (49, 10, 49), (50, 10, 10), (5, 5, 5)]
)
def test_a_small_corpus_is_shown_whole(filled_with, matches, limit, shown):
    """Fewer than 50 keyword matches of which the limit would cut off more than half are all shown, and it is said."""
    answer = filled_with(*[{}] * matches, embedder=False).hits("prices", profile=vault, limit=limit, now=NOW)
    assert len(answer.hits) == shown
    assert bool([one for one in answer.notices if "all of them are shown" in one]) == (shown > limit)
    # What only meaning found does not make a corpus small, and no keyword match is lost among it.
    memories = filled_with(*map(worded, range(1, 9)), *({"text": f"λ {key} cos=0.5"} for key in range(25)))
    assert set(scores(memories.hits("prices", profile=vault, limit=3, now=NOW))) >= set(range(1, 9))


def found(memory, query, **options):
    return memory.search(query, profile="vault", now=NOW, **options)


def test_history_takes_no_place_of_the_vault(store):
    """History takes no place of notes, is merged by its score, and filtered by session and kind like any other."""
    memory = store()
    invoices = "Every invoice of the warehouse in Genève is net of tax, paid in June, and kept by Łukasz on paper. "
    memory.add(3 * invoices + "So are tariffs.", title="Net", severity="critical")
    memory.add("The weather in Zürich.", title="Weather")
    runs = [
        {"text": f"tariffs.plot(hour={number})", "kind": "history", "lang": "python",
         "session": "monday" if number < 60 else "tuesday", "event_at": NOW - timedelta(minutes=1000 - number)}
        for number in range(100)
    ]  # fmt: skip
    memory.add_many(runs, progress=False)
    frame = found(memory, "tariffs", limit=200)
    note = frame.loc[frame["title"] == "Net", "memory_id"].item()
    asked = {"limit": 5, "now": NOW}
    assert (frame["kind"] == "history").sum() == 100
    assert memory.explain("tariffs", note, profile="vault", **asked).rank is not None
    # History has one score, so the last runs come first, each with its session.
    newest = found(memory, "tariffs", limit=10)
    assert set(newest["kind"]) == {"history"} and (newest["score"] == 0.5).all()
    assert newest["event_at"].is_monotonic_decreasing
    assert {memory.get(one).session for one in newest["memory_id"]} == {"tuesday"}
    # Thirty candidates of the best words, all of them runs.
    assert memory.explain("tariffs", note, profile=replace(vault, apart=""), **asked).rank is None
    for query, filters, kinds in (
        ("tariffs session:tuesday", {}, ["history"] * 40),
        ("tariffs", {"session": ["monday", "tuesday"]}, ["history"] * 100),
        ("tariffs session:friday", {}, []),
    ):
        assert found(memory, query, filters=filters, limit=200)["kind"].tolist() == kinds
    assert set(found(memory, "tariffs -kind:history")["kind"]) == {"note"}
    assert set(found(memory, "tariffs kind:history")["kind"]) == {"history"}
    # Without history the answer is that of a single search, to the last digit.
    memory.forget(filters={"kind": "history"})
    whole = memory.search("tariffs", profile=replace(vault, apart=""), now=NOW)
    assert found(memory, "tariffs").equals(whole)


def weights(terms):
    return {term.name: term.weight for term in terms if term.name != "history"}


@pytest.mark.parametrize(
    ("accepted", "judged", "hybrid", "words"),
    [
        # 0.30 * (40/50 - 0.5) = 0.09: .25 + .09, the others by .66/.75; .40 + .09, the others by .51/.60.
        (40, 50, (0.34, 0.132), (0.49, 0.1275)), (15, 30, (0.25, 0.15), (0.40, 0.15)),
        # All of them, none of them: 0.15 more, 0.15 less.
        (30, 30, (0.40, 0.12), (0.55, 0.1125)), (0, 30, (0.10, 0.18), (0.25, 0.1875)),
    ],
)  # fmt: skip
def test_adapted_by_hand(accepted, judged, hybrid, words):
    """The semantic weight moves by 0.30 * (accept rate - 0.5), the others share what is left of 1."""
    learnt = adapted(vault, accepted, judged)
    others = ("severity", "temporal", "tags", "domain")
    for terms, (semantic, other), vector in ((learnt.terms, hybrid, hybrid[1]), (learnt.keyword_only, words, 0.0)):
        expected = {"semantic": semantic, "vector": vector, **dict.fromkeys(others, other)}
        assert weights(terms) == pytest.approx(expected)
        assert sum(weights(terms).values()) == pytest.approx(1.0)
        assert terms[-1].weight == 0.5  # the fixed score of history


def test_only_what_adapts():
    """29 verdicts change nothing; other profiles stay; one that has adapted, or lacks the term, does so no further."""
    assert adapted(vault, 29, 29) is vault is not adapted(vault, 30, 30)
    for name, profile in PROFILES.items():
        assert (adapted(profile, 50, 50) is profile) == (name != "vault")
    assert adapted(learnt := adapted(vault, 50, 50), 0, 50) is learnt
    assert adapted(bare := vault.without("semantic"), 50, 50) is bare


def test_a_search_learns(week_store, now):
    """Once thirty hits were judged in a store, its searches by vault weigh so, and others do not."""
    question = "how did we scale the electricity prices"
    before = week_store.hits(question, profile="vault", now=now).hits[0]
    for number in range(30):
        week_store.feedback(before.memory.id, True, query=f"prices of Zürich, question {number}")
    after = week_store.hits(question, profile="vault", now=now).hits[0]
    assert after.memory.id == before.memory.id
    for name, ratio in (("semantic", 0.40 / 0.25), ("temporal", 0.12 / 0.15)):
        assert after.signals[name].contribution == pytest.approx(before.signals[name].contribution * ratio)
    assert after.score == pytest.approx(sum(seen.contribution for seen in after.signals.values()))
    assert week_store.hits(question, now=now).profile == "auto"
