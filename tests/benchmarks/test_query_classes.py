"""The script that scales the weights of `auto` by the class of the query."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return runpy.run_path(str(BENCHMARKS / "query_classes.py"))


def test_scales_change_what_they_name(script):
    """Twice the words put the answer first that only words know; half of them the one that meaning knows."""
    hub_penalty = script["shipped"]().hub_penalty
    free = np.zeros((2, 2, 6), np.float32)
    free[:, 1, 1] = 1.0  # max_sim of the second candidate is 1.2 in the weights that ship
    words = np.array([[0.7, 0.0], [1.5, 0.0]], np.float32)
    grades = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    pools = script["Pools"]("week", "static", {hub_penalty: free}, words, words.copy(), grades, np.ones(2))

    found = script["tried"](pools, ["λ prices", "how did we scale the prices of the week"])

    assert list(found.classes) == ["keyword", "semantic"]
    first, ndcg = 1.0, {scale: found.ndcg[:, place] for place, scale in enumerate(script["SCALES"])}
    assert [value == first for value in ndcg[1.0, 1.0]] == [False, False]
    assert [value == first for value in ndcg[2.0, 1.0]] == [True, False]
    assert [value == first for value in ndcg[0.5, 1.0]] == [False, True]
    assert [value == first for value in ndcg[1.0, 0.5]] == [True, False]
    assert [value == first for value in ndcg[1.0, 1.5]] == [False, True]


def test_the_scale_of_a_class_comes_from_other_sets(script, capsys):
    """What a set would gain by its own scale is told apart from what the others' choice gives it."""
    count = len(script["SCALES"])
    good, bad = np.full((6, count), 0.5), np.full((6, count), 0.5)
    good[:, 3], bad[:, 3] = 0.9, 0.2
    bad[:, 5] = 0.6
    classes = np.array(["keyword"] * 6)

    script["report"]([script["Tried"]("a", good, classes), script["Tried"]("b", bad, classes)])

    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [(row[0], row[1]) for row in rows] == [("a", "6/0/0"), ("b", "6/0/0")]
    assert [row[2:4] for row in rows] == [["0.500", "+0.000"], ["0.500", "-0.300"]]
    assert [row[6] for row in rows] == ["+0.400", "+0.100"]
