"""What a caller selects memories by: read where it can be, refused with a hint where it cannot."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory import QueryError
from jupyter_memory.search import filters_from
from jupyter_memory.text import moment
from jupyter_memory.types import KINDS, TIERS, Filters

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)


@pytest.fixture
def zurich(monkeypatch):
    """Let local time be that of Zürich, an hour before UTC in winter."""
    monkeypatch.setenv("TZ", "Europe/Zurich")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def selected(filters=None, since=None, until=None):
    """Return filters as of Friday evening."""
    return filters_from(filters, since, until, NOW)


def test_nothing_is_filtered_unless_asked():
    """No filters, empty ones and facets of None are no filter."""
    assert not selected()
    assert not selected({}) and not selected(Filters()) and not selected({"kind": None, "tag": ()})


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [("λ", ("λ",)), (["a", "b"], ("a", "b")), ({"a"}, ("a",)), (Path("reports") / "Zürich", ("reports/Zürich",))],
)
def test_a_value_or_several(given_value, expected):
    """A facet takes a string, a path, or several of them."""
    assert selected({"path": given_value}).path == expected


def test_filters_go_in_as_they_are():
    """Filters that are made already are read like a mapping, their times too."""
    made = Filters(kind=("cell",), tag=("λ",), since=NOW)

    assert selected(made) == made
    assert selected(made, until=NOW + timedelta(days=1)).until == NOW + timedelta(days=1)


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"kinds": "cell"}, r"There is no filter 'kinds'\. Did you mean 'kind'\? Known: tag, kind, tier, "),
        ({"λ": "cell"}, r"There is no filter 'λ'\. Known: "),
        ({"kind": "cells"}, r"There is no kind 'cells'\. Did you mean 'cell'\? Known: note, file, cell, history"),
        ({"tier": ["core", "gold"]}, r"There is no tier 'gold'\. Known: core, file, mcp, note"),
        ({"tag": 5}, "The filter 'tag' takes a string or several"),
        ({"tag": ["a", 5]}, "The filter 'tag' takes a string or several"),
        ({"since": 2026}, "A time is a string, a date or a datetime, not int"),
        ({"since": "blue moon"}, "'blue moon' is not a time that can be read"),
        (["kind", "cell"], "filters is a mapping such as {'kind': 'cell'}, not list"),
        ({"since": "2026-03-05", "until": "2026-03-01"}, "since is not before until"),
    ],
)
def test_what_cannot_be_read(filters, message):
    """A mistake is answered with what there is."""
    with pytest.raises(QueryError, match=message):
        selected(filters)


# What a store can hold: no NUL, no half of a surrogate pair.
storable = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
KNOWN = {"kind": st.sampled_from(KINDS), "tier": st.sampled_from(TIERS), "path": storable.filter(str.strip)}
FACETS = {name: KNOWN.get(name, storable) for name in ("tag", "kind", "tier", "path", "lang", "space", "session")}


@given(filters=st.fixed_dictionaries({}, optional={name: st.lists(one) for name, one in FACETS.items()}))
def test_every_facet_is_kept(filters):
    """What goes in comes out, facet by facet; what was left out stays empty."""
    found = selected(filters)

    assert {name: list(getattr(found, name)) for name in FACETS} == {name: filters.get(name, []) for name in FACETS}


@given(
    filters=st.dictionaries(
        st.sampled_from([*FACETS, "since", "until", "λ"]),
        st.none() | st.integers() | st.text() | st.lists(st.text() | st.integers()) | st.dates() | st.floats(),
    )
)
def test_any_mapping_is_read_or_refused(filters):
    """Whatever stands in a mapping, it is either a filter or a QueryError."""
    try:
        found = selected(filters)
    except QueryError:
        return
    assert all(isinstance(value, str) for name in FACETS for value in getattr(found, name))


# -- times -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "start", "end"),
    [
        ("2026-03-02", "2026-03-01T23:00Z", "2026-03-02T23:00Z"),
        (date(2026, 3, 2), "2026-03-01T23:00Z", "2026-03-02T23:00Z"),
        ("last week", "2026-02-22T23:00Z", "2026-03-01T23:00Z"),
        (datetime(2026, 3, 2, 9, 15), "2026-03-02T08:15Z", "2026-03-02T08:15Z"),
        (datetime(2026, 3, 2, 9, 15, tzinfo=UTC), "2026-03-02T09:15Z", "2026-03-02T09:15Z"),
        (datetime(2026, 3, 2, 9, tzinfo=timezone(timedelta(hours=9))), "2026-03-02T00:00Z", "2026-03-02T00:00Z"),
        (pd.Timestamp("2026-03-02 09:15"), "2026-03-02T08:15Z", "2026-03-02T08:15Z"),
        (pd.Timestamp("2026-03-02 09:15", tz="Asia/Tokyo"), "2026-03-02T00:15Z", "2026-03-02T00:15Z"),
    ],
)
@pytest.mark.usefixtures("zurich")
def test_moments(value, start, end):
    """Naive times are local, aware ones keep their moment, and an ``until`` that names a day includes it."""
    assert moment(value, NOW) == datetime.fromisoformat(start)
    assert moment(value, NOW, end=True) == datetime.fromisoformat(end)


@pytest.mark.parametrize("value", [None, pd.NaT])
def test_no_time(value):
    """None is no time, nor is what pandas has for it."""
    assert moment(value, NOW) is None


def test_a_moment_is_plain_and_in_utc():
    """A Timestamp becomes a datetime, its nanoseconds cut off."""
    found = moment(pd.Timestamp("2026-03-02 09:15:00.123456789", tz="UTC"), NOW)

    assert type(found) is datetime and found.tzinfo is UTC
    assert found.microsecond == 123456


def test_what_is_no_time():
    """numpy's times have no zone and no clear moment: they are refused by type."""
    with pytest.raises(QueryError, match="not datetime64"):
        moment(np.datetime64("2026-03-02"), NOW)
