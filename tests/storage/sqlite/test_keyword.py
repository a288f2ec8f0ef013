"""The keyword index: what is found in every script, scores, cached or not, other spellings, and what is marked."""

import random
import re
from contextlib import closing
from datetime import timedelta
from itertools import pairwise

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from week import NOW

from jupyter_memory import MemoryStore, QueryError
from jupyter_memory.ingest import prepare
from jupyter_memory.search import parse, profile_named
from jupyter_memory.storage import open_storage
from jupyter_memory.types import Chunk, Draft, Filters, Terms

ANY = Filters()
AUTO, COVALENCE = (profile_named(name).columns for name in ("auto", "covalence"))


def terms(query):
    return parse(query, now=NOW, time=False).terms


def matches(storage, asked, weights=AUTO, count=20, filters=ANY):
    with storage.snapshot() as snapshot:
        return snapshot.keyword_matches(terms(asked) if isinstance(asked, str) else asked, weights, filters, count)


def texts_found(storage, asked, weights=AUTO, count=20):
    with storage.snapshot() as snapshot:
        keys = [one.memory for one in matches(storage, asked, weights, count)]
        held = snapshot.memories(keys)
    return [held[key].text for key in keys]


def corpus(seed, count=400):
    """Return texts in which some words are everywhere and others rare, of several lengths."""
    rng, texts = random.Random(seed), []
    for i in range(count):
        common = [word for word in ("price", "model", "zürich") if rng.random() < 0.8]
        rare = rng.sample([f"rare{i}" for i in range(30)], rng.randint(1, 3))
        texts.append(" ".join([*common, *rare, *["filler"] * rng.randint(0, 8), f"own{i}"]))
    return texts


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A store of 9,100 chunks: "note" in all, "λ" in two thirds, "model" and "price" in a third."""
    texts = (
        f"note n{i} of the {'λ' if i % 3 else 'prices and the model'} rare{i % 900} {'ridge' * (i % 2)}"
        for i in range(9_099)
    )
    drafts = [Draft(text=text, context="Saturday 21 November 2026") for text in (*texts, "budget of 2026, model")]
    with closing(open_storage(tmp_path_factory.mktemp("large") / "memory.sqlite")) as storage:
        storage.writer.add(prepare(drafts, None), None)
        yield storage


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
        ("naïve café déjà-vu", ("naive", "cafe", "déjà")), ("λ and Λ of the model", ("λ", "Λ")),
        ("Łódź by train", ("Łódź", "łódź")), ("東京都の売上を正規化した", ("東京", "京都", "正規化", "売上", "東")),
        ("价格标准化后训练模型", ("标准化", "模型", "价格")), ("가격을 정규화했다", ("가격", "정규화", "정규")),
        ("ราคาไฟฟ้า", ("ราคา",)),
        ("pandasの使い方", ("pandas", "使い方")), ("цены на электричество", ("цены", "Электричество")),
        ("أسعار الكهرباء", ("الكهرباء",)),
        ("normalising the normalised prices", ("normalise", "price", "normalises")),
        ("it's Łukasz's idea", ("Łukasz's", "Łukasz")),
    ],
)  # fmt: skip
def test_what_is_found(sqlite, remember, text, queries):
    """A text is found by its words, its names whole and in parts, in any script, case and with or without marks."""
    opened = sqlite()
    remember(opened, text, "Entirely unrelated, over there", "Weitere Notizen ohne Belang")
    for query in queries:
        assert texts_found(opened, query)[:1] == [text], query


SYNTAX = ['"', "*", "NEAR(", ":", "AND", "OR", "NOT", "-", "+", "^", "{", "}", "(", ")", "text:", ",", "'", "\\"]


@pytest.fixture(scope="module")
def price(tmp_path_factory):
    with closing(open_storage(tmp_path_factory.mktemp("price") / "memory.sqlite")) as storage:
        storage.writer.add(prepare([Draft(text="price")], None), None)
        yield storage


@settings(max_examples=200)
@given(st.lists(st.one_of(st.sampled_from([*SYNTAX, "price", "λ", "東京"]), st.text(max_size=5)), min_size=1))
def test_syntax_is_harmless(price, pieces):
    """No string of FTS5's syntax, nor any other text, is an error, or an operator that leaves a word out."""
    try:
        asked = parse(" ".join(pieces), now=NOW).terms
    except QueryError:
        return
    assert len(matches(price, asked)) == 1 or "price" not in asked.words


def test_what_is_no_word_of_a_text(sqlite, remember):
    """Pairs that do not touch, cut-off words and other versions find nothing; operators leave nothing out."""
    opened = sqlite()
    remember(opened, "東京。売上", "snake_case FileSyncService 1.0.21", "price of power", "text of the title")
    assert not [query for query in ("の", "京売", "snak", "xyz", "1.0.2", "ervice") if texts_found(opened, query)]
    for query in ("price NOT power", "price AND nothing", "text:price", "^price", "pri* price", "NEAR(price power, 1)"):
        assert "price of power" in texts_found(opened, query), query
    assert texts_found(opened, "text: title") == ["text of the title"]


