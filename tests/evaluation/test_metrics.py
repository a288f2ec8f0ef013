"""The metrics, checked against ir-measures and by hand; how sure a mean of them is, and a difference."""

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R, Success, nDCG

from jupyter_memory.evaluation import METRICS, interval, p_value

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


def test_metrics_by_hand():
    """A grade of 2 in second place and 1 missing: (2/log2 3) / (2/log2 2 + 1/log2 3); nothing found or wanted is 0."""
    assert METRICS["ndcg@10"](["b", "a"], {"a": 2, "c": 1}) == pytest.approx((2 / 1.5849625) / (2 + 1 / 1.5849625))
    assert all(metric([], {"a": 1.0}) == 0.0 for metric in METRICS.values())
    assert METRICS["ndcg@10"](["a"], {}) == METRICS["recall@10"](["a"], {}) == 0.0


def test_an_interval_holds_the_mean_and_narrows():
    """It is narrower for more questions, and wider where those of one conversation succeed and fail together."""
    few, many = [0.0, 1.0] * 10, [0.0, 1.0] * 200
    low, high = interval(few)
    assert low < 0.5 < high and interval(few) == (low, high)
    assert interval(many)[1] - interval(many)[0] < (high - low) / 2
    values, groups = [1.0] * 50 + [0.0] * 50, [str(place // 25) for place in range(100)]
    single, grouped = interval(values), interval(values, groups)
    assert grouped[1] - grouped[0] > 2 * (single[1] - single[0])
    assert interval(values, ["λ"] * 100) == single  # one conversation alone: nothing to draw from


def test_p_value():
    """The same rankings cannot be told apart; one that is better throughout can; the sign does not matter."""
    base = [0.5] * 30
    assert p_value(base, base) == 1.0 and p_value([0.6, 0.4] * 15, base) > 0.9
    assert p_value([0.6] * 30, base) == p_value([0.4] * 30, base) == pytest.approx(1 / 10_001)
    # Five conversations that all gain tell less than their hundred questions: p is about 2 of 32 then.
    base, better, groups = [0.5] * 100, [0.6] * 100, [str(place // 20) for place in range(100)]
    assert p_value(better, base, groups) == pytest.approx(2 / 32, rel=0.1)
    assert p_value(better, base, ["Zürich"] * 100) == p_value(better, base) == pytest.approx(1 / 10_001)
