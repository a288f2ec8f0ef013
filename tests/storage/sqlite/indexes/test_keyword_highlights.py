"""What is marked in the texts that words found: the spans that FTS5 marks, in code points."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jupyter_memory.search.profiles import auto
from jupyter_memory.search.query.parser import terms
from jupyter_memory.storage.sqlite.indexes import keyword, keyword_query
from jupyter_memory.types import Filters, Terms

marked = ["Zu\u0308rich", "e\u0301", "\u0301", "👩\u200d🔬", "🚚"]
telling = st.sampled_from(["price", "Prices", "λ", "Λ", "zürich", "naïve", "東京", "'", "-", "_", *marked])
glue = st.sampled_from([" ", "  ", "\n", ", ", "", "🚚", "—", "\u200d"])


@settings(max_examples=150)
@given(
    parts=st.lists(st.tuples(telling, glue), min_size=1, max_size=12),
    words=st.lists(st.sampled_from(["price", "λ", "zurich", "naive", "price λ", "é"]), min_size=1, max_size=3),
)
@example(parts=[("Zu\u0308rich", "🚚"), ("Prices", " ")], words=["zurich", "price"])
def test_highlights_are_those_of_fts5(index_of_one, parts, words):
    """Emoji, combining marks and all: the spans are where FTS5's highlight() puts its marks, in code points."""
    text = "".join(word + between for word, between in parts)
    connection = index_of_one
    connection.execute("savepoint one")
    try:
        connection.execute(
            """
            insert into memories (id, kind, tier, event_at, indexed_at, content_hash)
            values ('x', 'note', 'note', 0, 0, 'x')
            """
        )
        key = connection.last_insert_rowid()
        connection.execute("insert into texts values (?, ?)", (key, text))
        connection.execute("insert into chunks (memory, start, stop) values (?, 0, ?)", (key, len(text)))
        chunk = connection.last_insert_rowid()
        connection.execute("insert into keyword (rowid, text) values (?, ?)", (chunk, text))
        asked = Terms(phrases=tuple(words))
        marked = connection.execute(
            "select highlight(keyword, 2, char(2), char(3)) from keyword where keyword match ? and rowid = ?",
            (keyword_query.expression(asked, auto.columns), chunk),
        ).fetchone()
        expected, at = [], 0
        for character in marked[0] if marked else "":
            if character == "\x02":
                expected.append([at])
            elif character == "\x03":
                expected[-1].append(at)
            else:
                at += 1
        spans = keyword.highlights(connection, asked, auto.columns, {chunk: text})
        assert [list(span) for span in spans[chunk]] == expected
    finally:
        connection.execute("rollback to one")
        connection.execute("release one")


def test_highlights_where_the_text_has_marks_of_its_own(database, remember):
    """Control characters in a text move no highlight."""
    opened = database()
    text = "\x02 the \x03 price \x02 of Zürich"
    remember(opened, text)
    spans = keyword.highlights(opened.connection, terms("prices of Zürich"), auto.columns, {1: text})

    assert [text[start:end] for start, end in spans[1]] == ["price", "Zürich"]


@pytest.mark.parametrize("query", ["file", "ﬁle", "files of m2", "FILE m²"])
def test_ligatures(database, remember, query):
    """A word with a ligature or a raised digit is found and marked in plain characters, and the other way round."""
    opened = database()
    texts = ["Zürich: the ﬁle has 12 m², naïve λ", "Zürich: the file has 12 m2, naive λ", "Zürich: nothing of it, λ"]
    remember(opened, *texts)
    asked = terms(query)
    found = keyword.search(opened.connection, asked, auto.columns, Filters(), 10)
    spans = keyword.highlights(opened.connection, asked, auto.columns, dict(enumerate(texts, start=1)))
    marked = [[texts[chunk - 1][start:end] for start, end in spans[chunk]] for chunk in (1, 2, 3)]

    assert {one.chunk for one in found} == {1, 2}
    assert marked in ([["ﬁle"], ["file"], []], [["ﬁle", "m²"], ["file", "m2"], []])
