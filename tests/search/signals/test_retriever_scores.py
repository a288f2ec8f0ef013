"""What brings a memory by its meaning says nothing of its words, which count all the same."""

from __future__ import annotations

from math import isnan

import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.search.profiles import OverFetch, auto, covalence

# Each retriever finds no more than one memory.
NARROW = auto.replace(name="narrow", fetch=OverFetch(0, 1), threshold=False)
WEEK = [
    "Prices of Zürich: prices by hour, prices by day.",
    "The λ of the ridge regression was chosen by cross-validation on the prices of electricity.",
    "We scaled them to zero mean and unit variance.",
    "The weather service has gaps on Sundays.",
]


@pytest.fixture
def week(tmp_path):
    """A store with four notes."""
    with MemoryStore(tmp_path / "λ.sqlite") as store:
        for text in WEEK:
            store.add(text)
        yield store


def said(store, query, profile):
    """Return what is said of the words of each hit, by its text, and the texts that the keyword retriever found."""
    hits = store.hits(query, profile=profile).hits
    matched = {hit.memory.text for hit in hits if hit.kw_rank is not None}
    return {hit.memory.text: hit.signals["keyword"] for hit in hits}, matched


@pytest.mark.parametrize(
    "query", ["prices of a penalty for large weights", "prices of power, λ", "prices and cold days"]
)
def test_words_count_whichever_retriever_found_it(week, query):
    """A note found only by its meaning has the points of its words that it has where both retrievers find all."""
    # Twice: the first search of an index looks its words up in another way than those after it.
    for _ in range(2):
        few, matched = said(week, query, NARROW)
        every, _ = said(week, query, auto)

        assert few
        assert len(matched) <= 1
        for text, seen in few.items():
            assert seen.value == pytest.approx(every[text].value, nan_ok=True)
            assert seen.contribution == pytest.approx(every[text].contribution)


def test_what_only_meaning_brought_can_have_points(week):
    """The note on prices by the hour is not the best by the words of the question, but holds one of them."""
    few, matched = said(week, "prices of models, validated", NARROW)
    others = [seen for text, seen in few.items() if text not in matched]

    assert any(seen.value > 0 for seen in others)


def test_no_word_is_no_opinion(week):
    """A note without any of the words gets nothing; profiles that go by the retriever's ranks read these alone."""
    every, _ = said(week, "prices of Zürich", auto)
    ranked, matched = said(week, "prices of Zürich", covalence)

    assert isnan(every[WEEK[3]].value) if WEEK[3] in every else True
    assert all(isnan(seen.value) for text, seen in ranked.items() if text not in matched)
