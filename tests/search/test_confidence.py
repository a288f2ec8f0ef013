"""How sure it is that a store answers a query at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.search.confidence import Confidence, verdict

shares = st.floats(0, 1)
margins = st.none() | st.floats(-5, 12)


@given(shares, shares, margins)
def test_strength_is_a_probability(coverage, soft, margin):
    """Whatever the clues, strength is between 0 and 1."""
    assert 0 < Confidence(coverage, soft, margin).strength < 1


@given(shares, shares, shares, margins)
def test_every_clue_speaks_for_an_answer(low, high, other, margin):
    """More coverage never makes an answer less sure, nor does a better soft match."""
    low, high = sorted((low, high))

    assert Confidence(low, other, margin).strength <= Confidence(high, other, margin).strength
    assert Confidence(other, low, margin).strength <= Confidence(other, high, margin).strength


@pytest.mark.parametrize(
    ("clues", "said"),
    [
        (Confidence(coverage=0.95, max_sim=0.9, margin=3.0), "strong"),
        (Confidence(coverage=0.45, max_sim=0.6, margin=1.0), "weak"),
        (Confidence(coverage=0.1, max_sim=0.35, margin=-0.2), "none"),
        # A paraphrase shares no word with what it asks for.
        (Confidence(coverage=0.0, max_sim=0.55, margin=3.5), "strong"),
        # No model looked.
        (Confidence(coverage=0.95, max_sim=0.95), "strong"),
        (Confidence(coverage=0.1, max_sim=0.4), "none"),
    ],
)
def test_a_verdict_in_a_word(clues, said):
    """All words of a query near each other answer it, a stray one does not, and meaning alone may do."""
    assert verdict(clues.strength) == said
