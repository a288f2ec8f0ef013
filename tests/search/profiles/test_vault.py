"""The profile vault: six weighted signals, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import log, sqrt

import pytest

from jupyter_memory.search import parse, vault
from jupyter_memory.search.signals import Cosine, Domain, Severity, Tags, TfIdf, Validity

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)
QUERY = parse("electricity prices λ", now=NOW)


def value(signal, context, one, query=QUERY, cosines=None):
    """Return what a signal says of one memory alone in a context."""
    return signal(query, context([one], cosines))[int(one.id, 16)]


@pytest.mark.parametrize(("severity", "worth"), [("critical", 1.0), ("warning", 0.7), ("suggestion", 0.4), (None, 0.0)])
def test_severity(context, memory, severity, worth):
    """Critical counts whole, a warning 0.7, a suggestion 0.4, anything else nothing."""
    assert value(Severity(), context, memory(1, severity=severity)) == worth


@pytest.mark.parametrize(
    ("asked", "has", "jaccard"),
    [
        (("prices", "zürich"), ("Zürich",), 1 / 2),
        (("prices", "zürich"), ("zürich", "λ", "prices"), 2 / 3),
        (("prices",), (), 0.0),
        ((), ("prices",), 0.0),
        ((), (), 0.0),
    ],
)
def test_tags(context, memory, asked, has, jaccard):
    """Tags count by how many of both are shared, whatever their case."""
    assert value(Tags(), context, memory(1, tags=has), replace(QUERY, tags=asked)) == pytest.approx(jaccard)


def test_domain(context, memory):
    """A domain counts if it is asked for and the same; two without one do not agree."""
    assert value(Domain(), context, memory(1, domain="energy"), replace(QUERY, domain="energy")) == 1.0
    assert value(Domain(), context, memory(1, domain="energy"), replace(QUERY, domain="traffic")) == 0.0
    assert value(Domain(), context, memory(1)) == 0.0


def test_cosine(context, memory):
    """A negative cosine counts as 0, a missing one as no opinion."""
    assert value(Cosine(), context, memory(1), cosines={1: 0.25}) == 0.25
    assert value(Cosine(), context, memory(1), cosines={1: -0.25}) == 0.0
    assert value(Cosine(), context, memory(1)) != value(Cosine(), context, memory(1))


@pytest.mark.parametrize(("days", "worth"), [(0, 1.0), (365, 0.5), (730, 0.25), (-3, 1.0)])
def test_a_memory_without_a_window_decays(context, memory, days, worth):
    """Half of it is left after a year, a quarter after two; the future counts as now."""
    assert value(Validity(), context, memory(1, event_at=NOW - timedelta(days=days))) == pytest.approx(worth)


@pytest.mark.parametrize(
    ("begins", "ends", "worth"),
    [
        (-100, 300, 1.0),  # three quarters left
        (-300, 100, 1.0),  # exactly a quarter left
        (-350, 50, 0.5),
        (-390, 10, 0.1),
        (-400, 0, 0.0),
        (-500, -100, 0.0),
        (10, 410, 0.0),  # not begun
        (5, -5, 0.0),  # ends before it begins
    ],
)
def test_a_window_holds_until_its_last_quarter(context, memory, begins, ends, worth):
    """A memory with a validity window is whole until a quarter of it is left, then fades to nothing."""
    window = {"valid_from": NOW + timedelta(days=begins), "valid_until": NOW + timedelta(days=ends)}
    assert value(Validity(), context, memory(1, **window)) == pytest.approx(worth)


def test_half_a_window(context, memory):
    """Without a start the window begins with the event; without an end only what has not begun is kept back."""
    until = memory(1, event_at=NOW - timedelta(days=350), valid_until=NOW + timedelta(days=50))
    since = memory(1, event_at=NOW - timedelta(days=365), valid_from=NOW - timedelta(days=1))

    assert value(Validity(), context, until) == pytest.approx(0.5)
    assert value(Validity(), context, since) == pytest.approx(0.5)
    assert value(Validity(), context, replace(since, valid_from=NOW + timedelta(days=1))) == 0.0


def test_tfidf_by_hand(context, memory):
    """The cosine of TF-IDF vectors, idf = log((N + 1) / (df + 1)) + 1; words unknown to the store do not count."""
    signal, known = TfIdf(), context([memory(1, text="prices prices zürich"), memory(2, text="zürich weather")])
    prices, weather, zurich = log(3 / 2) + 1, log(3 / 2) + 1, log(3 / 3) + 1
    query = parse("prices in zürich unheard-of", now=NOW)

    both, one = signal(query, known).values()
    asked = sqrt(prices**2 + zurich**2)
    assert both == pytest.approx((2 * prices**2 + zurich**2) / (asked * sqrt((2 * prices) ** 2 + zurich**2)))
    assert one == pytest.approx(zurich**2 / (asked * sqrt(zurich**2 + weather**2)))


def test_tfidf_without_a_known_word(context, memory):
    """A query none of whose words the store holds leaves the signal without an opinion."""
    values = TfIdf()(parse("unheard-of", now=NOW), context([memory(1)]))
    assert values[1] != values[1]


def test_the_sum(rank, memory):
    """Hybrid weighs .25/.15/.15/.15/.15/.15, keywords alone .40 and no vector; every other signal at its best."""
    best = memory(1, text="prices", severity="critical")
    hybrid = rank(vault, {"keyword": {1: 1.0}, "vector": {1: 0.9}}, best, text="prices").ranked[0]
    words = rank(vault, {"keyword": {1: 1.0}}, best, text="prices").ranked[0]

    assert hybrid.score == pytest.approx(0.25 * 1.0 + 0.15 * 1.0 + 0.15 * 1.0)  # the test context has no cosines
    assert words.score == pytest.approx(0.40 * 1.0 + 0.15 * 1.0 + 0.15 * 1.0)
    assert [term.weight for term in vault.terms] == [0.25, 0.15, 0.15, 0.15, 0.15, 0.15, 0.5]
    assert [term.weight for term in vault.keyword_only] == [0.40, 0.0, 0.15, 0.15, 0.15, 0.15, 0.5]


def test_history_has_a_fixed_score(rank, memory):
    """A history entry scores 0.5 however well it fits, and the identity of the sum holds for it too."""
    entry, note = memory(1, kind="history", text="prices", severity="critical"), memory(2, text="weather in Zürich")
    rows = rank(vault, {"keyword": {1: 3.0, 2: 1.0}}, entry, note, text="prices").ranked

    assert rows[0].score == pytest.approx(0.5)
    assert rows[0].evidence["history"].contribution == 0.5
    assert rows[0].evidence["semantic"].contribution == 0.0
    assert rows[1].score != pytest.approx(0.5)


@pytest.mark.parametrize(
    ("matches", "limit", "shown"),
    [
        (12, 5, 12),  # 5 < 6: more than half would go
        (12, 6, 6),
        (49, 10, 49),
        (50, 10, 10),  # not a small corpus
        (5, 5, 5),
    ],
)
def test_a_small_corpus_is_shown_whole(rank, matches, limit, shown):
    """Fewer than 50 keyword matches of which the limit would cut off more than half are all shown, and it is said."""
    result = rank(vault, {"keyword": {key: float(key) for key in range(1, matches + 1)}}, limit=limit)

    assert result.limit == shown
    assert bool(result.notices) == (shown > limit)


def test_the_guard_counts_keyword_matches_only(rank):
    """What only the vector retriever found does not make a corpus small, and no keyword match is lost among it."""
    by_words, by_meaning = {key: float(key) for key in range(1, 9)}, {key: 0.5 for key in range(20, 45)}
    result = rank(vault, {"keyword": by_words, "vector": by_meaning}, limit=3)

    assert {row.candidate.key for row in result.ranked[: result.limit]} >= set(by_words)


@pytest.fixture
def vault_store(store):
    """A store with a critical note on tariffs, and what was run in two sessions: a hundred cells about tariffs."""
    memory = store()
    invoices = "Every invoice of the warehouse in Genève is net of tax, paid in June, and kept by Łukasz on paper. "
    memory.add(3 * invoices + "So are tariffs.", title="Net", severity="critical")
    memory.add("The weather in Zürich.", title="Weather")
    runs = [
        {
            "text": f"tariffs.plot(hour={number})",
            "kind": "history",
            "lang": "python",
            "session": "monday" if number < 60 else "tuesday",
            "event_at": NOW - timedelta(minutes=1000 - number),
        }
        for number in range(100)
    ]
    memory.add_many(runs, progress=False)
    return memory


def found(memory, query, **options):
    return memory.search(query, profile="vault", now=NOW, **options)


def test_history_takes_no_place_of_the_vault(vault_store):
    """However many runs match, notes are candidates too: history is searched by itself, and merged by its score."""
    frame = found(vault_store, "tariffs", limit=200)
    note = frame.loc[frame["title"] == "Net", "memory_id"].item()
    asked = {"limit": 5, "now": NOW}

    assert (frame["kind"] == "history").sum() == 100
    assert vault_store.explain("tariffs", note, profile="vault", **asked).rank is not None
    # Thirty candidates of the best words, all of them runs.
    assert vault_store.explain("tariffs", note, profile=replace(vault, apart=""), **asked).rank is None


def test_the_newest_runs_come_first(vault_store):
    """History has one score, so the last runs come first, each with its session."""
    frame = found(vault_store, "tariffs", limit=10)

    assert set(frame["kind"]) == {"history"} and (frame["score"] == 0.5).all()
    assert frame["event_at"].is_monotonic_decreasing
    assert {vault_store.get(one).session for one in frame["memory_id"]} == {"tuesday"}


def test_filters_of_sessions_and_kinds(vault_store):
    """A session is a filter, typed or given; with the kind left out, or alone, history is searched like any other."""
    assert len(found(vault_store, "tariffs session:tuesday", limit=100)) == 40
    assert len(found(vault_store, "tariffs", filters={"session": ["monday", "tuesday"]}, limit=200)) == 100
    assert set(found(vault_store, "tariffs -kind:history")["kind"]) == {"note"}
    assert set(found(vault_store, "tariffs kind:history")["kind"]) == {"history"}
    assert found(vault_store, "tariffs session:friday").empty


def test_a_vault_without_history_is_searched_once(vault_store):
    """Without history the answer is that of a single search, to the last digit."""
    vault_store.forget(filters={"kind": "history"})
    whole = replace(vault, apart="")

    assert found(vault_store, "tariffs").equals(vault_store.search("tariffs", profile=whole, now=NOW))
