"""The keyword leg: names whole and in parts, every script, weights by column, and nothing of FTS5's own language."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jupyter_memory import MemoryStore
from jupyter_memory.ranking.profiles import auto, covalence, trovella
from jupyter_memory.ranking.query import parse, terms
from jupyter_memory.storage import keyword, rows, scores
from jupyter_memory.storage.library import Library
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.storage.vectors import VectorIndex
from jupyter_memory.types import Chunk, Draft, Filters, Terms

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)
ANY = Filters()


def texts_found(database, query, weights=auto.columns, count=20, kept=None):
    """Return the texts that a query finds, best first."""
    with database.read() as connection:
        found = keyword.search(connection, terms(query), weights, ANY, count, kept)
        texts = dict(connection.execute("select memory, text from texts"))
    return [texts[one.memory] for one in found]


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


# -- common words ------------------------------------------------------------------------------------------------------


def corpus(seed, count=400):
    """Return texts in which some words are everywhere and others rare, of several lengths."""
    rng = random.Random(seed)
    rare = [f"rare{i}" for i in range(30)]
    everywhere = ["price", "model", "zürich"]
    return [
        " ".join(
            [word for word in everywhere if rng.random() < 0.8]
            + rng.sample(rare, rng.randint(1, 3))
            + ["filler"] * rng.randint(0, 8)
            + [f"own{i}"]
        )
        for i in range(count)
    ]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_leaving_out_common_words_keeps_the_order(database, remember, monkeypatch, seed):
    """Words that most chunks hold are left out, and what holds a rarer word keeps its place."""
    opened = database()
    remember(opened, *corpus(seed))
    query = Terms(words=("price", "rare1", "model", "rare2", "zürich", "own7"))
    with opened.read() as connection:
        whole = keyword.search(connection, query, auto.columns, ANY, 1000)
        monkeypatch.setattr(keyword, "_SMALL", 0)
        assert keyword.without_common(connection, query, auto.columns).words == ("rare1", "rare2", "own7")
        cut = keyword.search(connection, query, auto.columns, ANY, 1000)

    assert len(whole) > 380 and 20 < len(cut) < 100
    before = {one.memory: one.score for one in whole}
    assert max(before[one.memory] - one.score for one in cut) < 1e-4
    # In the same order, but for what scored the same to four digits.
    scored = [before[one.memory] for one in cut]
    assert all(later - earlier < 1e-4 for earlier, later in pairwise(scored))
    assert {one.memory for one in whole[: len(cut)]} == {one.memory for one in cut}


def test_common_words_alone_are_kept(database, remember, monkeypatch):
    """A query of nothing but common words, or of one word, is searched as it stands."""
    monkeypatch.setattr(keyword, "_SMALL", 0)
    opened = database()
    remember(opened, *corpus(1, 50))

    for words in (("price",), ("price", "model")):
        with opened.read() as connection:
            assert keyword.without_common(connection, Terms(words=words), auto.columns).words == words
    assert len(texts_found(opened, "price")) == 20


def test_common_in_a_column_that_is_not_searched(database, remember, monkeypatch):
    """A word that stands in every context tells texts apart where only titles and texts are searched."""
    monkeypatch.setattr(keyword, "_SMALL", 0)
    opened = database()
    drafts = [Draft(text=f"number {i}", context="Saturday 21 November 2026") for i in range(20)]
    remember(opened, *drafts, Draft(text="budget of 2026", context="Saturday 21 November 2026"))

    assert texts_found(opened, "number 2026", covalence.columns)[0] == "budget of 2026"
    with opened.read() as connection:
        everywhere = keyword.without_common(connection, Terms(words=("budget", "2026")), auto.columns)
    assert everywhere.words == ("budget",)


def test_document_frequency(database, remember):
    """It counts the chunks that hold a word in any of the columns asked for, under its stem."""
    opened = database()
    remember(opened, *corpus(1, 50), Draft(text="normalised", title="Price"))
    texts = [row[0].split() for row in opened.connection.execute("select text from texts")]

    def df(word, *columns):
        return keyword.document_frequency(opened.connection, word, columns)

    assert df("prices", "text") == sum("price" in text for text in texts)
    assert df("prices", "title") == 1
    assert df("normalise", "text", "title") == 1
    assert df("nowhere", "text") == df("df.groupby", "text") == df("", "text") == df("—", "text") == 0


# -- what is kept ------------------------------------------------------------------------------------------------------


def test_kept_scores_change_nothing(database, remember):
    """With the scores of single words kept, searches give what they give without, to the last digit."""
    opened, kept = database(), scores.Scores()
    remember(opened, *corpus(4), "東京の売上 FileSyncService")
    for query in ("price rare1 rare2", '"price model" rare5', "own7", "東京 rare1", "sync service", "nothing here"):
        for count in (1, 10, 1000):
            for weights in (auto.columns, covalence.columns):
                with opened.read() as connection:
                    plain = keyword.search(connection, terms(query), weights, ANY, count)
                    for _ in range(2):
                        assert keyword.search(connection, terms(query), weights, ANY, count, kept) == plain


WORDS = ("alpha", "beta", "gamma", "delta")


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(["add", "forget", "update", "tag", "rebuild"]), st.data()), max_size=8))
def test_kept_scores_are_never_stale(tmp_path_factory, steps):
    """Whatever is added, changed, forgotten or built anew between searches, each finds what is there."""
    with MemoryStore(tmp_path_factory.mktemp("kept") / "memory.sqlite", embedder=None) as store:
        held = {}
        for step, data in [("add", None), *steps]:
            draw = (lambda: "alpha beta") if data is None else (lambda: " ".join(data.draw(two_words)))  # noqa: B023
            if step == "add":
                memory = store.add(draw(), title=f"T{len(held)}")
                held[memory.id] = memory.text
            elif step == "rebuild":
                store.rebuild()
            elif held:
                chosen = data.draw(st.sampled_from(sorted(held)))
                if step == "forget":
                    store.forget(chosen)
                    del held[chosen]
                elif step == "update":
                    held[chosen] = store.update(chosen, text=draw()).text
                else:
                    store.update(chosen, tags=[data.draw(st.sampled_from("xyz"))])
            for word in WORDS * 2:
                expected = {memory for memory, text in held.items() if word in text.split()}
                assert {hit.memory.id for hit in store.hits(word, limit=100).hits} == expected


two_words = st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS))


# -- highlights --------------------------------------------------------------------------------------------------------

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
            (keyword.expression(asked, auto.columns), chunk),
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


@pytest.fixture(scope="module")
def index_of_one(tmp_path_factory):
    """A connection to an empty store."""
    database = Database(tmp_path_factory.mktemp("one") / "memory.sqlite")
    yield database.connection
    database.close()


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


# -- FTS5's own language -----------------------------------------------------------------------------------------------

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
    expression = keyword.expression(query.terms, auto.columns)
    if expression is not None:
        index_of_one.execute("select count(*) from keyword where keyword match ?", (expression,)).fetchall()


def test_operators_are_words(database, remember):
    """AND, OR, NOT and column names are looked up as words: they leave nothing out."""
    opened = database()
    remember(opened, "price of power", "text of the title")

    for query in ("price NOT power", "price AND nothing", "text:price", "^price", "pri* price", "NEAR(price power, 1)"):
        assert "price of power" in texts_found(opened, query), query
    assert texts_found(opened, "text: title") == ["text of the title"]


def test_rows_go_in_and_out_alike(database, remember):
    """Tags given twice and in any order leave nothing in the index when they are replaced or their memory goes."""
    opened = database()
    memory, _ = remember(opened, Draft(text="λ", tags=("ü", "b", "ü", "Z", "a")), "other")
    library = Library(opened, VectorIndex())
    for change in (
        lambda: library.update(memory.id, None, {}, None, ["new", "new"]),
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
        ids = {memory.id for memory in rows.load(connection, [one.memory for one in found]).values()}
        assert ids == {whole.id, begun.id}
        kept = scores.Scores()
        kept.of(connection)
        again = keyword.search(connection, terms, {"title": 5.0, "text": 1.0}, Filters(), 10, kept)
        assert [(one.memory, pytest.approx(one.score)) for one in again] == [(one.memory, one.score) for one in found]
        marked = keyword.highlights(connection, Terms(prefix="norma"), {"title": 5.0, "text": 1.0}, {2: begun.text})
        assert marked == {2: [(0, 9)]}


@pytest.mark.parametrize(
    "query", ["prices λ", '"left join" prices', "pirces of Zürich", "the", "東京 prices", "FileSyncService"]
)
@pytest.mark.parametrize("searched", [0, 1, 2])
def test_any_memory_is_told_its_score(database, remember, query, searched):
    """A memory gets the same score when it is asked about as when the leg brings all it has, however warm the index."""
    week = ["prices of Zürich", "the left join of the prices, λ", "東京 prices prices", "FileSyncService λ", "weather"]
    opened = database()
    remember(opened, *week)
    kept = scores.Scores()
    with opened.read() as connection:
        asked = terms(query)
        for _ in range(searched):
            keyword.search(connection, asked, auto.columns, ANY, 1, kept)
        keys = [key for (key,) in connection.execute("select key from memories")]
        told = keyword.scores_of(connection, asked, auto.columns, keys, kept)
        found = keyword.search(connection, asked, auto.columns, ANY, 100)

    assert told == pytest.approx({one.memory: one.score for one in found})
    assert set(told) < set(keys)