def test_rows_go_in_and_out_alike(sqlite, remember):
    """Tags given twice and in any order leave nothing in the index when they are replaced or their memory goes."""
    opened = sqlite()
    memory, _ = remember(opened, Draft(text="λ", tags=("ü", "b", "ü", "Z", "a")), "other")
    for change in (
        lambda: opened.writer.update(memory.id, {}, tags=["new", "new"]),
        lambda: opened.writer.forget([memory.id]),
    ):
        change()
        with opened.database.write() as connection:
            connection.execute("insert into keyword (keyword, rank) values ('integrity-check', 1)")
        assert not texts_found(opened, "ü b Z")
    assert not texts_found(opened, "new")


def test_the_order_of_insertion_never_speaks(tmp_path, sqlite, remember):
    """Of equal scores the newer comes first, then by content, whatever was stored first, at any cut."""
    drafts = [Draft(text=f"price {i:02}", event_at=NOW - timedelta(days=i % 3)) for i in range(60)]
    answers = []
    for number, order in enumerate((drafts, drafts[::-1], random.Random(1).sample(drafts, 60))):
        opened = sqlite(tmp_path / str(number) / "memory.sqlite")
        remember(opened, *order)
        answers.append([texts_found(opened, "price", count=count) for count in (1, 7, 20, 59, 100)])
    assert answers[0] == answers[1] == answers[2]
    assert [len(found) for found in answers[0]] == [1, 7, 20, 59, 60]
    assert all(short == answers[0][-1][: len(short)] for short in answers[0])


def test_many_chunks_of_one_memory(sqlite, remember):
    opened = sqlite()
    parts = ["walrus walrus " if i != 700 else "walrus walrus walrus " for i in range(1000)]
    ends = [sum(map(len, parts[: i + 1])) for i in range(1000)]
    chunks = tuple(Chunk(end - len(part), end) for part, end in zip(parts, ends, strict=True))
    remember(opened, Draft(text="".join(parts), chunks=chunks), *(f"a walrus, number {i}, and more" for i in range(7)))
    found = matches(opened, "walrus", count=5)
    assert found[0].chunk == 701
    assert len({one.memory for one in found}) == 5 and len(matches(opened, "walrus", count=50)) == 8


def test_leaving_out_common_words_keeps_the_order(large):
    """Words that most chunks hold are left out, and what holds a rarer word keeps its place."""
    rare = ("rare1", "rare2", "rare3")
    query = Terms(words=("note", *rare, "λ"))
    sql = """
        select rowid, -bm25(keyword, 5, 0, 1, 0, 1) from keyword
        where keyword match '{title text} : (note OR λ OR rare1 OR rare2 OR rare3)'
    """
    whole = dict(large.database.connection.execute(sql))
    cut = matches(large, query, COVALENCE, 1000)
    best = sorted(whole, key=whole.get, reverse=True)
    assert len(whole) > 9_000
    assert all(set(rare) & set(text.split()) for text in texts_found(large, query, COVALENCE, 1000))
    assert len(cut) == sum(i % 900 in (1, 2, 3) for i in range(9_099))
    assert max(whole[one.chunk] - one.score for one in cut) < 1e-4
    # In the same order, but for what scored the same to four digits.
    assert all(later - earlier < 1e-4 for earlier, later in pairwise(whole[one.chunk] for one in cut))
    assert {one.chunk for one in cut} == set(best[: len(cut)])


def test_common_words_that_count(large):
    """Nothing but common words, or one, are searched unchanged; and what is common in a column not searched counts."""
    for words in (("note",), ("note", "λ")):
        assert len(matches(large, Terms(words=words))) == 20
    assert texts_found(large, "note 2026", COVALENCE)[0] == "budget of 2026, model"
    assert texts_found(large, "budget 2026") == ["budget of 2026, model"]


@pytest.mark.parametrize(
    "query",
    [
        *("price rare1 rare2", '"price model" rare5', "own7", "東京 rare1", "sync service", "nothing here"),
        *(Terms(words=("pric",), prefix="pric"), Terms(respelled=("price",), words=("rare1",))),
    ],
)
@pytest.mark.parametrize("weights", [AUTO, COVALENCE], ids=["auto", "covalence"])
def test_cached_scores_change_nothing(sqlite, remember, query, weights):
    """With the scores of single words cached, searches give what they give without, to the last digit."""
    opened = sqlite()
    remember(opened, *corpus(4), "東京の売上 FileSyncService")
    for count in (1, 10, 1000):
        plain = matches(open_storage(opened.database), query, weights, count)
        assert [matches(opened, query, weights, count) for _ in range(2)] == [plain, plain]


