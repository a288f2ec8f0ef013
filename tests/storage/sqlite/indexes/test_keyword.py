"""The keyword index: names whole and in parts, every script, weights by column, and the order of what is found."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
from words_asked import ANY, texts_found

from jupyter_memory.search.profiles import auto, covalence, trovella
from jupyter_memory.storage.sqlite.indexes import keyword, word_scores
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.tables import memories
from jupyter_memory.storage.sqlite.writing.writer import SqliteWriter
from jupyter_memory.types import Chunk, Draft, Filters, Terms

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("FileSyncService lost an event", ("FileSyncService", "filesyncservice", "file sync", "sync", "service")),
        ("see sync_queue.flush() first", ("sync_queue", "sync_queue.flush", "flush", "queue")),
        ("call df.groupby('shop')", ("df.groupby", "groupby", "df", "GroupBy")),
        ("since 1.0.21 it works", ("1.0.21", "21")),
        ("parseHTTPResponse2 fails", ("parseHTTPResponse2", "http", "response", "parse")),
        ("__init__ and _private", ("__init__", "init", "_private", "private")),
        ("MAX_RETRIES=3", ("MAX_RETRIES", "max_retries", "retries")),
        ("ÜberPrüfung läuft", ("ÜberPrüfung", "prüfung", "uberprufung", "laufen läuft")),
        ("Umsätze in Zürich", ("Umsatze", "ZÜRICH", "zurich", "umsätze")),
        ("naïve café déjà-vu", ("naive", "cafe", "déjà")),
        ("λ and Λ of the model", ("λ", "Λ")),
        ("Łódź by train", ("Łódź", "łódź")),
        ("東京都の売上を正規化した", ("東京", "京都", "正規化", "売上", "東")),
        ("价格标准化后训练模型", ("标准化", "模型", "价格")),
        ("가격을 정규화했다", ("가격", "정규화", "정규")),
        ("ราคาไฟฟ้า", ("ราคา",)),
        ("pandasの使い方", ("pandas", "使い方")),
        ("цены на электричество", ("цены", "Электричество")),
        ("أسعار الكهرباء", ("الكهرباء",)),
        ("normalising the normalised prices", ("normalise", "price", "normalises")),
        ("it's Łukasz's idea", ("Łukasz's", "Łukasz")),
    ],
)
def test_what_is_found(database, remember, text, queries):
    """A text is found by its words, its names whole and in parts, in any script, case and with or without marks."""
    opened = database()
    remember(opened, text, "Entirely unrelated, over there", "Weitere Notizen ohne Belang")

    for query in queries:
        assert texts_found(opened, query)[:1] == [text], query


@pytest.mark.parametrize("query", ["の", "京売", "snak", "xyz", "1.0.2", "ervice"])
def test_what_is_not_found(database, remember, query):
    """Pairs that do not touch, cut-off words and other versions find nothing."""
    opened = database()
    remember(opened, "東京。売上", "snake_case FileSyncService 1.0.21")

    assert texts_found(opened, query) == []


def test_weights_by_column(database, remember):
    """A column counts by the profile's weight; one that the profile leaves out is not searched."""
    opened = database()
    remember(
        opened,
        Draft(text="in the text: walrus", title="Prices", event_at=NOW),
        Draft(text="in the title, one", title="Walrus", event_at=NOW),
        Draft(text="in the tags, a", title="Other", tags=("walrus",), event_at=NOW),
        Draft(text="in the context", title="Again", context="zoo.ipynb\nWalrus", event_at=NOW),
        *(Draft(text=f"filler {i}", title="Filler", event_at=NOW) for i in range(20)),
    )

    def first(**weights):
        return texts_found(opened, "walrus", weights)

    assert first(title=5.0, text=1.0) == ["in the title, one", "in the text: walrus"]
    assert first(title=1.0, text=5.0) == ["in the text: walrus", "in the title, one"]
    assert first(tags=1.0) == ["in the tags, a"]
    assert first(context=1.0) == ["in the context"]
    assert len(first(**auto.columns)) == 4
    assert set(texts_found(opened, "walrus", covalence.columns)) == set(first(title=1.0, text=1.0))
    assert set(texts_found(opened, "walrus", trovella.columns)) == set(first(title=1.0, context=1.0, text=1.0))


