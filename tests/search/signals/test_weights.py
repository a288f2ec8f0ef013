"""The scale of auto's evidence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.search.sample import Background
from jupyter_memory.search.signals.weights import semantic_evidence


def test_a_cosine_is_measured_against_the_store():
    """The same cosine says much where nothing else is near, and little where everything is."""
    apart = Background.of(np.array([0.0, 0.1, 0.2], dtype=np.float32))
    alike = Background.of(np.array([0.5, 0.6, 0.7], dtype=np.float32))

    assert apart is not None
    assert alike is not None
    assert apart.margin(0.6) == pytest.approx(6.12, abs=0.01)
    assert alike.margin(0.6) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("cosines", [[], [0.3], [0.3, 0.3]])
def test_nothing_stands_out_from_nothing(cosines):
    """A store of one memory, or of copies, has no background."""
    assert Background.of(np.array(cosines, dtype=np.float32)) is None


@given(st.floats(-8, 8), st.floats(-8, 8), st.integers(0, 64))
def test_a_larger_margin_never_says_less(one, other, terms):
    """Evidence grows with the margin, whatever its sign."""
    low, high = sorted((one, other))

    assert semantic_evidence(low, terms) <= semantic_evidence(high, terms)
