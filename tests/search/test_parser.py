"""What a person typed, read: words, phrases and filters, or an error that says what to do."""

import re
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from week import NOW
from zones import zone

from jupyter_memory import QueryError
from jupyter_memory.search import filters_from, parse
from jupyter_memory.text import moment
from jupyter_memory.types import KINDS, TIERS, Filters, Terms

MAX_TERMS = 64


def terms(text):
    return parse(text, now=NOW).terms


# What people paste, and what FTS5 would take for its syntax.
ODD = st.text(
    st.sampled_from(list("aZ09 _.\"'’-*:(){}^+\0\t\n\udc80\u0308\u200dλüŁ東京の\U0001f69aשלום"))
) | st.sampled_from(['"', '""', '"""', "NEAR(a b)", "a AND", "title:x", "*", "-", "^a", 'a "b', "{x}", "\udfff"])


@given(text=st.text() | ODD | st.lists(ODD).map(" ".join))
@example(text="\0")
@example(text='"\ud800"')
def test_any_text_is_a_query_or_a_query_error(text):
    """Parsing never fails otherwise, and never lets through a term that is empty or too many of them."""
    try:
        query = parse(text, now=NOW)
    except QueryError:
        assert not text.replace("\0", " ").strip("\"' \n\t")
        return
    assert query.text == query.text.strip() != ""
    assert query.text.encode()
    found = query.terms
    for kind in (found.words, found.phrases, found.ident):
        assert len(kind) <= MAX_TERMS
        assert len(set(kind)) == len(kind)
        assert all(term.strip() for term in kind)
    assert all(word == word.lower() and re.search(r"\w", word) for word in found.words)


@given(text=st.text(st.characters(categories=("L", "N", "P", "Z"), exclude_characters=":-")).map("λ ".__add__))
def test_something_to_look_up_is_never_lost(text):
    """A text with a letter or a digit in it gives at least one term, however little it says."""
    assert terms(text)
    rest = text.removeprefix("λ ").strip("\"' \n\t")
    assert not rest or bool(terms(rest)) == bool(re.search(r"[^\W_]", rest))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how does JWT validation work", Terms(words=("jwt", "validation", "work"))),
        ("The prices, the PRICES!", Terms(words=("prices",))), ("what's a λ worth", Terms(words=("worth",))),
        ("don’t drop the rows", Terms(words=("drop", "rows"))), ("don't drop the rows", Terms(words=("drop", "rows"))),
        ("the customer’s orders, Łukasz's", Terms(words=("customer", "orders", "łukasz", "lukasz"))),
        ("d'après l'index", Terms(words=("d'après", "l'index"))), ("x y", Terms(words=("x", "y"))),
        ("to be or not", Terms(words=("to", "be", "or", "not"))),
        ('"left join" keys', Terms(words=("keys",), phrases=("left join",))),
        ('the "to be" of it', Terms(phrases=("to be",))), ('" left join "', Terms(phrases=("left join",))),
        ('keys "left join', Terms(words=("keys", "left", "join"))), ('"?!" the', Terms(words=("the",))),
        ("?!", Terms()),
        ("FileSyncService", Terms(words=("filesyncservice", "file sync service", "file", "sync", "service"))),
        ("HTTPServer2", Terms(words=("httpserver2", "http server 2", "http", "server"))),
        ("snake_case_name", Terms(words=("snake_case_name", "snake", "case", "name"))),
        ("_private", Terms(words=("_private",))),
        ("df.groupby('shop')", Terms(words=("df.groupby", "df", "groupby", "shop"))),
        ("version 1.0.21.", Terms(words=("version", "1.0.21"))), ("Zürich Größe", Terms(words=("zürich", "größe"))),
        (
            "ÜbersichtFürZürich",
            Terms(words=("übersichtfürzürich", "übersicht für zürich", "übersicht", "für", "zürich")),
        ),
        ("正規化", Terms(ident=("正規", "規化"))), ("塔", Terms(ident=("塔",))),
        ("の the 東京", Terms(ident=("の", "東京"))),
        ("pandasの使い方", Terms(words=("pandas",), ident=("の使", "使い", "い方"))),
        ("GPU東京2026", Terms(words=("gpu", "2026"), ident=("東京",))),
        ('"価格" pandas', Terms(words=("pandas",), phrases=("価格",), ident=("価格",))),
        ("AND OR NOT NEAR(", Terms(words=("near",))),
        ("title:prices drop ^a*", Terms(words=("title", "prices", "drop"))),
        ("the ﬁle in m²", Terms(words=("ﬁle", "file", "m²", "m2", "m ²"))),
        ("🚚 late", Terms(words=("late",), ident=("u1f69a",))), ("שלום עולם", Terms(words=("שלום", "עולם"))),
        ("user@example.org", Terms(words=("user", "example.org", "example", "org"))),
    ],
)  # fmt: skip
def test_terms(text, expected):
    """Words without stop words, quoted phrases whole, identifiers whole and in parts, CJK by pairs."""
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "limit", "says"),
    [
        *[(text, 10, "nothing to search for: type some words") for text in ("", " \n\t", "\0", "\0 \0", '""')],
        # What is no string is refused by its type, without a trace of its value.
        *[(text, 10, f"A query is a string, not {type(text).__name__}") for text in (None, 7, b"prices", ["prices"])],
        *[("prices", limit, f"limit is the number of hits wanted, 1 or more; it was {limit!r}")
          for limit in (0, -1, 2.5, "3", None)],
        # A filter's value that does not exist or cannot be read.
        ("kind:cels x", 10, "There is no kind 'cels'. Did you mean 'cell'? Known: note, file, cell, history."),
        ("-tier:gold x", 10, "There is no tier 'gold'. Known: core, file, mcp, note."),
        ("kind:Celll x", 10, "There is no kind 'Celll'. Did you mean 'cell'?"),
        ("after:soonish x", 10, "after:soonish: 'soonish' is not a time that can be read."),
        ("on:click handler", 10, "To search for the words, put them in quotation marks."),
        ("before:03/04/2026", 10, "is one day in Europe and another in America"),
        ("-on:2026-03-01 x", 10, "a time cannot be excluded. Use before: or after: instead."),
        ('tag:"" x', 10, 'tag:"" has no value'),
        ("after:2026-03-05 before:2026-03-01 x", 10, "nothing can lie between"),
    ],
)  # fmt: skip
def test_mistakes_are_answered_with_what_to_type(text, limit, says):
    """What cannot be read is an error that names the nearest or the forms there are."""
    with pytest.raises(QueryError, match=re.escape(says)):
        parse(text, now=NOW, limit=limit)


