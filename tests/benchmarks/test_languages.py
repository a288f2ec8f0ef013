"""The judged sets in other languages that come with the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_memory.evaluation.answerability import half_of
from jupyter_memory.evaluation.datasets import read_judged, read_judged_cells

HERE = Path(__file__).parents[2]
SETS = HERE / "benchmarks" / "languages"
NOTES = ("german", "french", "spanish", "chinese", "japanese")
OVER_ENGLISH = ("german_over_english", "french_over_english")


@pytest.mark.parametrize("name", NOTES)
def test_notes_and_questions(name):
    """Each language has thirty notes or more, all different, and twenty questions that one or two of them answer."""
    judged = read_judged(SETS / name)

    assert len({document.text for document in judged.documents}) == len(judged.documents) >= 30
    assert len({question.text for question in judged.questions}) == 20 and judged.unjudged == 0
    assert all(1 <= len(question.grades) <= 2 for question in judged.questions)
    assert 5 <= sum(half_of(question) == "tuning" for question in judged.questions) <= 15


@pytest.mark.parametrize("name", OVER_ENGLISH)
def test_translated_questions(name):
    """Twenty questions are translations of those about the samples, and have their judgements."""
    judged = read_judged_cells(SETS / name)
    english = {one.id: one for one in read_judged_cells(HERE / "benchmarks" / "verdicts" / "samples").questions}

    assert len(judged.questions) == 20
    for question in judged.questions:
        assert question.grades == english[question.id].grades
