"""What a person typed, read: any text at all is a query, or an error that says what to do."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from unicodedata import normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_memory import QueryError
from jupyter_memory.search import parse
from jupyter_memory.search.query.parser import MAX_TERMS, query_class, terms
from jupyter_memory.text import STOP_WORDS
from jupyter_memory.types import Filters, Terms

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)

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


@given(text=st.text(st.characters(categories=("L", "N", "P", "Z"))))
def test_something_to_look_up_is_never_lost(text):
    """A text with a letter or a digit in it gives at least one term, however little it says."""
    assert bool(terms(text)) == bool(re.search(r"[^\W_]", text))


@given(words=st.lists(st.sampled_from([*sorted(STOP_WORDS - {"it's", "let's", "what's"}), "I", "x", "7"]), min_size=1))
def test_stop_words_alone_are_kept(words):
    """A query of stop words and single characters is searched as it stands."""
    assert set(terms(" ".join(words)).words) == {word.lower() for word in words}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how does JWT validation work", Terms(words=("jwt", "validation", "work"))),
        ("The prices, the PRICES!", Terms(words=("prices",))),
        ("what's a λ worth", Terms(words=("worth",))),
        ("don’t drop the rows", Terms(words=("drop", "rows"))),
        ("don't drop the rows", Terms(words=("drop", "rows"))),
        ("the customer’s orders, Łukasz's", Terms(words=("customer", "orders", "łukasz"))),
        ("d'après l'index", Terms(words=("d'après", "l'index"))),
        ("x y", Terms(words=("x", "y"))),
        ("to be or not", Terms(words=("to", "be", "or", "not"))),
        ('"left join" keys', Terms(words=("keys",), phrases=("left join",))),
        ('the "to be" of it', Terms(phrases=("to be",))),
        ('" left join "', Terms(phrases=("left join",))),
        ('keys "left join', Terms(words=("keys", "left", "join"))),
        ('"?!" the', Terms(words=("the",))),
        ('""', Terms()),
        ("?!", Terms()),
        ("FileSyncService", Terms(words=("filesyncservice", "file sync service", "file", "sync", "service"))),
        ("HTTPServer2", Terms(words=("httpserver2", "http server 2", "http", "server"))),
        ("snake_case_name", Terms(words=("snake_case_name", "snake", "case", "name"))),
        ("_private", Terms(words=("_private",))),
        ("df.groupby('shop')", Terms(words=("df.groupby", "df", "groupby", "shop"))),
        ("version 1.0.21.", Terms(words=("version", "1.0.21"))),
        ("Zürich Größe", Terms(words=("zürich", "größe"))),
        (
            "ÜbersichtFürZürich",
            Terms(words=("übersichtfürzürich", "übersicht für zürich", "übersicht", "für", "zürich")),
        ),
        ("正規化", Terms(ident=("正規", "規化"))),
        ("塔", Terms(ident=("塔",))),
        ("の the 東京", Terms(ident=("の", "東京"))),
        ("pandasの使い方", Terms(words=("pandas",), ident=("の使", "使い", "い方"))),
        ("GPU東京2026", Terms(words=("gpu", "2026"), ident=("東京",))),
        ('"価格" pandas', Terms(words=("pandas",), phrases=("価格",), ident=("価格",))),
        ("AND OR NOT NEAR(", Terms(words=("near",))),
        ("title:prices -drop ^a*", Terms(words=("title", "prices", "drop"))),
        ("the ﬁle in m²", Terms(words=("ﬁle", "file", "m²", "m2", "m ²"))),
        ("🚚 late", Terms(words=("late",))),
        ("שלום עולם", Terms(words=("שלום", "עולם"))),
        ("user@example.org", Terms(words=("user", "example.org", "example", "org"))),
    ],
)
def test_terms(text, expected):
    """Words without stop words, quoted phrases whole, identifiers whole and in parts, CJK by pairs."""
    assert terms(text) == expected


def test_a_pasted_document_is_cut():
    """A page gives the first 64 terms of each kind; a whole document is refused."""
    text = " ".join(f'word{i} "phrase {i}" {chr(0x4E00 + i)}{chr(0x4E01 + i)}' for i in range(700))
    query = parse(text, now=NOW)

    with pytest.raises(QueryError, match="may have up to 20,000"):
        parse(text + " " * 20_000, now=NOW)
    assert query.terms.words[0] == "word0" and query.terms.phrases[-1] == f"phrase {MAX_TERMS - 1}"
    assert [len(kind) for kind in (query.terms.words, query.terms.phrases, query.terms.ident)] == [MAX_TERMS] * 3


def test_a_word_that_is_none():
    """A thousand characters in a row are a blob, not a word to look up."""
    assert terms("λ" * 1000 + " prices") == Terms(words=("prices",))


@pytest.mark.parametrize("text", ["", " \n\t", "\0", "\0 \0"])
def test_nothing_to_search_for(text):
    """An empty query is an error that says what to type."""
    with pytest.raises(QueryError, match="nothing to search for: type some words"):
        parse(text, now=NOW)


@pytest.mark.parametrize("text", [None, 7, b"prices", ["prices"]])
def test_a_query_is_a_string(text):
    """What is no string is refused by its type, without a trace of its value."""
    with pytest.raises(QueryError, match=f"A query is a string, not {type(text).__name__}"):
        parse(text, now=NOW)


@pytest.mark.parametrize("limit", [0, -1, 2.5, "3", None])
def test_limit_is_a_positive_number(limit):
    """limit has to be a whole number, 1 or more."""
    with pytest.raises(QueryError, match=re.escape(f"limit is the number of hits wanted, 1 or more; it was {limit!r}")):
        parse("prices", now=NOW, limit=limit)


def test_a_query_holds_all_it_was_asked():
    """Options travel with the query, and its text is composed and without NULs."""
    query = parse(
        normalize("NFD", " Zürich\0 "), now=NOW, limit=3, filters=Filters(kind=("cell",)), tags=("λ",), domain="sales"
    )

    assert (query.text, query.limit, query.filters.kind) == ("Zürich", 3, ("cell",))
    assert (query.tags, query.domain, query.now) == (("λ",), "sales", NOW)
    assert query.terms.words == ("zürich",)


@pytest.mark.parametrize(
    ("count", "name"),
    [(1, "keyword"), (3, "keyword"), (4, "balanced"), (6, "balanced"), (7, "semantic"), (40, "semantic")],
)
def test_query_class(count, name):
    """One to three words are keywords, up to six balanced, more a question; stop words count."""
    assert query_class(" ".join(["the"] * count)) == name
    assert parse("\n".join(["λ"] * count), now=NOW).query_class == name


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("electricity pric", "pric"),
        ("Pric", "pric"),
        ("pric ", None),
        ("the df.group", "df.group"),
        ("a", None),
        ("prices?", None),
        ('prices "left jo', "jo"),
        ('prices "left join"', None),
        ("東京", None),
        ("naïv", "naïv"),
    ],
)
def test_the_last_word_may_be_unfinished(text, prefix):
    """While typing, the last word may go on, unless something follows it; elsewhere words are whole."""
    assert parse(text, now=NOW, prefix=True).terms.prefix == prefix
    assert parse(text, now=NOW).terms.prefix is None


def test_the_class_of_a_script_without_spaces():
    """A question of many characters is no keyword, though it has no spaces."""
    assert query_class("東京都の価格") == "keyword"
    assert query_class("先週の電力価格をどのように正規化しましたか") == "semantic"
