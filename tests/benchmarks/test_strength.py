"""The script that fits the constants of `strength`."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.evaluation.datasets import Question
from jupyter_memory.evaluation.runner import Bed
from jupyter_memory.search import confidence

HERE = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(HERE / "benchmarks" / "strength.py"))


def test_the_constants_that_ship_give_the_strength_that_is_shown(script, tmp_path):
    """What is kept of an answer and the constants give its strength, and whether one of its first hits is right."""
    answers = script["Answers"]("week")
    asked = {"which λ for the prices?": "prices", "Umsatz Zürich": "prices", "prices with xgboost": "prices"}
    with MemoryStore(tmp_path / "λ.sqlite") as store:
        prices = store.add("We scaled the prices by λ = 0.3 before the regression.", title="Prices")
        sales = store.add("Der Umsatz in Zürich stieg im März um drei Prozent.", title="Umsatz")
        bed = Bed(store, {prices.id: "prices", sales.id: "sales"})
        shown = [store.hits(text).strength for text in asked]
        for text, right in asked.items():
            answers.add(Question("1", text, {right: 1.0}), bed, own=True, tuning=True)

    constants = np.array([getattr(confidence, name) for name in script["NAMES"]])
    assert script["likely"](constants, answers) == pytest.approx(shown)
    assert answers.right == [True, False, True] and answers.bounded == [False, False, True]


def test_a_regression_finds_what_made_the_answers(script):
    """The coefficients of ten thousand simulated answers come back."""
    rng = np.random.default_rng(7)
    made = np.array([-1.0, 2.0, -0.5])
    x = np.c_[np.ones(10_000), rng.normal(size=(10_000, 2))]
    right = (rng.random(10_000) < 1 / (1 + np.exp(-x @ made))).astype(float)

    assert script["regression"](x, right, np.ones(10_000)) == pytest.approx(made, abs=0.15)


def test_the_hit_of_the_greatest_strength_is_fitted(script):
    """Of the hits of an answer, the strongest by the constants counts, wherever it ranks."""
    answers = script["Answers"]("three hits", rows=[[0.1], [0.9], [0.4]], owners=[0, 0, 1], right=[True, False])

    assert script["best_rows"](np.array([0.0, 1.0]), answers).tolist() == [[0.9], [0.4]]
    assert script["best_rows"](np.array([0.0, -1.0]), answers).tolist() == [[0.1], [0.4]]
