"""The places of words, read from the pages of the keyword index: what FTS5's own table tells, all at once."""

from __future__ import annotations

from random import Random

import apsw
import numpy as np
import pytest
from as_fts5 import scores_are_those_of_fts5
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.storage import keyword_upkeep, pages
from jupyter_memory.storage.bm25 import Layout, _row_by_row, score
from jupyter_memory.storage.postings import Postings, numbers
from jupyter_memory.types import Draft

WORDS = ["prices", "λ", "Zürich", "df.groupby", "normalised", "priced", "ridge", "rid"]
STEMS = ["price", "λ", "zurich", "groupbi", "normalis", "ridg", "rid", "nowhere"]


def written(number: int) -> bytes:
    """Return an integer as SQLite writes it: seven bits to a byte, the highest first."""
    pieces = [number & 0x7F]
    while number := number >> 7:
        pieces.append(number & 0x7F | 0x80)
    return bytes(reversed(pieces))


def counted(places: Postings) -> list[tuple[int, int, int]]:
    """Return chunk, column and number of places of every run."""
    return sorted(
        zip(places.chunks[places.rows].tolist(), places.columns.tolist(), places.counts.tolist(), strict=True)
    )


def agree(connection: apsw.Connection) -> bool:
    """Return whether the pages tell of every word what FTS5 tells, and whether any word was there."""
    segments = pages.segments(connection)
    told = {stem: Postings.read(connection, stem, segments, least=0) for stem in STEMS}
    assert all(told.values())
    expected = {stem: counted(_row_by_row(connection, stem)) for stem in STEMS}
    assert {stem: counted(places) for stem, places in told.items()} == expected
    return any(expected.values())


def drafts(random: Random, count: int) -> list[Draft]:
    """Return notes of a few words, some of them long."""
    return [
        Draft(
            text=f"{i} " + " ".join(random.choices(WORDS, k=random.choice([1, 5, 60]))),
            title=" ".join(random.choices(WORDS, k=2)),
            tags=(random.choice(WORDS),),
        )
        for i in range(count)
    ]


@pytest.mark.parametrize("size", [32, 100, 4050])
def test_as_fts5_tells_them(database, remember, size):
    """Words are found whatever the size of a page: across pages, across segments, after changes and merges."""
    opened, random = database(), Random(size)
    with opened.write() as connection:
        connection.execute("insert into keyword (keyword, rank) values ('pgsz', ?)", (size,))
        connection.execute("insert into keyword (keyword, rank) values ('automerge', 2)")
    for _ in range(5):
        remember(opened, *drafts(random, 60))
    with opened.read() as connection:
        assert len(pages.segments(connection)) > 1
        assert agree(connection)
        chunks = [chunk for (chunk,) in connection.execute("select id from chunks")]
    with opened.write() as connection:
        for chunk in random.sample(chunks, 120):
            row = connection.execute("select * from chunk_texts where id = ?", (chunk,)).fetchall()[0]
            connection.execute(
                "insert into keyword (keyword, rowid, title, context, text, tags, ident) "
                "values ('delete', ?, ?, ?, ?, ?, ?)",
                row,
            )
    with opened.read() as connection:
        assert agree(connection)
    with opened.write() as connection:
        connection.execute("insert into keyword (keyword, rank) values ('merge', -2)")
    with opened.read() as connection:
        assert agree(connection)
    with opened.write() as connection:
        keyword_upkeep.rebuild(connection)
    with opened.read() as connection:
        assert agree(connection)


def test_the_newer_segment_is_right(database, remember):
    """Where removed rows stay in older segments, what newer ones say of a chunk counts."""
    opened = database()
    remember(opened, *drafts(Random(0), 50))
    with opened.write() as connection:
        connection.execute("insert into keyword (keyword, rank) values ('secure-delete', 0)")
    with opened.write() as connection:
        rows = connection.execute("select * from chunk_texts where id % 3 = 0").fetchall()
        for row in rows:
            connection.execute(
                "insert into keyword (keyword, rowid, title, context, text, tags, ident) "
                "values ('delete', ?, ?, ?, ?, ?, ?)",
                row,
            )
        connection.execute("insert into keyword (rowid, title, text) values (?, 'prices', 'λ')", (rows[0][0],))
    with opened.read() as connection:
        assert len(pages.segments(connection)) > 1
        assert agree(connection)


def test_a_frequent_word_is_scored_as_by_fts5(database, remember):
    """A word that fills many pages has, chunk by chunk, the score that bm25() gives it, in columns of any weight."""
    opened = database()
    with opened.write() as connection:
        connection.execute("insert into keyword (keyword, rank) values ('pgsz', 64)")
    remember(opened, *drafts(Random(1), 80), *["nothing of it"] * 1)
    with opened.read() as connection:
        layout = Layout.read(connection)
        assert Postings.read(connection, "price", layout.segments) is not None
        for weights in ({"title": 0.3, "text": 0.7}, {"tags": 2.0, "ident": 0.5}):
            found = score(connection, "price", weights, layout).scored
            assert scores_are_those_of_fts5(connection, found, "prices", weights)


def test_another_format_is_left_to_fts5(database, remember):
    """An index of a version that is not known is not read page by page."""
    opened = database()
    remember(opened, "λ is 3.2 in Zürich")
    with opened.read() as connection:
        assert len(pages.segments(connection)) == 1
    with opened.write() as connection:
        connection.execute("update keyword_config set v = 99 where k = 'version'")
        assert pages.segments(connection) == []
        assert Postings.read(connection, "λ", [], least=0) is None


@given(st.lists(st.integers(0, 2**40)))
def test_numbers(given_numbers):
    """Integers come back as they were written, and the places after them."""
    data = [written(one) for one in given_numbers]
    begins = np.cumsum([0, *map(len, data)])
    found, after = numbers(np.frombuffer(b"".join(data), np.uint8), begins[:-1].astype(np.int64))
    assert found.tolist() == given_numbers
    assert after.tolist() == begins[1:].tolist()
