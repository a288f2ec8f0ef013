"""A question seldom answers a question."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jupyter_memory.search.query.parser import parse
from jupyter_memory.search.signals import QuestionPenalty
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
