"""The measured thresholds: how they are found, and that the shipped ones hold on the judged sets."""

from __future__ import annotations

import os
import runpy
from pathlib import Path

import numpy as np
import pytest

from jupyter_memory.embedders import StaticEmbedder

HERE = Path(__file__).parents[2]
JUDGED = Path(os.environ.get("JUPYTER_MEMORY_TEST_DATA", HERE.parent / "shared" / "data")) / "judged"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(HERE / "benchmarks" / "threshold.py"))


def test_highest_that_loses_no_more(script):
    """The threshold is the highest of two decimals that keeps the allowed share, all sets counting the same."""
    few = script["Cosines"](np.array([0.105, 0.305, 0.505, 0.705]), np.array([]))
    many = script["Cosines"](np.full(1000, 0.405), np.array([]))

    highest = script["highest_threshold"]

    assert highest([few], allowed=0) == 0.10
    assert highest([few], allowed=0.25) == 0.30
    assert highest([few, many], allowed=0.25) == 0.40


def test_pairs_of_a_set(script, tmp_path):
    """Relevant pairs are the judged ones with a title put first; chance pairs stay in the group and are not judged."""
    (tmp_path / "corpus.jsonl").write_text(
        '{"_id": "d1", "title": "Umsatz", "text": "Zürich λ", "group": "a"}\n'
        '{"_id": "d2", "title": "", "text": "Preise", "group": "a"}\n'
        '{"_id": "d3", "title": "", "text": "elsewhere", "group": "b"}\n',
        encoding="utf-8",
    )
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "sales", "group": "a"}\n', encoding="utf-8")
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n", encoding="utf-8")

    pairs = script["read_set"](tmp_path, 10)

    assert [[pairs.texts[row] for row in pair] for pair in pairs.relevant] == [["sales", "Umsatz\nZürich λ"]]
    assert all(pairs.texts[document] == "Preise" for _, document in pairs.unrelated)


@pytest.mark.parametrize("dimensions", [256, 128, 64])
@pytest.mark.parametrize(
    ("name", "lost_by_minilm"), [("locomo", 0.1142), ("scifact", 0.054), ("cosqa", 0.004), ("docs", 0.068)]
)
def test_shipped_thresholds(script, name, lost_by_minilm, dimensions):
    """On each judged set the shipped threshold loses no more relevant pairs than 0.3 does with MiniLM."""
    if not (JUDGED / name).is_dir():
        pytest.skip(f"no judged set {name}: JUPYTER_MEMORY_TEST_DATA names the folder that holds judged/{name}")
    pairs = script["read_set"](JUDGED / name, 2000)
    embedder = StaticEmbedder(dimensions)

    found = script["cosines"](pairs, embedder.embed_documents(pairs.texts))

    assert script["lost"](found.relevant, embedder.threshold) <= lost_by_minilm
