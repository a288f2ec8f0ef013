"""Tests of the order of candidates that are equally good."""

from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.search import newer_first
from jupyter_memory.search.postprocessing import best_first


@given(scores=st.lists(st.sampled_from([0.0, 0.25, 0.5]) | st.floats(-1, 1), max_size=20))
def test_best_first(context, memory, scores):
    """The best come first, and of equal ones the order is that of their age and content, whatever it was before."""
    candidates = list(context([memory(key, source=f"λ{key}.md") for key in range(1, len(scores) + 1)]))
    of_each = {one.key: score for one, score in zip(candidates, scores, strict=True)}

    expected = sorted(candidates, key=lambda one: (-of_each[one.key], *newer_first(one.memory)))

    assert best_first(candidates, of_each) == expected == best_first(candidates[::-1], of_each)
