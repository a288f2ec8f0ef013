"""How far a slider goes for a weight, and in what steps: round numbers of the weight's own size."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

# How many times the weight there is room for, before it is rounded up.
_ROOM = 2.5
_STEPS = 100


@dataclass(frozen=True, slots=True)
class Range:
    """From ``low`` to ``high`` in steps of ``step``, shown with so many ``decimals``."""

    low: float
    high: float
    step: float
    decimals: int


def range_of(weight: float) -> Range:
    """Return the range of a slider for a weight; it reaches below 0 only for a weight that does.

    >>> range_of(0.05), range_of(0.9).high, range_of(0.0).high, range_of(-0.3).low
    (Range(low=0.0, high=0.2, step=0.002, decimals=3), 5.0, 1.0, -1.0)
    """
    high = _rounded_up(abs(weight) * _ROOM) if weight else 1.0
    step = float(f"{high / _STEPS:.6g}")
    return Range(-high if weight < 0 else 0.0, high, step, max(0, -floor(log10(step))))


def _rounded_up(number: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, 50 … and 0.5, 0.2, 0.1 …"""
    power = floor(log10(number))
    for power_of_ten in (power, power + 1):
        for digit in (1, 2, 5):
            # Read back from text, so that 0.2 is 0.2.
            if (candidate := float(f"{digit}e{power_of_ten}")) >= number:
                return candidate
    raise AssertionError(number)
