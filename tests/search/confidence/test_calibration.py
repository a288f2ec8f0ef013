"""How far meaning can be trusted in one store with one model."""

from __future__ import annotations

import nbformat
import numpy as np
import pytest

from jupyter_memory.search.confidence import ENOUGH, calibration, mean_reciprocal_rank, words_in_common


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


def trust(store):
    """How far the model of a store is trusted there."""
    with store._storage.snapshot() as snapshot:
        return snapshot.calibration(snapshot.models()[0]).value


def test_the_name_of_a_notebook_changes_nothing(store, tmp_path):
    """The same cells are trusted as far in a notebook whose name has many words: a name does not answer a question."""
    topics = ("prices", "demand", "weather", "stations", "trips", "λ")
    cells = [
        nbformat.v4.new_markdown_cell(f"# How we cleaned the {topic}\n\nWe dropped what {topic} lack.", id=f"m{row}")
        if row % 8 == 0
        else nbformat.v4.new_markdown_cell(f"Take {row} of the {topic}. They had a mean of {row}.", id=f"m{row}")
        for row, topic in enumerate(topic for topic in topics for _ in range(16))
    ]
    found = []
    for name in ("a.ipynb", "all that we know of the cleaning.ipynb"):
        folder = tmp_path / name.removesuffix(".ipynb")
        folder.mkdir()
        nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / name)
        of_name = store(f"{len(name)}.sqlite", embedder="static")
        of_name.index(folder)
        found.append(trust(of_name))

    assert found[0] == found[1] != 1.0