def test_columns_count_apart(database, remember):
    """The score over two columns is that of FTS5's bm25() with their weights: title 5, text 1."""
    opened = database()
    remember(opened, *(Draft(text=f"note {i} on prices", title="Prices" if i % 3 else "λ") for i in range(9)))
    with opened.read() as connection:
        found = keyword.search(connection, Terms(words=("prices",)), covalence.columns, ANY, 20)
        sql = "select rowid, -bm25(keyword, 5, 0, 1, 0, 1) from keyword where keyword match '{title text} : prices'"
        expected = dict(connection.execute(sql))
    assert {one.chunk: one.score for one in found} == expected


def test_the_order_of_insertion_never_speaks(tmp_path, database, remember):
    """Of equal scores the newer comes first, then by content, whatever was stored first, at any cut."""
    drafts = [Draft(text=f"price {i:02}", event_at=NOW - timedelta(days=i % 3)) for i in range(60)]
    answers = []
    for number, order in enumerate((drafts, drafts[::-1], random.Random(1).sample(drafts, 60))):
        opened = database(tmp_path / str(number) / "memory.sqlite")
        remember(opened, *order)
        answers.append([texts_found(opened, "price", count=count) for count in (1, 7, 20, 59, 100)])

    assert answers[0] == answers[1] == answers[2]
    assert [len(found) for found in answers[0]] == [1, 7, 20, 59, 60]
    assert all(short == answers[0][-1][: len(short)] for short in answers[0])


def test_many_chunks_of_one_memory(database, remember):
    """However many chunks of one memory match best, the others come, too; it speaks through its best chunk."""
    opened = database()
    parts = ["walrus walrus " if i != 700 else "walrus walrus walrus " for i in range(1000)]
    ends = [sum(map(len, parts[: i + 1])) for i in range(1000)]
    chunks = tuple(Chunk(end - len(part), end) for part, end in zip(parts, ends, strict=True))
    remember(opened, Draft(text="".join(parts), chunks=chunks), *(f"a walrus, number {i}, and more" for i in range(7)))
    with opened.read() as connection:
        found = keyword.search(connection, Terms(words=("walrus",)), auto.columns, ANY, 5)
        everything = keyword.search(connection, Terms(words=("walrus",)), auto.columns, ANY, 50)

    assert found[0].chunk == 701
    assert len({one.memory for one in found}) == 5 and len(everything) == 8


def test_rows_go_in_and_out_alike(database, remember):
    """Tags given twice and in any order leave nothing in the index when they are replaced or their memory goes."""
    opened = database()
    memory, _ = remember(opened, Draft(text="λ", tags=("ü", "b", "ü", "Z", "a")), "other")
    library = SqliteWriter(opened, VectorIndex())
    for change in (
        lambda: library.update(memory.id, {}, tags=["new", "new"]),
        lambda: library.forget([memory.id]),
    ):
        change()
        with opened.write() as connection:
            connection.execute("insert into keyword (keyword, rank) values ('integrity-check', 1)")
        assert not texts_found(opened, "ü b Z")
    assert not texts_found(opened, "new")


def test_an_unfinished_word_finds_those_that_begin_so(database, remember):
    """While typing, "norma" finds "normalise"; its whole word counts for more, and kept scores say the same."""
    opened = database()
    whole, begun, _ = remember(opened, "norma λ", "normalise the prices in Zürich", "rows dropped")
    terms = Terms(words=("norma",), prefix="norma")
    with opened.read() as connection:
        found = keyword.search(connection, terms, {"title": 5.0, "text": 1.0}, Filters(), 10)
        ids = {memory.id for memory in memories.load(connection, [one.memory for one in found]).values()}
        assert ids == {whole.id, begun.id}
        kept = word_scores.WordScoreCache()
        kept.of(connection)
        again = keyword.search(connection, terms, {"title": 5.0, "text": 1.0}, Filters(), 10, kept)
        assert [(one.memory, pytest.approx(one.score)) for one in again] == [(one.memory, one.score) for one in found]
        marked = keyword.highlights(connection, Terms(prefix="norma"), {"title": 5.0, "text": 1.0}, {2: begun.text})
        assert marked == {2: [(0, 9)]}