def test_a_query_holds_all_it_was_asked():
    """Options travel with the query; a page gives 64 terms of each kind, a document is refused, a blob is no word."""
    query = parse(
        normalize("NFD", " Zürich\0 "), now=NOW, limit=3, filters=Filters(kind=("cell",)), tags=("λ",), domain="sales"
    )
    assert (query.text, query.limit, query.filters.kind) == ("Zürich", 3, ("cell",))
    assert (query.tags, query.domain, query.now) == (("λ",), "sales", NOW)
    assert query.terms.words == ("zürich",)
    text = " ".join(f'word{i} "phrase {i}" {chr(0x4E00 + i)}{chr(0x4E01 + i)}' for i in range(700))
    query = parse(text, now=NOW)
    with pytest.raises(QueryError, match="may have up to 20,000"):
        parse(text + " " * 20_000, now=NOW)
    assert query.terms.words[0] == "word0" and query.terms.phrases[-1] == f"phrase {MAX_TERMS - 1}"
    assert [len(kind) for kind in (query.terms.words, query.terms.phrases, query.terms.ident)] == [MAX_TERMS] * 3
    assert terms("λ" * 1000 + " prices") == Terms(words=("prices",))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *[("\n".join(["the"] * count), name) for count, name in
          ((1, "keyword"), (3, "keyword"), (4, "balanced"), (6, "balanced"), (7, "semantic"), (40, "semantic"))],
        ("λ λ λ λ", "balanced"),
        # A question of many characters is no keyword, though it has no spaces.
        ("東京都の価格", "keyword"), ("先週の電力価格をどのように正規化しましたか", "semantic"),
    ],
)  # fmt: skip
def test_query_class(text, name):
    assert parse(text, now=NOW).query_class == name


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("electricity pric", "pric"), ("Pric", "pric"), ("pric ", None),
        ("the df.group", "df.group"), ("a", None), ("prices?", None),
        ('prices "left jo', "jo"), ('prices "left join"', None), ("東京", None),
        ("naïv", "naïv"),
    ],
)  # fmt: skip
def test_the_last_word_may_be_unfinished(text, prefix):
    """While typing, the last word may go on, unless something follows it; elsewhere words are whole."""
    assert parse(text, now=NOW, prefix=True).terms.prefix == prefix
    assert parse(text, now=NOW).terms.prefix is None


