"""The metrics, checked against ir-measures and by hand."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R, Success, nDCG

from jupyter_memory.evaluation.metrics import METRICS, ndcg, recall

THEIRS = {
    "ndcg@10": nDCG @ 10,
    "recall@5": R @ 5,
    "recall@10": R @ 10,
    "recall_any@5": Success @ 5,
    "mrr@10": RR @ 10,
    "success@1": Success @ 1,
}
CELLS = [f"λ.ipynb#{place}" for place in range(30)]


@given(
    ranked=st.lists(st.sampled_from(CELLS), unique=True, min_size=1, max_size=20),
    grades=st.dictionaries(st.sampled_from(CELLS), st.integers(1, 3), min_size=1, max_size=8),
)
def test_as_ir_measures_has_them(ranked, grades):
    """Every metric of a ranked list is what the field's own library computes."""
    run = [ir_measures.ScoredDoc("q", name, -place) for place, name in enumerate(ranked)]
    judged = [ir_measures.Qrel("q", name, grade) for name, grade in grades.items()]
    theirs = ir_measures.calc_aggregate(THEIRS.values(), judged, run)

    for name, measure in THEIRS.items():
        assert METRICS[name](ranked, grades) == pytest.approx(theirs[measure]), name


def test_ndcg_by_hand():
    """A grade of 2 in second place and 1 missing: (2/log2 3) / (2/log2 2 + 1/log2 3)."""
    assert ndcg(["b", "a"], {"a": 2, "c": 1}, 10) == pytest.approx((2 / 1.5849625) / (2 + 1 / 1.5849625))


def test_nothing_found_and_nothing_wanted():
    """An empty list has 0, and so has a question without an answer."""
    assert all(metric([], {"a": 1.0}) == 0.0 for metric in METRICS.values())
    assert ndcg(["a"], {}, 10) == 0.0
    assert recall(["a"], {}, 10) == 0.0
