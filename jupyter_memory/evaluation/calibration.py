"""Measures of probabilities: how well they separate, and how far they are from what happens."""

from __future__ import annotations

from collections.abc import Sequence

# The mean probability is compared with the share of what happened in each of so many equal bins.
BINS = 10


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the area under the ROC curve: the probability that a positive is above a negative, ties counting half.

    Hanley and McNeil, Radiology 1982.

    >>> auroc([0.9, 0.4], [0.4, 0.1])
    0.875
    """
    order = sorted([(value, 0) for value in negative] + [(value, 1) for value in positive])
    wins, below, place = 0.0, 0, 0
    while place < len(order):
        end = place
        while end < len(order) and order[end][0] == order[place][0]:
            end += 1
        ups = sum(side for _, side in order[place:end])
        downs = end - place - ups
        wins += ups * (below + downs / 2)
        below, place = below + downs, end
    return wins / (len(positive) * len(negative))


def calibration_error(strengths: Sequence[float], answered: Sequence[bool]) -> float:
    """Return the expected calibration error: the mean distance of strength from the share that is answered, by bins.

    Naeini, Cooper and Hauskrecht, AAAI 2015, with ten bins of equal width.

    >>> round(calibration_error([0.9, 0.95, 0.1, 0.1], [True, False, False, False]), 3)
    0.263
    """
    bins: dict[int, list[tuple[float, bool]]] = {}
    for strength, answer in zip(strengths, answered, strict=True):
        bins.setdefault(min(int(strength * BINS), BINS - 1), []).append((strength, answer))
    gaps = (abs(sum(strength - answer for strength, answer in pairs)) for pairs in bins.values())
    return sum(gaps) / len(strengths)
