"""Option values as arguments of the store."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jupyter_memory import QueryError
from jupyter_memory.interface import ADD, SEARCH, memory_of, refuse_unquoted_times, search_of
from jupyter_memory.interface.options import BROWSE, FORGET, filters_of, forget_of
from jupyter_memory.types import FACETS, Filters

NOW = datetime(2026, 11, 21, 19, 0, tzinfo=UTC)


@pytest.mark.parametrize("table", [SEARCH, BROWSE, FORGET, ADD])
def test_no_flag_is_used_twice(table) -> None:
    """Within a command each flag and each name is there once."""
    flags = [flag for option in table for flag in option.flags]

    assert len(flags) == len(set(flags))
    assert len({option.name for option in table}) == len(table)


def test_every_filter_has_an_option() -> None:
    """What can be filtered by in Python can be on a line; what is left out is typed in the query, as -tag:draft."""
    names = {option.name for option in SEARCH}
    typed = {"also", "not_word", *(f"not_{facet}" for facet in FACETS)}

    assert set(Filters.__dataclass_fields__) - typed <= names


def test_filters() -> None:
    """Values become filters: repeated ones once, times as bounds in UTC."""
    filters = filters_of({"tag": ["λ", "ü", "λ"], "kind": ("cell",), "since": "2026-03-01T00:00Z"}, NOW)

    assert filters == Filters(tag=("λ", "ü"), kind=("cell",), since=datetime(2026, 3, 1, tzinfo=UTC))
    assert not filters_of({"tag": None, "kind": ()}, NOW)


def test_until_includes_its_day() -> None:
    """`--until` a day ends when the day is over; `--on` is the day."""
    until = filters_of({"until": "2026-03-31"}, NOW)
    on = filters_of({"on": "2026-03-31"}, NOW)

    assert until.until == on.until
    assert (on.until - on.since).days == 1


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"since": "2026", "until": "2025"}, "Nothing lies between"),
        ({"since": "2026-03-01T10:00Z", "until": "2026-03-01T10:00Z"}, "Nothing lies between"),
        ({"on": "2025", "since": "2024"}, "--on names the whole period"),
        ({"since": "soonish"}, "soonish"),
    ],
)
def test_times_that_do_not_fit(values: dict[str, str], says: str) -> None:
    """Times that exclude each other, or cannot be read, are refused."""
    with pytest.raises(QueryError, match=says):
        filters_of(values, NOW)


def test_what_is_not_given_is_left_to_the_store() -> None:
    """Options without a value are not arguments, so that the settings count."""
    assert search_of({"limit": None, "profile": None, "domain": None}, NOW) == {"filters": Filters(), "now": NOW}
    assert memory_of({"title": None, "tag": None, "event_at": None}, NOW) == {}


def test_forgetting_needs_one_choice() -> None:
    """Nothing, or everything beside a part, is refused."""
    for ids, values in (([], {}), (["a"], {"everything": True}), ([], {"everything": True, "tag": ["λ"]})):
        with pytest.raises(QueryError):
            forget_of(ids, values, NOW)
    assert forget_of([], {"everything": True}, NOW)["everything"] is True
    assert forget_of(["a"], {}, NOW)["ids"] == ["a"]


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("--since March 2025 prices", '--since "March 2025"'),
        ("prices --until May 8th 2025", '--until "May 8th 2025"'),
        ("--on 5 March müller", '--on "5 March"'),
        ("--since=last week", '--since "last week"'),
        ("--since 3 days ago λ", '--since "3 days ago"'),
    ],
)
def test_a_time_of_several_words_wants_quotes(line: str, quoted: str) -> None:
    """A time that goes on in the words behind its option is refused with the option as it should be written."""
    with pytest.raises(QueryError) as caught:
        refuse_unquoted_times(line.split(), NOW)

    assert str(caught.value).endswith(f"Quote the time: {quoted}.")


@pytest.mark.parametrize(
    "words",
    [
        ["--since", "March", "prices", "2025"],
        ["--since", '"March 2025"', "prices"],
        ["--since", "March 2025", "prices"],
        ["--since", "yesterday", "3", "λ"],
        ["--tag", "March", "2025"],
        ["--since"],
    ],
)
def test_other_words_behind_a_time_are_words(words: list[str]) -> None:
    """What makes no longer time is what is searched for."""
    refuse_unquoted_times(words, NOW)
