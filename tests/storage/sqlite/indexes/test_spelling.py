"""The nearest spellings of words that a store does not hold."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.search import parse
from jupyter_memory.search.query.spelling import nearest, respelled
from jupyter_memory.storage.sqlite.indexes import keyword
from jupyter_memory.storage.sqlite.indexes.keyword_query import stems, word_of
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.indexes.word_scores import WordScoreCache
from jupyter_memory.storage.sqlite.storage import SqliteStorage
from jupyter_memory.types import Draft, Filters, Terms

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)
COLUMNS = ("title", "text")
WEIGHTS = dict.fromkeys(COLUMNS, 1.0)


def read(database):
    """Open a snapshot of a store."""
    return SqliteStorage(database, VectorIndex()).snapshot()


@pytest.fixture
def held(database, remember):
    """A store with the words of a week: prices often, normalise once, and one only in a tag."""
    opened = database()
    remember(opened, *[f"prices of day {day}" for day in range(5)], "normalise the prices in Zürich", "the prizes, λ")
    remember(opened, "forecast of the electricity", Draft(text="ü", tags=("regression",)))
    return opened


@pytest.mark.parametrize(
    ("word", "best"),
    [
        ("prces", "prices"),
        ("pricse", "prices"),
        ("rpices", "prices"),
        ("pirces", "prices"),
        ("nromalise", "normalise"),
        ("normalsie", "normalise"),
        ("elektricity", "electricity"),
        ("forcast", "forecast"),
    ],
)
def test_a_slip_is_found(held, word, best):
    """A letter too many, too few, another or two changed places lead to the word that the store holds."""
    with read(held) as snapshot:
        assert nearest(word, snapshot, COLUMNS)[0].stem == snapshot.corpus.words(best)[0]


def test_of_equally_near_words_the_frequent_one_is_first(held):
    """Prices and prizes are one slip from "prise": the one that more chunks hold is tried first."""
    with read(held) as snapshot:
        found = nearest("prise", snapshot, COLUMNS)
    assert [(one.slips, one.chunks) for one in found] == [(1, 6), (1, 1)]


@pytest.mark.parametrize("word", ["prices", "pricing", "the", "prc", "price2", "price_list", "λαμβδα", "zzzzzzzz", ""])
def test_what_has_no_other_spelling(held, word):
    """Words that are held, short words, names, numbers and words near to none are left as they are."""
    with read(held) as snapshot:
        assert nearest(word, snapshot, COLUMNS) == []


@pytest.mark.parametrize("word", ["sales", "camped", "racing", "stories", "provides"])
def test_everyday_words_are_meant_as_they_are(database, remember, word):
    """A word of everyday language that the store lacks is no slip of one that looks like it."""
    opened = database()
    remember(opened, "the same sake to save", "came, cap", "rating, raking", "the store of stores", "promise")
    with read(opened) as snapshot:
        assert nearest(word, snapshot, COLUMNS) == []


@pytest.mark.parametrize(
    ("word", "other"),
    [("colour", "color"), ("color", "colour"), ("centre", "center"), ("grey", "gray"), ("catalogue", "catalog")],
)
def test_british_and_american_spellings_find_each_other(database, remember, word, other):
    """An everyday word has no other spelling but the one on the other side of the Atlantic."""
    opened = database()
    remember(opened, f"the {other} of λ", "cooler, greedy, graph, catalysis, cents")
    with read(opened) as snapshot:
        assert [one.stem for one in nearest(word, snapshot, COLUMNS)] == [*snapshot.corpus.words(other)]


def test_only_the_nearest_are_tried(database, remember):
    """What is one slip away leaves out what is two slips away."""
    opened = database()
    remember(opened, "the argument", "an agreement", "λ")
    with read(opened) as snapshot:
        assert [(one.stem, one.slips) for one in nearest("arguemennts", snapshot, COLUMNS)] == [("argument", 2)]
        assert [(one.stem, one.slips) for one in nearest("arguements", snapshot, COLUMNS)] == [("argument", 1)]


def test_two_slips_only_in_a_long_stem(database, remember):
    """The length that counts is that of the stems, which are compared, not that of the word with its ending."""
    opened = database()
    remember(opened, "the classification", "polar")
    with read(opened) as snapshot:
        assert [one.slips for one in nearest("clasifcation", snapshot, COLUMNS)] == [2]
        assert nearest("poaalsing", snapshot, COLUMNS) == []


def test_words_of_about_the_same_length(held):
    """A word that is two letters longer is no slip of a short one, even if the stems are near."""
    with read(held) as snapshot:
        assert [one.stem for one in nearest("prces", snapshot, COLUMNS)] == ["price"]
        assert nearest("prcs", snapshot, COLUMNS) == []


def test_only_columns_that_are_searched(held):
    """A word that no column of the profile holds is not suggested."""
    with read(held) as snapshot:
        assert nearest("regresion", snapshot, COLUMNS) == []
        assert nearest("regresion", snapshot, (*COLUMNS, "tags"))[0].chunks == 1


def test_the_index_of_many_segments(database, remember):
    """Words are found in every part of the index, and one that is forgotten is not offered."""
    opened = database()
    for number in range(40):
        remember(
            opened, " ".join(f"pr{chr(97 + number % 26)}x{chr(97 + k % 26)}{chr(97 + k // 26)}" for k in range(60))
        )
    remember(opened, "prices in Zürich")
    with read(opened) as snapshot:
        assert [one.stem for one in nearest("prces", snapshot, COLUMNS)] == ["price"]


def test_other_spellings_count_half(held):
    """What is tried for a word counts half of what the word itself would, within the filters, kept or not."""
    with read(held) as snapshot, held.read() as connection:
        query, notices = respelled(parse("prces forecast", now=NOW), snapshot, COLUMNS)
        assert query.terms.respelled == ("price",) and "“prces”" in notices[0]
        whole = keyword.search(connection, Terms(words=("prices",)), WEIGHTS, Filters(), 20)
        half = keyword.search(connection, Terms(respelled=("price",)), WEIGHTS, Filters(), 20)
        assert [(one.memory, pytest.approx(one.score * 2)) for one in half] == [
            (one.memory, one.score) for one in whole
        ]
        kept = WordScoreCache()
        for _ in range(2):
            kept.of(connection)
        assert keyword.search(connection, Terms(respelled=("price",)), WEIGHTS, Filters(), 20, kept) == half
        assert not keyword.search(connection, Terms(respelled=("price",)), WEIGHTS, Filters(kind=("cell",)), 20)
        found = keyword.search(connection, query.terms, WEIGHTS, Filters(kind=("note",)), 20)
        assert {one.memory for one in half} < {one.memory for one in found}


@pytest.mark.parametrize("text", ["pricesService", "prces.groupby", '"prces"', "prices", "prces_total"])
def test_what_is_looked_for_as_it_is(held, text):
    """Identifiers with their parts, quoted phrases and words that are held are not spelled otherwise."""
    with read(held) as snapshot:
        assert respelled(parse(text, now=NOW), snapshot, COLUMNS) == (parse(text, now=NOW), ())


@given(word=st.one_of(st.text(st.sampled_from("aeinsty"), min_size=1), st.sampled_from(["expense", "agreed", "λ"])))
def test_every_stem_has_a_word(index_of_one, word):
    """FTS5 is asked for words, so each stem is turned back into a word that has it."""
    [stem] = stems(index_of_one, word)
    assert stems(index_of_one, word_of(index_of_one, stem)) == [stem]


def test_stems_that_would_be_shortened_again(database, remember):
    """A suggestion is looked for by its stem, also where the stemmer would make another word of that."""
    opened = database()
    remember(opened, "the expenses of Zürich", "databases")
    with opened.read() as connection:
        for stem in ("expens", "databas"):
            assert stems(connection, stem) != [stem]
            assert len(keyword.search(connection, Terms(respelled=(stem,)), WEIGHTS, Filters(), 20)) == 1
