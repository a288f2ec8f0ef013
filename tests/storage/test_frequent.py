"""The most frequent words, read before anybody asks for them: what they score is what a search would have read."""

from __future__ import annotations

import pytest

from jupyter_memory.storage import keyword, scores
from jupyter_memory.storage.bm25 import Layout
from jupyter_memory.storage.frequent import frequent
from jupyter_memory.types import Filters, Terms

WEIGHTS = {"title": 5.0, "text": 1.0}


@pytest.fixture
def opened(database, remember):
    """A store of small pages: "λ" is in two thirds of the chunks, "price" in a third, "ridge" in a sixth."""
    store = database()
    with store.write() as connection:
        connection.execute("insert into keyword (keyword, rank) values ('pgsz', 64)")
    texts = [f"note {i}: the prices" if i % 3 == 0 else f"note {i} of the λ {'ridge' * (i % 2)}" for i in range(600)]
    remember(store, *texts, *[f"Zürich {i}" for i in range(3)])
    return store


@pytest.fixture
def known(opened):
    """What is kept after two searches of the store."""
    kept = scores.Scores()
    with opened.read() as connection:
        for _ in range(2):
            keyword.search(connection, Terms(words=("Zürich",)), WEIGHTS, Filters(), 5, kept)
    return kept


def warmed(opened, kept, but=()):
    """Read all that is to be read; return how many steps it took."""
    steps = 0
    step = kept.warming(WEIGHTS, lambda _: but)
    with opened.read() as connection:
        while step is not None and step(connection):
            steps += 1
    return steps


def held(kept):
    """Return the words whose scores are kept."""
    return {stem for _, (stem,), _ in kept._kept._scored}


def test_words_that_fill_pages(opened):
    """They come by how much they fill; a word of a few chunks is none of them."""
    with opened.read() as connection:
        found = frequent(connection, Layout.read(connection).segments)
    assert found.index("note") < found.index("price")
    assert found.index("λ") < found.index("price")
    assert "zurich" not in found


def test_scores_are_those_of_a_search(opened, known):
    """A word that was read beforehand is found with the scores that an index asked for the first time gives."""
    assert warmed(opened, known, {"the"}) > 1
    assert "price" in held(known)
    with opened.read() as connection:
        for words in (("prices",), ("prices", "zurich"), ("λ",), ("λ", "prices")):
            terms = Terms(words=words)
            beforehand = keyword.search(connection, terms, WEIGHTS, Filters(), 50, known)
            assert beforehand == keyword.search(connection, terms, WEIGHTS, Filters(), 50, scores.Scores())
            assert beforehand


def test_neither_what_nobody_asks_for_nor_what_has_no_weight(opened, known):
    """Words that questions are freed of are not read; of a word in most chunks only that is kept."""
    warmed(opened, known, {"the"})
    assert held(known) == {"price", "ridg", "zurich"}
    with opened.read() as connection:
        assert known._kept.frequency(connection, scores.Match.of_stem("λ", WEIGHTS), WEIGHTS) == 400
    assert held(known) == {"price", "ridg", "zurich"}


def test_only_for_an_index_that_is_searched_again(opened):
    """The first search of an index is not followed by any reading: it may be the only one until the next change."""
    kept = scores.Scores()
    with opened.read() as connection:
        keyword.search(connection, Terms(words=("Zürich",)), WEIGHTS, Filters(), 5, kept)
    assert kept.warming(WEIGHTS, lambda _: ()) is None


def test_once(opened, known):
    """What was read is not read again for the same index, and not at all for one that has changed meanwhile."""
    assert warmed(opened, known) > 0
    assert known.warming(WEIGHTS, lambda _: ()) is None


def test_not_of_another_index(opened, known, remember):
    """An index that has changed since the last search is left alone."""
    remember(opened, "one more of Zürich")
    assert warmed(opened, known) == 0
    assert held(known) == {"zurich"}


def test_no_more_than_there_is_room_for(opened, known):
    """Reading ends where the room does, and never takes the place of a word that was asked for."""
    known._kept.most = 100
    warmed(opened, known, {"the"})
    assert held(known) == {"zurich"}


def test_what_was_asked_for_stays_longest(opened, known):
    """Where room is wanted, words that nobody asked for go first."""
    known._kept.most = 250
    warmed(opened, known, {"the"})
    assert held(known) == {"price", "zurich"}
    with opened.read() as connection:
        keyword.search(connection, Terms(words=("ridge", "nowhere")), WEIGHTS, Filters(), 5, known)
    assert held(known) == {"ridg", "nowher", "zurich"}