WORDS = ("alpha", "beta", "gamma", "delta")


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(["add", "forget", "update", "tag", "rebuild"]), st.data()), max_size=8))
def test_cached_scores_are_never_stale(tmp_path_factory, steps):
    """Whatever is added, changed, forgotten or built anew between searches, each finds what is there."""
    two_words = st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)).map(" ".join)
    with MemoryStore(tmp_path_factory.mktemp("kept") / "memory.sqlite", embedder=None) as store:
        held = {}
        for step, data in [("add", None), *steps]:
            text = "alpha beta" if data is None else data.draw(two_words)
            chosen = data.draw(st.sampled_from(sorted(held))) if held else None
            if step == "add":
                memory = store.add(text, title=f"T{len(held)}")
                held[memory.id] = memory.text
            elif step == "rebuild":
                store.rebuild()
            elif step == "forget" and chosen:
                store.forget(chosen)
                del held[chosen]
            elif step == "update" and chosen:
                held[chosen] = store.update(chosen, text=text).text
            elif chosen:
                store.update(chosen, tags=[text[0]])
            for word in WORDS * 2:
                expected = {memory for memory, text in held.items() if word in text.split()}
                assert {hit.memory.id for hit in store.hits(word, limit=100).hits} == expected


marked = ["Zu\u0308rich", "e\u0301", "\u0301", "👩\u200d🔬", "🚚"]
telling = st.sampled_from(["price", "Prices", "λ", "Λ", "zürich", "naïve", "東京", "'", "-", "_", *marked])
glue = st.sampled_from([" ", "  ", "\n", ", ", "", "🚚", "—", "\u200d"])


@settings(max_examples=150)
@given(
    parts=st.lists(st.tuples(telling, glue), min_size=1, max_size=12),
    words=st.lists(st.sampled_from(["price", "λ", "zurich", "naive", "price λ", "é"]), min_size=1, max_size=3),
)
@example(parts=[("Zu\u0308rich", "🚚"), ("Prices", " ")], words=["zurich", "price"])
def test_highlights_are_those_of_fts5(price, parts, words):
    """Emoji, combining marks and all: the spans are where FTS5's highlight() puts its marks, in code points."""
    text = "".join(word + between for word, between in parts)
    fts5 = apsw.Connection(":memory:")
    fts5.execute("create virtual table one using fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')")
    fts5.execute("insert into one values (?)", (text,))
    sql, asked = (
        "select highlight(one, 0, char(2), char(3)) from one where one match ?",
        (f'"{word}"' for word in words),
    )
    found, expected = fts5.execute(sql, (" OR ".join(asked),)).get or "", []
    for place, character in enumerate(found):
        at = place - sum(found[:place].count(mark) for mark in "\x02\x03")
        if character == "\x02":
            expected.append((at,))
        elif character == "\x03":
            expected[-1] += (at,)
    with price.snapshot() as snapshot:
        assert snapshot.highlights(Terms(phrases=tuple(words)), AUTO, {1: text})[1] == expected


@pytest.mark.parametrize(
    ("asked", "texts", "expected"),
    [
        (terms("prices of Zürich"), ["\x02 the \x03 price \x02 of Zürich"], [["price", "Zürich"]]),
        (Terms(prefix="norma"), ["normalise the prices"], [["normalise"]]),
        (terms("file"), ["the ﬁle has 12 m², λ", "the file has 12 m2, λ", "none, λ"], [["ﬁle"], ["file"], []]),
        (terms("FILE m²"), ["the ﬁle has 12 m²", "the file has 12 m2"], [["ﬁle", "m²"], ["file", "m2"]]),
        (terms("ﬁle"), ["the ﬁle has 12 m²", "the file has 12 m2"], [["ﬁle"], ["file"]]),
        (terms("files of m2"), ["the ﬁle has 12 m²", "the file has 12 m2"], [["ﬁle", "m²"], ["file", "m2"]]),
    ],
)
def test_what_is_found_is_marked(sqlite, remember, asked, texts, expected):
    """Control characters move no mark; ligatures and raised digits are marked as plain characters, and back."""
    opened = sqlite()
    remember(opened, *texts)
    with opened.snapshot() as snapshot:
        spans = snapshot.highlights(asked, AUTO, dict(enumerate(texts, start=1)))
    assert [[text[start:end] for start, end in spans[i]] for i, text in enumerate(texts, start=1)] == expected
    assert {one.chunk for one in matches(opened, asked)} == {i for i, found in enumerate(expected, start=1) if found}


WEEK = [
    *({"text": f"prices of day {day}"} for day in range(5)), {"text": "normalise the prices in Zürich"},
    {"text": "the prizes, λ"}, {"text": "forecast of the electricity"}, {"text": "ü", "tags": ["regression"]},
]  # fmt: skip