def day(text):
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize(
    ("text", "rest", "filters"),
    [
        ("tag:prices normalise", "normalise", Filters(tag=("prices",))),
        ("normalise tag:prices the λ", "normalise the λ", Filters(tag=("prices",))),
        ('tag:"two words" join', "join", Filters(tag=("two words",))),
        ("tag:a tag:b x", "x", Filters(tag=("a", "b"))), ("kind:cell,note x", "x", Filters(kind=("cell", "note"))),
        ("-tag:draft x", "x", Filters(not_tag=("draft",))),
        ("-kind:cell -kind:file x", "x", Filters(not_kind=("cell", "file"))),
        ("path:/data/λ.ipynb x", "x", Filters(path=("/data/λ.ipynb",))),
        ('path:"my notes/a, b.md" x', "x", Filters(path=("my notes/a, b.md",))),
        ("lang:python tier:core space:shops session:s1 x", "x",
         Filters(lang=("python",), tier=("core",), space=("shops",), session=("s1",))),
        ("after:2026-03-01 x", "x", Filters(since=day("2026-03-02"))),
        ("after:2026-03 x", "x", Filters(since=day("2026-03-01"))),
        ("since:2026-03-01 x", "x", Filters(since=day("2026-03-01"))),
        ("before:2026-03-01 x", "x", Filters(until=day("2026-03-01"))),
        ("until:2026-03-01 x", "x", Filters(until=day("2026-03-02"))),
        ("on:2026-02 x", "x", Filters(since=day("2026-02-01"), until=day("2026-03-01"))),
        ('on:"last month" x', "x", Filters(since=day("2026-02-01"), until=day("2026-03-01"))),
        ("on:2026-02 after:2026-02-10 x", "x", Filters(since=day("2026-02-11"), until=day("2026-03-01"))),
        ("x kind:cell", "x", Filters(kind=("cell",))), ('"left join" tag:a', '"left join"', Filters(tag=("a",))),
        ("tag:a", "", Filters(tag=("a",))), ("groupby -pandas", "groupby", Filters(not_word=("pandas",))),
        ("-Zürich prices -draft tag:a", "prices", Filters(tag=("a",), not_word=("Zürich", "draft"))),
        ("-pandas", "", Filters(not_word=("pandas",))), ("oak NOT barn", "oak", Filters(not_word=("barn",))),
        ("oak AND NOT Übermut", "oak", Filters(not_word=("Übermut",))),
        ("NOT barn -oak roof", "roof", Filters(not_word=("barn", "oak"))),
    ],
)  # fmt: skip
def test_filters_are_taken_out(text, rest, filters):
    """A typed filter leaves the text and filters; the words around it stay as they are."""
    query = parse(text, now=NOW)
    assert (query.text, query.filters, query.written) == (rest, filters, text)


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:8888/lab", "dict: key", "a:b", "std::sort", "df.loc[:, 'tag:']", "author:x", "tag: draft",
        "kind :cell", "x-tag:draft", "subtag:x", "tag::x", '"tag:draft" notes', 'the "kind:cell and more" of it',
        "mytag:x kinds:y", "{tag:1}", "Tag:x", 'tag:"unfinished quote', "--tag:draft", "title:λ", "kind:", "on: monday",
        "path:", "f(on:x)",
        # A switch of one or two letters, a quoted dash, one within a word, or one in a text that was pasted.
        "ls -la", "pip install -U x", "git commit -m x", "a - b", "x -1 y", '"-pandas" x', "left-join", "--limit x",
        "a\n-pandas", "x" * 200 + " -pandas",
        # A word of SQL.
        "x IS NOT NULL", "IF NOT EXISTS t", "do not x", "NOT", "NOT a", '"NOT oak" x',
    ],
)  # fmt: skip
def test_what_only_looks_like_a_filter(text):
    """Colons and dashes of code, of addresses and of sentences are text."""
    query = parse(text, now=NOW)
    assert (query.text, query.filters) == (text, Filters())


