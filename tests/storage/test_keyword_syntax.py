"""Nothing of FTS5's own language: whatever is asked is looked up as words."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st
from words_asked import texts_found

from jupyter_memory.ranking.profiles import auto
from jupyter_memory.ranking.query import parse
from jupyter_memory.storage import expressions

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


@settings(max_examples=200)
@given(st.lists(st.one_of(st.sampled_from(SYNTAX), st.text(max_size=5)), min_size=1))
def test_syntax_is_harmless(index_of_one, pieces):
    """No string of FTS5's syntax, nor any other text, is an error or an operator."""
    try:
        query = parse(" ".join(pieces), now=NOW)
    except ValueError:
        return
    expression = expressions.expression(query.terms, auto.columns)
    if expression is not None:
        index_of_one.execute("select count(*) from keyword where keyword match ?", (expression,)).fetchall()


def test_operators_are_words(database, remember):
    """AND, OR, NOT and column names are looked up as words: they leave nothing out."""
    opened = database()
    remember(opened, "price of power", "text of the title")

    for query in ("price NOT power", "price AND nothing", "text:price", "^price", "pri* price", "NEAR(price power, 1)"):
        assert "price of power" in texts_found(opened, query), query
    assert texts_found(opened, "text: title") == ["text of the title"]
