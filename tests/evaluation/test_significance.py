"""Intervals and tests of differences: the same each time, wider for fewer or dependent questions."""

from __future__ import annotations

import pytest

from jupyter_memory.evaluation.metrics import interval, p_value


def test_an_interval_holds_the_mean_and_narrows():
    """The interval lies around the mean and is narrower for more questions; the same values give the same one."""
    few, many = [0.0, 1.0] * 10, [0.0, 1.0] * 200
    low, high = interval(few)

    assert low < 0.5 < high
    assert interval(many)[1] - interval(many)[0] < (high - low) / 2
    assert interval(few) == (low, high)


def test_dependent_questions_make_it_wider():
    """Questions of one conversation that succeed and fail together are drawn together."""
    values, groups = [1.0] * 50 + [0.0] * 50, [str(place // 25) for place in range(100)]
    single, grouped = interval(values), interval(values, groups)

    assert grouped[1] - grouped[0] > 2 * (single[1] - single[0])
    assert interval(values, ["λ"] * 100) == single  # one conversation alone: nothing to draw from


def test_p_value():
    """The same rankings cannot be told apart; one that is better throughout can; the sign does not matter."""
    base = [0.5] * 30
    assert p_value(base, base) == 1.0
    assert p_value([0.6] * 30, base) == pytest.approx(1 / 10_001)
    assert p_value([0.6, 0.4] * 15, base) > 0.9
    assert p_value([0.6] * 30, base) == p_value([0.4] * 30, base)


def test_conversations_are_turned_as_a_whole():
    """Five conversations that all gain tell less than their hundred questions: p is about 2 of 32 then."""
    base, better, groups = [0.5] * 100, [0.6] * 100, [str(place // 20) for place in range(100)]

    assert p_value(better, base) == pytest.approx(1 / 10_001)
    assert p_value(better, base, groups) == pytest.approx(2 / 32, rel=0.1)
    assert p_value(better, base, ["Zürich"] * 100) == p_value(better, base)
