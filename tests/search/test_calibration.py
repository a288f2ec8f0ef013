"""How far meaning can be trusted in one store with one model."""

from __future__ import annotations

import numpy as np
import pytest

from jupyter_memory.search.calibration import (
    ENOUGH,
    calibration,
    mean_reciprocal_rank,
    words_in_common,
)


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
