"""Nothing of FTS5's own language: whatever is asked is looked up as words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from words_asked import texts_found

from jupyter_memory.search import parse
from jupyter_memory.search.profiles import auto
from jupyter_memory.storage.sqlite.indexes import keyword_query

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)


SYNTAX = [
    '"',
    "*",
    "NEAR(",
    ":",
    "AND",
    "OR",
    "NOT",
    "-",
    "+",
    "^",
    "{",
    "}",
    "(",
    ")",
    "text:",
    ",",
    "'",
    "\\",
    "price",
    "λ",
    "東京",
]


@pytest.fixture(scope="module")
def index_of_price(index_of_one):
    """A connection to a store whose keyword index holds one text: price."""
    index_of_one.execute("insert into keyword (rowid, text) values (1, 'price')")
    return index_of_one


@settings(max_examples=200)
@given(st.lists(st.one_of(st.sampled_from(SYNTAX), st.text(max_size=5)), min_size=1))
def test_syntax_is_harmless(index_of_price, pieces):
    """No string of FTS5's syntax, nor any other text, is an error, or an operator that leaves a word out."""
    try:
        query = parse(" ".join(pieces), now=NOW)
    except ValueError:
        return
    expression = keyword_query.expression(query.terms, auto.columns)
    found = 0
    if expression is not None:
        found = index_of_price.execute("select count(*) from keyword where keyword match ?", (expression,)).get
    assert found == 1 or "price" not in query.terms.words


def test_operators_are_words(database, remember):
    """AND, OR, NOT and column names are looked up as words: they leave nothing out."""
    opened = database()
    remember(opened, "price of power", "text of the title")

    for query in ("price NOT power", "price AND nothing", "text:price", "^price", "pri* price", "NEAR(price power, 1)"):
        assert "price of power" in texts_found(opened, query), query
    assert texts_found(opened, "text: title") == ["text of the title"]
