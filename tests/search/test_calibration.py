"""How far meaning can be trusted in one store with one model."""

from __future__ import annotations

import numpy as np
import pytest

from jupyter_memory.search.calibration import (
    ENOUGH,
    PASSAGES,
    calibration,
    mean_reciprocal_rank,
    pseudo_queries,
    pseudo_query,
    words_in_common,
)


@pytest.mark.parametrize(
    ("title", "text", "question", "answer"),
    [
        (
            "",
            'def λ(xs):\n    """Mean of all prices.\n\n    Slow."""\n    return sum(xs)',
            "Mean of all prices.",
            "return",
        ),
        ("Prices in Zürich 2026", "Prices in Zürich 2026\nThey rose by a third.", "Prices in Zürich 2026", "They rose"),
        ("Prices", "Yes. We scaled them to zero mean. That was in März, too.", "We scaled them to zero mean.", "März"),
    ],
    ids=["docstring", "title", "sentence"],
)
def test_a_passage_is_taken_apart(title, text, question, answer):
    """A docstring, a title or the most telling sentence asks; what is left answers, and does not hold the question."""
    taken = pseudo_query(text, title)

    assert taken is not None
    assert taken.question == question
    assert answer in taken.answer
    assert question not in taken.answer


@pytest.mark.parametrize("text", ["", "Prices.", "Yes. No.", '"""Prices"""', '""""""', "x = 1\n\ny=2"])
def test_too_short_a_passage_asks_nothing(text):
    """Of a passage with hardly a word there is no pseudo_query."""
    assert pseudo_query(text) is None


def test_no_more_riddles_than_needed():
    """Reading stops when there are enough, however large the store."""
    endless = (("", f"We scaled the prices of {number}. They rose by a third then.") for number in iter(int, 1))

    assert len(pseudo_queries(endless)) == PASSAGES


def test_the_retriever_that_fails_less_is_trusted_more():
    """Meaning is trusted above 1 where only it finds the answers, below 1 where only words do, 1 where both do."""
    right, wrong = np.eye(ENOUGH), 1 - np.eye(ENOUGH)

    assert calibration(wrong, right) == 4
    assert calibration(right, wrong) == 0.3
    assert calibration(right, right) == calibration(wrong, wrong) == 1


def test_a_few_passages_prove_nothing():
    """A store with hardly a passage is of the average kind."""
    assert calibration(1 - np.eye(ENOUGH - 1), np.eye(ENOUGH - 1)) == 1


def test_equal_scores_share_a_place():
    """Where nothing tells the answers apart, each stands in the middle of them all."""
    assert mean_reciprocal_rank(np.zeros((3, 3))) == pytest.approx(1 / 2)
    assert mean_reciprocal_rank(np.array([[2, 1, 1], [2, 1, 1], [9, 9, 1]])) == pytest.approx((1 + 1 / 2.5 + 1 / 3) / 3)


def test_words_in_common_are_bm25():
    """A word that one answer of four holds counts log(3.5 / 1.5); one that none or all hold counts next to nothing."""
    answers = [["price", "up"], ["price", "down"], ["price", "λ"], ["price", "ü"]]

    scores = words_in_common([["λ", "price", "mean"]], answers)

    assert scores[0] == pytest.approx([0, 0, np.log(3.5 / 1.5), 0], abs=1e-5)
    assert words_in_common([], []).shape == (0, 0)