def tried(store, query, **options):
    """Return the stems that a search tried in place of words that the store does not hold."""
    notices = store.hits(query, **options).notices
    return [stem for one in notices for stem in re.findall(r"(\w+)…", one.partition("also tried")[2])]


@pytest.fixture
def spelling(store):

    def make(*texts):
        opened = store(embedder=None)
        opened.add_many([{"text": text} if isinstance(text, str) else text for text in texts], progress=False)
        return opened

    return make


def test_a_slip_is_found(spelling):
    """A letter too many, too few, another or two changed places lead to the word that the store holds."""
    spelt = spelling(*WEEK)
    slips = {"price": "prces pricse rpices pirces", "normalis": "nromalise normalsie", "electr": "elektricity"}
    for best, words in {**slips, "forecast": "forcast"}.items():
        assert {word: tried(spelt, word)[0] for word in words.split()} == dict.fromkeys(words.split(), best)
    # Of equally near words the one that more chunks hold is tried first; a word that no column holds is not suggested.
    assert tried(spelt, "prise") == ["price", "prize"]
    assert tried(spelt, "regresion", profile="covalence") == [] and tried(spelt, "regresion") == ["regress"]


@pytest.mark.parametrize(
    ("texts", "word", "expected"),
    [
        # Words that are held, short words, names, numbers, words near to none, shorter by two letters, and as quoted.
        *((WEEK, word, [])
          for word in (
              *("prices", "pricing", "the", "prc", "prcs", "price2", "price_list", "λαμβδα", "zzzzzzzz"),
              *("pricesService", "prces.groupby", '"prces"', "prces_total"),
          )),
        # A word of everyday language that the store lacks is no slip of one that looks like it.
        *((("the same sake to save, came, cap, rating, raking, stores, promise",), word, [])
          for word in ("sales", "camped", "racing", "stories", "provides")),
        # But for the one on the other side of the Atlantic.
        *(((f"the {other} of λ", "cooler, greedy, graph, catalysis, cents"), word, [stem])
          for word, other, stem in [
              ("colour", "color", "color"), ("color", "colour", "colour"), ("centre", "center", "center"),
              ("grey", "gray", "grai"), ("catalogue", "catalog", "catalog"),
          ]),
        # And but for an umlaut that is written out.
        (("ask Müller",), "mueller", ["muller"]), (("the blu of λ",), "blues", []),
        # What is one slip away leaves out what is two slips away.
        (("the argument", "an agreement"), "arguemennts", ["argument"]),
        (("the argument", "an agreement"), "arguements", ["argument"]),
        # Two slips count only in a long stem, whatever the length of the word with its ending.
        (("the classification", "polar"), "clasifcation", ["classif"]),
        (("the classification", "polar"), "poaalsing", []),
        # Letters that changed places are one slip each time; with another between them, it is three.
        (("the markdown",), "makrdonw", ["markdown"]),
        (("the markdown",), "markdonew", []),
    ],
)  # fmt: skip
def test_only_what_was_meant(spelling, texts, word, expected):
    """Only the nearest words are tried, and for a word of everyday language only its other spelling."""
    assert tried(spelling(*texts), word) == expected


def test_the_index_of_many_segments(store):
    """Words are found in every part of the index, and one that is forgotten is not offered."""
    opened = store(embedder=None)
    for number in range(40):
        words = (f"pr{chr(97 + number % 26)}x{chr(97 + k % 26)}{chr(97 + k // 26)}" for k in range(60))
        opened.add(" ".join(words))
    memory = opened.add("prices in Zürich")
    assert tried(opened, "prces") == ["price"]
    opened.forget(memory.id)
    assert tried(opened, "prces") == []


def test_every_stem_leads_to_its_words(sqlite, remember):
    """FTS5 is asked for words, so each stem is turned back into one, also where the stemmer would shorten it again."""
    opened, rng = sqlite(), random.Random(1)
    made = {"".join(rng.choices("aeinsty", k=rng.randint(1, 9))) for _ in range(1_500)}
    words = sorted(made | {"expense", "expenses", "agreed", "databases", "λ"})
    remember(opened, *words)
    with opened.snapshot() as snapshot:
        texts = {key: memory.text for key, memory in snapshot.memories(snapshot.keys(Filters())).items()}
        with_stem = {}
        for word in words:
            [stem] = snapshot.corpus.words(word)
            with_stem.setdefault(stem, set()).add(word)
        assert with_stem["expens"] == {"expense", "expenses"}
        for stem, expected in with_stem.items():
            found = snapshot.keyword_matches(Terms(respelled=(stem,)), AUTO, Filters(), 100)
            assert {texts[one.memory] for one in found} == expected