@pytest.mark.parametrize(
    ("text", "notices"),
    [
        ("tags:cooking λ", ["Did you mean tag:cooking?"]), ('λ -kinds:"cell"', ['Did you mean -kind:"cell"?']),
        ("Path:11_ langs:r", ["Did you mean path:11_?", "Did you mean lang:r?"]),
        ("oak AND barn", ["AND and OR are read as words. To require a word, put it between slashes: /barn/."]),
        ("oak OR λ", ["AND and OR are read as words. To require a word, put it between slashes: /λ/."]),
        *((text, []) for text in ("title:x a:b int:x", "xpath://a https://b.c a::b", '"tags:x" "x AND y"', "x AND")),
        *((text, []) for text in ("tag:cooking λ", "kind=cell λ", "WHERE A AND B", "oak AND NOT barn", "a and b")),
    ],
)  # fmt: skip
def test_what_was_meant_otherwise_is_told(store, text, notices):
    """A near miss of a filter, and words that other programs combine, stay words, and the answer says so."""
    memories = store()
    memories.add("λ of an oak")
    said = memories.hits(text).notices
    assert [one for one in said if one.startswith(("Did you mean", "AND"))] == notices


def test_typed_filters_only_narrow():
    """Typed filters narrow those given beside the text; alone they leave no words; a time is found in what is left."""
    given_filters = Filters(tag=("λ",), kind=("note",), since=day("2026-03-01"))
    query = parse("tag:prices since:2026-02-01 x", now=NOW, filters=given_filters)
    assert query.filters == Filters(tag=("prices",), since=day("2026-02-01"), also=given_filters)
    assert parse("-tag:draft x", now=NOW, filters=given_filters).filters == Filters(
        tag=("λ",), kind=("note",), since=day("2026-03-01"), not_tag=("draft",)
    )
    query = parse('kind:cell tag:"λ ü"', now=NOW)
    assert (query.text, bool(query.terms)) == ("", False)
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
        query = parse(text, now=NOW)
    except QueryError:
        return
    assert set(query.text.split()) <= set(text.split())
    assert bool(query.filters) == (query.text != text)


def selected(filters=None, since=None, until=None):
    return filters_from(filters, since, until, NOW)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        *[(none, Filters()) for none in (None, {}, Filters(), {"kind": None, "tag": ()})],
        # A facet takes a string, a path, or several of them.
        *[({"path": value}, Filters(path=path)) for value, path in
          (("λ", ("λ",)), (["a", "b"], ("a", "b")), ({"a"}, ("a",)), (Path("a") / "Zürich", ("a/Zürich",)))],
        *[(made, made) for made in [Filters(kind=("cell",), tag=("λ",), since=NOW)]],
    ],
)  # fmt: skip
def test_filters_beside_the_text(filters, expected):
    """Empty facets are no filter, and filters that are made already are read like a mapping, their times too."""
    found = selected(filters)
    assert found == expected and bool(found) == (expected != Filters())
    assert selected(filters, until=NOW + timedelta(days=1)).until == NOW + timedelta(days=1)


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


@pytest.mark.parametrize(
    ("value", "start", "end"),
    [
        ("2026-03-02", "2026-03-01T23:00Z", "2026-03-02T23:00Z"),
        (date(2026, 3, 2), "2026-03-01T23:00Z", "2026-03-02T23:00Z"),
        (datetime(2026, 3, 2, 9, 15), "2026-03-02T08:15Z", "2026-03-02T08:15Z"),
        (datetime(2026, 3, 2, 9, 15, tzinfo=UTC), "2026-03-02T09:15Z", "2026-03-02T09:15Z"),
        (datetime(2026, 3, 2, 9, tzinfo=timezone(timedelta(hours=9))), "2026-03-02T00:00Z", "2026-03-02T00:00Z"),
        (pd.Timestamp("2026-03-02 09:15"), "2026-03-02T08:15Z", "2026-03-02T08:15Z"),
        (pd.Timestamp("2026-03-02 09:15", tz="Asia/Tokyo"), "2026-03-02T00:15Z", "2026-03-02T00:15Z"),
    ],
)
def test_moments(value, start, end):
    """Naive times are local, aware ones keep their moment, and an ``until`` that names a day includes it."""
    with zone("Europe/Zurich"):
        assert moment(value, NOW) == datetime.fromisoformat(start)
        assert moment(value, NOW, end=True) == datetime.fromisoformat(end)


def test_moments_of_libraries():
    """A Timestamp becomes a plain datetime in UTC; no time is None; numpy's times, which have no zone, are refused."""
    found = moment(pd.Timestamp("2026-03-02 09:15:00.123456789", tz="UTC"), NOW)
    assert type(found) is datetime and found.tzinfo is UTC and found.microsecond == 123456
    assert moment(None, NOW) is moment(pd.NaT, NOW) is None
    with pytest.raises(QueryError, match="not datetime64"):
        moment(np.datetime64("2026-03-02"), NOW)
