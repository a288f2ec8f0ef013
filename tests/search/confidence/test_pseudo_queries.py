"""Questions that are made from passages, and what is left of a passage as their answer."""

from __future__ import annotations

import pytest

from jupyter_memory.search.confidence import pseudo_queries, pseudo_query
from jupyter_memory.storage import EmbeddedParts
from jupyter_memory.text import context

DAY = "Monday 23 November 2026"
DOCSTRING = 'def λ(xs):\n    """Mean of all prices.\n\n    Slow."""\n    return sum(xs)'
TELLING = "Yes. We scaled them to zero mean. That was in März, too."


def cell(text: str, heading: str = "", above: str = "") -> EmbeddedParts:
    """A passage as a notebook's cell under a heading and below some Markdown is stored."""
    title = f"02 raw prices.ipynb – {heading}" if heading else "02 raw prices.ipynb"
    prefix = context("02 raw prices.ipynb", ["Prices", heading] if heading else [], above, DAY)
    return EmbeddedParts("cell", title, prefix, text)


def note(text: str, title: str = "") -> EmbeddedParts:
    """A passage as a note is stored."""
    return EmbeddedParts("note", title, DAY, text)


@pytest.mark.parametrize(
    ("passage", "question", "answer"),
    [
        (note(DOCSTRING), "Mean of all prices.", "return"),
        (
            note("Prices in Zürich 2026\nThey rose by a third.", "Prices in Zürich 2026"),
            "Prices in Zürich 2026",
            "rose",
        ),
        (note(TELLING, "Prices"), "We scaled them to zero mean.", "März"),
        (cell("## Rise by a third\n\nWe were surprised.", "Rise by a third"), "Rise by a third", "surprised"),
        (
            cell("df.plot(x='day')\ndf.head()\nlen(df)", above="Much noise. Draw what is left."),
            "Draw what is left.",
            "plot",
        ),
        (cell(TELLING, "Prices"), "We scaled them to zero mean.", "März"),
        (
            EmbeddedParts("file", "notes.md", context("notes.md", ["Prices", "Rise by a third"], when=DAY), TELLING),
            "Rise by a third",
            "zero mean",
        ),
    ],
    ids=["docstring", "title", "sentence of a note", "heading", "words above", "sentence of a cell", "section"],
)
def test_a_passage_is_taken_apart(passage, question, answer):
    """What looks most like a question asks; what is left of the passage answers, and does not hold the question."""
    (taken,) = pseudo_queries([passage], 1)

    assert taken.question == question
    assert answer in taken.answer
    assert question not in taken.answer


@pytest.mark.parametrize("text", ["", "Prices.", "Yes. No.", '"""Prices"""', '""""""', "x = 1\n\ny=2"])
def test_too_short_a_passage_asks_nothing(text):
    """A passage with hardly a word makes no question."""
    assert pseudo_query(note(text)) is None


def test_a_heading_asks_once():
    """Of two cells under one heading, neither would be the only right answer; the name of the notebook never asks."""
    cells = [
        cell(f"We scaled the prices of {year}. They rose by a third then.", "How we scaled") for year in (2024, 2025)
    ]

    assert [one.question for one in pseudo_queries(cells, 9)] == ["How we scaled", "We scaled the prices of 2025."]


def test_no_more_questions_than_needed():
    """Reading stops when there are enough, however large the store."""
    endless = (note(f"We scaled the prices of {number}. They rose by a third then.") for number in iter(int, 1))

    assert len(pseudo_queries(endless, 5)) == 5
