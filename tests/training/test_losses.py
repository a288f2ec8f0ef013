"""The gradients that training follows are those of its losses."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy", reason="training needs scipy: pip install -r training/requirements.txt")

from training.losses import contrast, distil

STEP = 1e-3


def _slope(loss, values, place):
    """Return the difference quotient of a loss by one number of an array."""
    higher, lower = values.copy(), values.copy()
    higher[place] += STEP
    lower[place] -= STEP
    return (loss(higher) - loss(lower)) / (2 * STEP)


@pytest.mark.parametrize("width", [6, 4])
def test_the_gradient_of_the_contrast_is_its_slope(width):
    """Checked by difference quotients, at the whole length and at a cut one, with a pair that is no negative."""
    random = np.random.default_rng(0)
    questions, answers = random.normal(size=(2, 5, 6))
    same = np.zeros((5, 5), bool)
    same[0, 1] = same[1, 0] = True
    _, of_questions, of_answers = contrast(questions, answers, same, width)
    for place in [(0, 0), (3, 2), (4, width - 1)]:
        found = _slope(lambda values: contrast(values, answers, same, width)[0], questions, place)
        assert of_questions[place] == pytest.approx(found, abs=1e-3)
        found = _slope(lambda values: contrast(questions, values, same, width)[0], answers, place)
        assert of_answers[place] == pytest.approx(found, abs=1e-3)


def test_the_gradient_of_distillation_is_its_slope():
    """Checked by difference quotients at a cut length."""
    random = np.random.default_rng(1)
    texts, taught = random.normal(size=(6, 5)), random.normal(size=(6, 8))
    taught /= np.linalg.norm(taught, axis=1, keepdims=True)
    _, gradient = distil(texts, taught, 4)
    for place in [(0, 0), (2, 3), (5, 1)]:
        found = _slope(lambda values: distil(values, taught, 4)[0], texts, place)
        assert gradient[place] == pytest.approx(found, abs=1e-3)


def test_a_student_that_agrees_with_the_teacher_has_nothing_to_learn():
    """The same vectors: no loss, no gradient."""
    texts = np.random.default_rng(2).normal(size=(6, 5))
    loss, gradient = distil(texts, texts / np.linalg.norm(texts, axis=1, keepdims=True), 5)
    assert loss == pytest.approx(0, abs=1e-6)
    assert np.abs(gradient).max() < 1e-6
