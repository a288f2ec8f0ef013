"""Filters typed among the words of a query."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory import QueryError
from jupyter_memory.search import parse
from jupyter_memory.search.query.filter_syntax import split
from jupyter_memory.types import Filters

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)


def day(text):
    """Return the first moment of a day of this machine's clocks."""
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize(
    ("text", "rest", "filters"),
    [
        ("tag:prices normalise", "normalise", Filters(tag=("prices",))),
        ("normalise tag:prices the λ", "normalise the λ", Filters(tag=("prices",))),
        ('tag:"two words" join', "join", Filters(tag=("two words",))),
        ("tag:a tag:b x", "x", Filters(tag=("a", "b"))),
        ("kind:cell,note x", "x", Filters(kind=("cell", "note"))),
        ("-tag:draft x", "x", Filters(not_tag=("draft",))),
        ("-kind:cell -kind:file x", "x", Filters(not_kind=("cell", "file"))),
        ("path:/data/λ.ipynb x", "x", Filters(path=("/data/λ.ipynb",))),
        ('path:"my notes/a, b.md" x', "x", Filters(path=("my notes/a, b.md",))),
        ("lang:python tier:core space:shops session:s1 x", "x",
         Filters(lang=("python",), tier=("core",), space=("shops",), session=("s1",))),
        ("after:2026-03-01 x", "x", Filters(since=day("2026-03-02"))),
        ("since:2026-03-01 x", "x", Filters(since=day("2026-03-01"))),
        ("before:2026-03-01 x", "x", Filters(until=day("2026-03-01"))),
        ("until:2026-03-01 x", "x", Filters(until=day("2026-03-02"))),
        ("on:2026-02 x", "x", Filters(since=day("2026-02-01"), until=day("2026-03-01"))),
        ('on:"last month" x', "x", Filters(since=day("2026-02-01"), until=day("2026-03-01"))),
        ("on:2026-02 after:2026-02-10 x", "x", Filters(since=day("2026-02-11"), until=day("2026-03-01"))),
        ("x kind:cell", "x", Filters(kind=("cell",))),
        ('"left join" tag:a', '"left join"', Filters(tag=("a",))),
        ("tag:a", "", Filters(tag=("a",))),
        ("groupby -pandas", "groupby", Filters(not_word=("pandas",))),
        ("-Zürich prices -draft tag:a", "prices", Filters(tag=("a",), not_word=("Zürich", "draft"))),
        ("-pandas", "", Filters(not_word=("pandas",))),
    ],
)  # fmt: skip
def test_filters_are_taken_out(text, rest, filters):
    """A typed filter leaves the text and filters; the words around it stay as they are."""
    assert split(text, NOW) == (rest, filters)
    query = parse(text, now=NOW)
    assert (query.text, query.filters, query.written) == (rest, filters, text)


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:8888/lab", "dict: key", "a:b", "std::sort", "df.loc[:, 'tag:']", "author:x", "tag: draft",
        "kind :cell", "x-tag:draft", "subtag:x", "tag::x", '"tag:draft" notes', 'the "kind:cell and more" of it',
        "mytag:x kinds:y", "{tag:1}", "Tag:x", 'tag:"unfinished quote', "--tag:draft", "title:λ", "kind:", "on: monday",
        "path:", "f(on:x)",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_filter(text):
    """Colons of code, of addresses and of sentences are text."""
    assert split(text, NOW) == (text, Filters())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind:cels x", "There is no kind 'cels'. Did you mean 'cell'? Known: note, file, cell, history."),
        ("-tier:gold x", "There is no tier 'gold'. Known: core, file, mcp, note."),
        ("kind:Celll x", "There is no kind 'Celll'. Did you mean 'cell'?"),
        ("after:soonish x", "after:soonish: 'soonish' is not a time that can be read."),
        ("on:click handler", "To search for the words, put them in quotation marks."),
        ("before:03/04/2026", "is one day in Europe and another in America"),
        ("-on:2026-03-01 x", "a time cannot be excluded. Use before: or after: instead."),
        ('tag:"" x', 'tag:"" has no value'),
        ("after:2026-03-05 before:2026-03-01 x", "nothing can lie between"),
    ],
)
def test_mistakes_are_answered_with_what_to_type(text, says):
    """A value that does not exist or cannot be read is an error that names the nearest or the forms there are."""
    with pytest.raises(QueryError) as error:
        parse(text, now=NOW)
    assert says in str(error.value)


def test_typed_filters_only_narrow():
    """What is typed holds together with the filters given beside the text, also where both name the same facet."""
    given_filters = Filters(tag=("λ",), kind=("note",), since=day("2026-03-01"))
    query = parse("tag:prices since:2026-02-01 x", now=NOW, filters=given_filters)

    assert query.filters == Filters(tag=("prices",), since=day("2026-02-01"), also=given_filters)
    assert parse("-tag:draft x", now=NOW, filters=given_filters).filters == Filters(
        tag=("λ",), kind=("note",), since=day("2026-03-01"), not_tag=("draft",)
    )


def test_filters_alone_leave_no_text():
    """A query of nothing but filters has no words and no text: it lists."""
    query = parse('kind:cell tag:"λ ü"', now=NOW)
    assert (query.text, bool(query.terms)) == ("", False)


def test_time_in_the_text_is_found_beside_typed_filters():
    """The anchor's place is its place in the text that is searched for."""
    query = parse("kind:cell what failed last week tag:a", now=NOW)
    assert query.temporal and query.text[query.temporal.start : query.temporal.end] == "last week"


PIECES = (
    "tag:a", "-tag:", "kind:cell", "kind:x", "on:2026", "after:λ", '"a b"', 'tag:"x y"', ":", "::", "a:b", "λ",
    "-lang:python", "before:2026-02-30", '"',
)  # fmt: skip


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=8))
def test_any_mixture_is_read_or_refused(pieces):
    """Whatever is typed, it is a query or a QueryError, and what stays is made of what was typed."""
    text = " ".join(pieces)
    try:
        rest, filters = split(text, NOW)
    except QueryError:
        return
    assert set(rest.split()) <= set(text.split())
    assert bool(filters) == (rest != text)


@pytest.mark.parametrize(
    "text",
    [
        "ls -la",
        "pip install -U x",
        "git commit -m x",
        "a - b",
        "x -1 y",
        '"-pandas" x',
        "left-join",
        "--limit x",
        "a\n-pandas",
        "x" * 200 + " -pandas",
    ],
)
def test_a_dash_that_leaves_nothing_out(text):
    """A switch of one or two letters, a quoted dash, one within a word, or one in a text that was pasted stays text."""
    assert split(text, NOW) == (text, Filters())
