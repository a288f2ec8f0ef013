"""Bad queries and options: they are answered, or an error says what to do."""

from __future__ import annotations

import pytest
from any_text import MEGABYTE, anything
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jupyter_memory import QueryError, UnknownProfile


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\0", "\0 \0", '"', '""'])
def test_an_empty_query(week_store, query):
    """A query without words is refused with what to type."""
    with pytest.raises(QueryError, match="nothing to search for: type some words"):
        week_store.search(query)


@pytest.mark.parametrize("query", [None, 5, b"prices", ["prices"]])
def test_a_query_that_is_no_text(week_store, query):
    """What is no string is refused by its type."""
    with pytest.raises(QueryError, match="A query is a string, not"):
        week_store.search(query)


@pytest.mark.parametrize("query", ["the of and", "?", "...", '"*"', "*", "NEAR(", ":", "-", "🚚", "\ufeff", "\ud800"])
def test_a_query_that_says_little(week_store, query):
    """Stop words, marks and FTS5's syntax are searched as they stand, and an answer comes."""
    answer = week_store.hits(query)
    assert answer.query.text and len(answer.hits) <= 10
    assert week_store.stats()["memories"] == 10


@pytest.mark.parametrize(
    "query",
    ["price λ " * 2_500, "x" * 20_000, "東" * 20_000, "_" * 20_000, '"' * 20_000, "a." * 10_000, "' " * 10_000],
    ids=["words", "x", "東", "underscores", "quotes", "dots", "apostrophes"],
)
def test_the_longest_query(week_store, query):
    """A page pasted as a query is answered."""
    try:
        assert len(week_store.hits(query).hits) <= 10
    except QueryError:
        assert not query.strip("\"' ")


@pytest.mark.parametrize("ask", ["search", "hits", "trace", "explain", "pooled"])
def test_a_query_that_is_too_long(week_store, week_memories, ask):
    """A whole document pasted as a query is refused at once by each door, with the limit and what to do instead."""
    more = [week_memories["Poisson λ"].id] if ask == "explain" else []
    with pytest.raises(QueryError, match=r"has 1,000,000 characters; it may have up to 20,000\. Search for the words"):
        getattr(week_store, ask)("x" * MEGABYTE, *more)


@pytest.mark.parametrize("options", [{"since": "1 " * 500_000}, {"filters": {"until": "x" * MEGABYTE}}], ids=list)
def test_a_time_that_is_too_long(week_store, options):
    """A megabyte is no time, and is not read as one; the message does not repeat it."""
    with pytest.raises(QueryError, match=r"^A time has up to 100 characters; this one has 1,000,000\."):
        week_store.hits("prices", **options)


@settings(max_examples=40)
@given(text=anything)
@example(text="\x1a*")
def test_any_text_can_be_asked(busy, text):
    """Whatever is asked, there is an answer, or it was blank."""
    try:
        busy.hits(text)
    except QueryError:
        assert not text.strip("\0 \"'“”‘’").strip()


# -- options -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"filters": {"kinds": "cell"}},
        {"filters": {5: "cell"}},
        {"filters": {"kind": "novel"}},
        {"filters": {"tag": 5}},
        {"filters": {"tag": [5]}},
        {"filters": {"path": ""}},
        {"filters": {"path": ["/a", " "]}},
        {"filters": ["cell"]},
        {"filters": "kind:cell"},
        {"filters": {"since": 5}},
        {"since": "someday"},
        {"since": "2026-03-05", "until": "2026-03-01"},
        {"limit": 0},
        {"limit": -1},
        {"limit": "many"},
        {"limit": 2.5},
        {"mode": "quick"},
        {"profile": "bogus"},
        {"profile": 5},
        {"now": "someday"},
    ],
    ids=str,
)
def test_options_that_are_wrong(week_store, options):
    """A filter, time, limit, mode or profile that cannot be read is refused; so it is when browsing and forgetting."""
    with pytest.raises((QueryError, UnknownProfile)):
        week_store.search("prices", **options)
    if set(options) == {"filters"}:
        with pytest.raises(QueryError):
            week_store.browse(**options)
        with pytest.raises(QueryError):
            week_store.forget(**options)
    assert week_store.stats()["memories"] == 10


def test_as_much_as_there_is(week_store):
    """A limit beyond all bounds brings what there is; a filter takes any number of values, of paths a thousand."""
    assert len(week_store.hits("the prices λ", limit=10**30, profile="trovella").hits) == 10
    many = [f"tag {i}" for i in range(50_000)]
    assert len(week_store.browsed(filters={"tag": ["prices", *many]}).hits) == 3
    with pytest.raises(QueryError, match="up to 1,000 values"):
        week_store.browsed(filters={"path": many})


@settings(max_examples=40)
@given(
    filters=st.dictionaries(
        st.sampled_from(["tag", "kind", "tier", "path", "lang", "space", "session", "since", "until", "tags"]),
        st.one_of(
            anything, st.lists(anything, max_size=3), st.none(), st.integers(), st.sampled_from(["cell", "core"])
        ),
        max_size=3,
    )
)
@example(filters={"path": "~nobody-of-this-name/x"})
@example(filters={"path": "a\0b"})
def test_any_filter_is_read_or_refused(busy, filters):
    """Whatever is given as a filter, there is an answer or a QueryError; forgetting by it removes nothing more."""
    try:
        chosen = busy.browsed(limit=1000, filters=filters).hits
    except QueryError:
        return
    assert len(busy.hits("prices", filters=filters, limit=1000).hits) <= len(chosen)
