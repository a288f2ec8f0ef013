"""Searching a store: limits, filters, times and profiles."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from results import titles

from jupyter_memory import JupyterMemory, QueryError, UnknownProfile
from jupyter_memory.types import Filters


def test_limit(week_store):
    """limit is the number of hits; the setting of that name counts where it is left out."""
    assert len(week_store.search("the prices λ orders", limit=2)) == 2
    assert len(week_store.search("the prices λ orders", limit=np.int64(1))) == 1


def test_the_setting_limit(store, week):
    """A limit of the settings is the default of searches and lists."""
    memory = store(settings=JupyterMemory(limit=2))
    memory.add_many(week, progress=False)

    assert len(memory.search("prices λ orders deliveries")) == len(memory.browse()) == 2
    assert len(memory.browse(limit=7)) == 7


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"kind": "cell"}, {"Means by shop"}),
        ({"kind": ["cell", "file"]}, {"Means by shop", "Holdout results"}),
        ({"tag": ["decision", "rule"]}, {"Scaling the prices", "Poisson λ", "Joining orders"}),
        ({"tag": ["decision", "prices"], "space": "shops"}, {"Zürich and Genève", "東京の売上"}),
        ({"tag": "prices", "kind": "cell"}, set()),
        ({"tier": "core"}, {"Joining orders"}),
        ({"tier": "mcp"}, {"Warehouse extract"}),
        ({"session": ["wednesday", "friday"]}, {"Warehouse extract", "Late deliveries"}),
        ({"tag": "no such tag"}, set()),
        (Filters(kind=("cell",)), {"Means by shop"}),
    ],
)
def test_filters(week_store, filters, expected):
    """Any value within a facet, every facet together; what a filter leaves no memory of finds nothing."""
    query = "the prices, λ, orders, deliveries, results, extract, mean, 売上"

    assert set(titles(week_store.search(query, filters=filters))) <= expected
    assert set(titles(week_store.browse(filters=filters))) == expected
    if expected:
        assert titles(week_store.search(query, filters=filters, profile="trovella"))


def test_a_filter_by_path(week_store, week_memories):
    """A path is a file or a folder with all below it."""
    source = week_memories["Holdout results"].source
    folder = source.rpartition("/notes/")[0]

    assert titles(week_store.browse(filters={"path": source})) == ["Holdout results"]
    assert titles(week_store.browse(filters={"path": folder})) == ["Holdout results", "Means by shop"]
    assert titles(week_store.browse(filters={"path": folder + "/note"})) == []


def test_since_and_until(week_store):
    """since is included, and so is a day that is given as until."""
    third = {"Means by shop", "Poisson λ", "Zürich and Genève"}

    assert set(titles(week_store.browse(since="2026-03-03", until="2026-03-03"))) == third
    assert set(titles(week_store.browse(since=date(2026, 3, 3), until=date(2026, 3, 3)))) == third
    assert set(titles(week_store.browse(filters={"since": "2026-03-03", "until": "2026-03-03"}))) == third
    noon = datetime(2026, 3, 3, 12, tzinfo=UTC)
    assert set(titles(week_store.browse(since="2026-03-03", until=noon))) == {"Means by shop", "Poisson λ"}
    assert titles(week_store.search("prices", since=datetime(2026, 3, 3, 17, tzinfo=UTC), until=noon.replace(hour=18)))
    assert titles(week_store.search("joining orders", until="2026-03-04")) != titles(
        week_store.search("joining orders")
    )


def test_relative_times_count_from_now(week_store, now):
    """ "yesterday" is the day before the moment that was given as now."""
    assert titles(week_store.search("joining orders holdout", since="yesterday", until="yesterday", now=now)) == [
        "Joining orders",
        "Holdout results",
    ]
    assert len(week_store.search("joining orders holdout", since="yesterday", now="2027-01-01")) == 0


def test_now_is_what_ages_count_from(week_store, now):
    """A year later the same memory is worth half for its age."""
    fresh, old = (week_store.search("λ", now=moment).iloc[0] for moment in (now, now + timedelta(days=365)))

    assert fresh["memory_id"] == old["memory_id"]
    assert fresh["value_recency"] > 0.98 and old["value_recency"] == pytest.approx(0.5, abs=0.01)
    assert fresh["score"] - old["score"] == pytest.approx(fresh["contrib_recency"] - old["contrib_recency"])


def test_tags_and_domain_leave_nothing_out(week_store, now):
    """Tags and a domain beside the query are evidence for profiles that read it; no hit goes missing for them."""
    plain = week_store.search("prices", now=now)
    more = week_store.search("prices", tags="rule", domain="forecasting", now=now)

    assert titles(more) == titles(plain) and more["score"].equals(plain["score"])
    query = week_store.hits("prices", tags="rule", domain="forecasting").query
    assert (query.tags, query.domain) == (("rule",), "forecasting")


def test_profiles(week_store):
    """A search names its profile, the store its default; a wrong name is answered with the right ones."""
    assert week_store.search("λ", profile="trovella").attrs["memsearch"]["profile"] == "trovella"
    assert week_store.profile.name == "auto"
    with pytest.raises(UnknownProfile, match="Did you mean 'trovella'"):
        week_store.search("λ", profile="trovela")


def test_the_profile_of_a_store(store):
    """The profile that a store is opened with ranks its searches."""
    memory = store(profile="trovella")
    memory.add("λ")

    assert memory.hits("λ").profile == "trovella"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"query": ""}, "There is nothing to search for: type some words"),
        ({"query": None}, "A query is a string, not NoneType"),
        ({"limit": 0}, "limit is the number of hits wanted"),
        ({"mode": "short"}, "mode is 'full' or 'scan', not 'short'"),
        ({"filters": {"kinds": "cell"}}, "Did you mean 'kind'"),
        ({"since": "blue moon"}, "'blue moon' is not a time"),
        ({"since": "2026-03-05", "until": "2026-03-01"}, "since is not before until"),
    ],
)
def test_a_search_that_cannot_be_read(week_store, options, message):
    """What cannot be read is a QueryError that says what can."""
    with pytest.raises(QueryError, match=message):
        week_store.search(**{"query": "prices", **options})
