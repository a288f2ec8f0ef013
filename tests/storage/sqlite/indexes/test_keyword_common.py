"""Words that most chunks hold: left out of a search where others tell more, and counted."""

from __future__ import annotations

from itertools import pairwise

import pytest
from words_asked import ANY, corpus, texts_found

from jupyter_memory.search.profiles import auto, covalence
from jupyter_memory.storage.sqlite.indexes import keyword, keyword_query
from jupyter_memory.types import Draft, Terms


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_leaving_out_common_words_keeps_the_order(database, remember, monkeypatch, seed):
    """Words that most chunks hold are left out, and what holds a rarer word keeps its place."""
    opened = database()
    remember(opened, *corpus(seed))
    query = Terms(words=("price", "rare1", "model", "rare2", "zürich", "own7"))
    with opened.read() as connection:
        whole = keyword.search(connection, query, auto.columns, ANY, 1000)
        monkeypatch.setattr(keyword_query, "_SMALL", 0)
        assert keyword_query.without_common(connection, query, auto.columns).words == ("rare1", "rare2", "own7")
        cut = keyword.search(connection, query, auto.columns, ANY, 1000)

    assert len(whole) > 380 and 20 < len(cut) < 100
    before = {one.memory: one.score for one in whole}
    assert max(before[one.memory] - one.score for one in cut) < 1e-4
    # In the same order, but for what scored the same to four digits.
    scored = [before[one.memory] for one in cut]
    assert all(later - earlier < 1e-4 for earlier, later in pairwise(scored))
    assert {one.memory for one in whole[: len(cut)]} == {one.memory for one in cut}


def test_common_words_alone_are_kept(database, remember, monkeypatch):
    """A query of nothing but common words, or of one word, is searched unchanged."""
    monkeypatch.setattr(keyword_query, "_SMALL", 0)
    opened = database()
    remember(opened, *corpus(1, 50))

    for words in (("price",), ("price", "model")):
        with opened.read() as connection:
            assert keyword_query.without_common(connection, Terms(words=words), auto.columns).words == words
    assert len(texts_found(opened, "price")) == 20


def test_common_in_a_column_that_is_not_searched(database, remember, monkeypatch):
    """A word that every context holds distinguishes texts where only titles and texts are searched."""
    monkeypatch.setattr(keyword_query, "_SMALL", 0)
    opened = database()
    drafts = [Draft(text=f"number {i}", context="Saturday 21 November 2026") for i in range(20)]
    remember(opened, *drafts, Draft(text="budget of 2026", context="Saturday 21 November 2026"))

    assert texts_found(opened, "number 2026", covalence.columns)[0] == "budget of 2026"
    with opened.read() as connection:
        everywhere = keyword_query.without_common(connection, Terms(words=("budget", "2026")), auto.columns)
    assert everywhere.words == ("budget",)


def test_document_frequency(database, remember):
    """It counts the chunks that hold a word in any of the columns asked for, under its stem."""
    opened = database()
    remember(opened, *corpus(1, 50), Draft(text="normalised", title="Price"))
    texts = [row[0].split() for row in opened.connection.execute("select text from texts")]

    def df(word, *columns):
        return keyword_query.document_frequency(opened.connection, word, columns)

    assert df("prices", "text") == sum("price" in text for text in texts)
    assert df("prices", "title") == 1
    assert df("normalise", "text", "title") == 1
    assert df("nowhere", "text") == df("df.groupby", "text") == df("", "text") == df("—", "text") == 0
