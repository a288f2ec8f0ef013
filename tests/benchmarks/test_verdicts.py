"""The judged sets that come with the project: questions about notebooks, answerable and not."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import nbformat
import pytest

from jupyter_memory.evaluation.answerability import HALVES, answerability, half_of
from jupyter_memory.evaluation.datasets import read_judged_cells

HERE = Path(__file__).parents[2]
SETS = HERE / "benchmarks" / "verdicts"
SAMPLES = HERE / "notebooks" / "samples"
BOOK = Path(os.environ.get("JUPYTER_MEMORY_TEST_DATA", HERE.parent / "shared" / "data")) / "notebooks"


def test_four_hundred_questions():
    """Two hundred are answerable, of every type, and as many are not; no question is asked twice."""
    sets = [read_judged_cells(folder) for folder in (SETS / "book", SETS / "samples")]
    answerable = [one for judged in sets for one in judged.questions]
    unanswerable = [one for judged in sets for one in judged.unanswerable]

    assert (len(answerable), len(unanswerable)) == (200, 200)
    assert len({one.text for one in (*answerable, *unanswerable)}) == 400
    assert sum(judged.unjudged for judged in sets) == 0
    assert min(Counter(one.type for one in answerable).values()) >= 15
    assert min(Counter(one.type for one in unanswerable).values()) >= 10


def test_half_is_kept_out():
    """The halves are about equally large, for questions of both sorts."""
    sets = [read_judged_cells(folder) for folder in (SETS / "book", SETS / "samples")]

    for sort in (
        [one for judged in sets for one in judged.questions],
        [one for judged in sets for one in judged.unanswerable],
    ):
        assert all(abs(sum(half_of(one) == half for one in sort) - 100) < 10 for half in HALVES)


@pytest.mark.parametrize(("name", "notebooks"), [("book", BOOK), ("samples", SAMPLES)])
def test_judged_cells_exist(name, notebooks):
    """Each judgement names a cell that is there and not empty, or a file of another kind as its only place."""
    if not notebooks.is_dir():
        pytest.skip(f"{notebooks} is not there; set JUPYTER_MEMORY_TEST_DATA to the folder that has it")
    judged = read_judged_cells(SETS / name)
    cells = {}

    for document in {one for question in judged.questions for one in question.grades}:
        file, _, place = document.rpartition("#")
        if file not in cells:
            (path,) = notebooks.rglob(file)
            cells[file] = [""] if path.suffix == ".md" else nbformat.read(path, as_version=4).cells
        assert int(place) < len(cells[file]), document
        assert file.endswith(".md") or cells[file][int(place)].source.strip(), document


def test_verdicts_about_the_samples(tmp_path):
    """What the samples cannot answer is not called strong, and what is found first is seldom called none."""
    rows = answerability([SETS / "samples"], "static", notebooks=[SAMPLES], work=tmp_path)

    assert sum(len(row.right) for row in rows) == 63
    assert sum(row.false_strong * len(row.other) for row in rows) <= 0.03 * 60
    assert sum(row.false_none * sum(row.found) for row in rows) <= 0.05 * 60
    assert min(row.trusted for row in rows) > 0.6
    assert min(row.auroc for row in rows) > 0.9
