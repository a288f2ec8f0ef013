"""The script that fits the weights of `auto` without one set at a time."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import apsw
import numpy as np
import pytest

from jupyter_memory.evaluation.datasets import read_judged
from jupyter_memory.evaluation.runner import beds
from jupyter_memory.storage import Model
from jupyter_memory.storage.base import Calibration
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex

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
def week(tmp_path):
    """A judged set of three notes and two questions."""
    folder = tmp_path / "week"
    folder.mkdir()
    corpus = [{"_id": name, "text": text} for name, text in NOTES.items()]
    queries = [{"_id": "1", "text": "which λ for the prices?"}, {"_id": "2", "text": "Umsatz Zürich"}]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), encoding="utf-8")
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), encoding="utf-8")
    (folder / "qrels.tsv").write_text("1\tb\t1\n2\ta\t1\n", encoding="utf-8")
    return folder


@pytest.fixture
def pools(script, week):
    """What is kept of the set."""
    return script["read"](week, "static", None, None)


def test_weights_that_ship_rank_as_the_search_does(script, pools):
    """The kept values under the shipped weights give the quality of the search itself; turned round they give less."""
    shipped = script["shipped"]()
    turned = {**shipped.weights, "question_penalty": -50.0}

    assert pools.ndcg(shipped) == pytest.approx(1.0)
    assert pools.ndcg(script["Setting"](turned, shipped.hub_penalty)) < 1.0


def made(script, pools, free, fixed):
    """Return the set with other values."""
    return script["Pools"]("week", "static", free, pools.words, fixed, pools.grades, pools.ideal)


def test_the_weight_that_helps_is_found(script, pools):
    """Where one term alone knows the answer, the search gives it a weight, and never ends with less than it began."""
    asks = script["FREE"].index("question_penalty")
    blind = np.zeros((*pools.grades.shape, len(script["FREE"])), np.float32)
    blind[:, :, asks] = pools.grades
    words = np.where(np.isfinite(pools.fixed), -pools.grades * 0.15, -np.inf)
    only = made(script, pools, dict.fromkeys(pools.free, blind), words)
    begin = script["Setting"](dict.fromkeys(script["FREE"], 0.05), script["NO_PENALTY"])

    found = script["fitted"]([only], begin)

    assert only.ndcg(begin) < only.ndcg(found) == pytest.approx(1.0)
    assert found.weights["question_penalty"] > 0.15
    assert found.hub_penalty == begin.hub_penalty


def test_the_hub_penalty_that_helps_is_found(script, pools):
    """Where only one hub penalty puts the answers first, it is the one that is found."""
    blind = np.zeros((*pools.grades.shape, len(script["FREE"])), np.float32)
    knowing = np.repeat(pools.grades[:, :, None], len(script["FREE"]), axis=2)
    words = np.where(np.isfinite(pools.fixed), -pools.grades * 0.01, -np.inf)
    only = made(script, pools, {**dict.fromkeys(pools.free, blind), (0.2, 10): knowing}, words)

    found = script["fitted"]([only], script["Setting"](dict.fromkeys(script["FREE"], 0.05), script["NO_PENALTY"]))

    assert found.hub_penalty == (0.2, 10)


def test_the_hub_penalty_that_ships_is_that_of_the_search(script, week, tmp_path):
    """Computed anew, the penalty that ships gives what the search gave; without one, meaning says something else."""
    script["read"](week, "static", None, tmp_path)
    [path] = tmp_path.glob("*.sqlite")
    connection = apsw.Connection(str(path))
    VectorIndex().keep_calibration(connection, Model(1, "", "", 0), Calibration(1_000, 3.0))
    connection.close()

    judged = read_judged(week)
    with beds(judged, "static", work=tmp_path) as opened:
        asked = [script["asked"](opened[one.group], one) for one in judged.questions]

    unpenalised = [others[script["NO_PENALTY"]] == pytest.approx(rows[:, 3:]) for rows, others in asked]

    assert all(others[script["SHIPPED"]] == pytest.approx(rows[:, 3:]) for rows, others in asked)
    # A single candidate has the mean hubness of all.
    assert unpenalised == [len(rows) == 1 for rows, _ in asked] != [True, True]


def test_an_oracle_knows_each_question(script, pools):
    """The best weighting for each question is never worse than the one that ships for all."""
    blind = {hub_penalty: -values for hub_penalty, values in pools.free.items()}
    turned = made(script, pools, blind, pools.fixed)

    assert pools.oracle() == pytest.approx(1.0)
    assert turned.ndcg(script["shipped"]()) <= turned.oracle() <= 1.0
