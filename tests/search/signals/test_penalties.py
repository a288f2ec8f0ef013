"""A question seldom answers a question; a few words seldom answer, and a long text holds much by chance."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory import MemoryStore
from jupyter_memory.search import parse
from jupyter_memory.search.signals import QuestionPenalty
from jupyter_memory.search.signals.penalties import LONG, SHORT, SHORTEST, size_evidence
from jupyter_memory.types import Candidate

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)


@pytest.fixture
def notes(memory):
    """What was asked about λ, what was answered, and what was asked in another script."""
    texts = ["Which λ did we take for Zürich? ", "We took λ = 0.3 for Zürich.", "チューリッヒのλは？"]
    return [Candidate(key, memory(key, text=text), key) for key, text in enumerate(texts, start=1)]


@pytest.mark.parametrize("query", ["which λ for Zürich", "λ für Zürich?", "How was λ chosen"])
def test_what_asks_is_no_answer(notes, query):
    """Asked something, memories that ask themselves are told from those that say something."""
    assert QuestionPenalty()(parse(query, now=NOW), notes) == {1: -1.0, 2: 0.0, 3: -1.0}


@pytest.mark.parametrize("query", ["λ for Zürich", "whichever λ", "λ? for Zürich"])
def test_words_ask_nothing(notes, query):
    """Where words are looked for, a question that was noted is as good as any other note."""
    assert QuestionPenalty()(parse(query, now=NOW), notes) == {}


def test_usual_sizes_are_alike():
    """Between sixteen words and 128 different tokens nothing is said."""
    assert size_evidence(SHORT, 3) == size_evidence(10_000, LONG) == 0.0


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 600), st.integers(0, 600))
def test_nearer_to_the_usual_is_never_worse(size, more, tokens, fewer):
    """Of two memories the one that is neither shorter nor longer never gets less."""
    assert size_evidence(size + more, max(0, tokens - fewer)) >= size_evidence(size, tokens)


def test_a_word_is_as_good_as_three():
    """Below four words no more is taken off: a name may be all that was noted."""
    assert size_evidence(1, 1) == size_evidence(SHORTEST, 4) == size_evidence(0, 0)


def test_a_store_tells_sizes(tmp_path):
    """In a search, a heading has less than a text of a line, a page less too, and a text in another script its due."""
    page = " ".join(map("".join, product("abcdefghiklmnoprst", repeat=2)))
    texts = {
        "heading": "Umsatz in Zürich",
        "note": "Der Umsatz in Zürich stieg im März, weil die λ der Nachfrage größer war als erwartet, auch anderswo.",
        "page": f"Umsatz in Zürich. {page}",
        "script": "チューリッヒのUmsatzは三月に増えました。予想よりも需要のλが大きかったためです。",
    }
    with MemoryStore(tmp_path / "λ.sqlite") as store:
        for name, text in texts.items():
            store.add(text, source=name, kind="file")
        found = store.hits("Umsatz Zürich", limit=4)

    values = {hit.memory.source: hit.signals["length_penalty"].value for hit in found.hits}
    assert values["note"] == values["script"] == 0.0
    assert values["heading"] < 0 > values["page"]


def test_a_note_may_be_short(tmp_path):
    """A note that was typed by itself loses nothing for its size; a turn of a conversation, as short, does."""
    with MemoryStore(tmp_path / "λ.sqlite") as store:
        store.add("Zürich prices are net of tax", source="note")
        store.add("Zürich prices, you say?", source="turn", session="3")
        found = store.hits("prices in Zürich", limit=2)

    values = {hit.memory.source: hit.signals["length_penalty"].value for hit in found.hits}
    assert values["turn"] < values["note"] == 0.0
