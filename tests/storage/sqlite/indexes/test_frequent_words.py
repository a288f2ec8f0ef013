"""The frequent words, read before anybody asks for them: their scores are those that a search would have read."""

from __future__ import annotations

import pytest

from jupyter_memory.storage.sqlite.indexes import keyword, word_scores
from jupyter_memory.storage.sqlite.indexes.word_scores import Match, WordScoreCache
from jupyter_memory.types import Filters, Terms

WEIGHTS = {"title": 5.0, "text": 1.0}


@pytest.fixture
def opened(database, remember, monkeypatch):
    """A store where "λ" is in two thirds of the chunks, "price" in a third and "ridg" in a sixth."""
    monkeypatch.setattr(word_scores, "_LEAST", 50)
    monkeypatch.setattr(word_scores, "_SLICE", 100)
    store = database()
    texts = [f"note {i}: the prices" if i % 3 == 0 else f"note {i} of the λ {'ridge' * (i % 2)}" for i in range(600)]
    remember(store, *texts, *[f"Zürich {i}" for i in range(3)])
    return store


@pytest.fixture
def searched(opened):
    """Search a store twice, with room for so many scores; return what is kept."""

    def search(most=2_000_000):
        kept = WordScoreCache(most=most)
        with opened.read() as connection:
            for _ in range(2):
                keyword.search(connection, Terms(words=("Zürich",)), WEIGHTS, Filters(), 5, kept)
        return kept

    return search


def read(opened, kept, stop_words=("the",)):
    """Read all that is to be read; return whether there was anything."""
    step = kept.reading_ahead(WEIGHTS, lambda _: stop_words)
    with opened.read() as connection:
        while step is not None and step(connection):
            pass
    return step is not None


def known(opened, kept):
    """Return the words whose scores are kept."""
    stems = ("price", "ridg", "λ", "zurich", "the", "note")
    with opened.read() as connection:
        seen = kept.uncounted(connection)
        return {stem for stem in stems if seen.knows(Match.of_stem(connection, stem, WEIGHTS), WEIGHTS)}


def test_scores_are_those_of_a_search(opened, searched):
    """A word that was read beforehand is found with the scores that an index asked for the first time gives."""
    kept = searched()
    assert read(opened, kept)
    with opened.read() as connection:
        for words in (("prices",), ("prices", "zurich"), ("λ",), ("λ", "prices")):
            terms = Terms(words=words)
            beforehand = keyword.search(connection, terms, WEIGHTS, Filters(), 50, kept)
            assert beforehand == keyword.search(connection, terms, WEIGHTS, Filters(), 50, WordScoreCache())
            assert beforehand


def test_neither_stop_words_nor_words_in_most_chunks(opened, searched):
    """Words that questions are freed of are not read, nor those that a search leaves out."""
    kept = searched()
    read(opened, kept)
    assert known(opened, kept) == {"price", "ridg", "zurich"}


def test_only_for_an_index_that_is_searched_again(opened):
    """The first search of an index is not followed by any reading: it may be the only one until the next change."""
    kept = WordScoreCache()
    with opened.read() as connection:
        keyword.search(connection, Terms(words=("Zürich",)), WEIGHTS, Filters(), 5, kept)
    assert not read(opened, kept)


def test_once(opened, searched):
    """What was read is not read again for the same index."""
    kept = searched()
    assert read(opened, kept)
    assert not read(opened, kept)


def test_not_of_another_index(opened, searched, remember):
    """An index that has changed since the last search is left alone."""
    kept = searched()
    remember(opened, "one more of Zürich")
    assert read(opened, kept)
    assert known(opened, kept) == set()


def test_no_more_than_there_is_room_for(opened, searched):
    """Reading ends where the room does, and never takes the place of a word that was asked for."""
    kept = searched(100)
    read(opened, kept)
    assert known(opened, kept) == {"zurich"}
