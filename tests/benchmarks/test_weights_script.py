"""The script that fits the weights of `auto` without one set at a time."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parents[2]
NOTES = {
    "a": "Der Umsatz in Zürich stieg im März um drei Prozent, weil die Nachfrage größer war.",
    "b": "We scaled the electricity prices by λ = 0.3 before the regression, as the tails were long.",
    "c": "Which λ did we take?",
}


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(HERE / "benchmarks" / "weights.py"))


@pytest.fixture
def pools(script, tmp_path):
    """What is kept of a set of three notes and two questions."""
    folder = tmp_path / "week"
    folder.mkdir()
    corpus = [{"_id": name, "text": text} for name, text in NOTES.items()]
    queries = [{"_id": "1", "text": "which λ for the prices?"}, {"_id": "2", "text": "Umsatz Zürich"}]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), encoding="utf-8")
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), encoding="utf-8")
    (folder / "qrels.tsv").write_text("1\tb\t1\n2\ta\t1\n", encoding="utf-8")
    return script["read"](folder, "static", None, None)


def test_weights_that_ship_rank_as_the_search_does(script, pools):
    """The kept values under the shipped weights give the quality of the search itself; turned round they give less."""
    shipped = script["shipped"]()

    assert pools.ndcg(shipped) == pytest.approx(1.0)
    assert pools.ndcg({**shipped, "soft": -50.0, "meaning": -50.0}) < 1.0


def test_the_weight_that_helps_is_found(script, pools):
    """Where one term alone knows the answer, the search gives it a weight, and never ends with less than it began."""
    asks = script["FREE"].index("asks")
    blind = np.zeros_like(pools.free)
    blind[:, :, asks] = pools.grades
    words = np.where(np.isfinite(pools.fixed), -pools.grades * 0.15, -np.inf)
    made = script["Pools"]("week", "static", blind, pools.words, words, pools.grades, pools.ideal)
    begin = dict.fromkeys(script["FREE"], 0.05)

    found = script["fitted"]([made], begin)

    assert made.ndcg(begin) < made.ndcg(found) == pytest.approx(1.0)
    assert found["asks"] > 0.15
