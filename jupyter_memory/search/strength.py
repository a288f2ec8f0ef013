"""How sure it is that a store answers a query at all, from evidence that means the same for every query and store.

A logistic regression on three measurements. Learnt on the judged sets against questions asked of memories that cannot
answer them (another conversation's, another kind of text's).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Literal

Verdict = Literal["strong", "weak", "none"]

INTERCEPT = -5.33
COVERAGE = 5.55
SOFT = 3.18
MARGIN = 1.27

# The first loses 2 of 100 answerable questions of the judged sets; 5 of 100 that nothing answers reach the second.
NONE_BELOW = 0.12
STRONG_FROM = 0.6


@dataclass(frozen=True, slots=True)
class Clues:
    """What speaks for an answer.

    ``coverage``: the share, weighted by idf, of the query's terms that one memory holds, 0 to 1. ``soft``: its soft
    match, about 0 to 1. ``margin``: how many standard deviations its cosine lies above that of two random chunks of the
    store; None where no model looked.
    """

    coverage: float
    soft: float
    margin: float | None = None

    @property
    def strength(self) -> float:
        """Return the probability that this answers, 0 to 1.

        >>> round(Clues(coverage=0.9, soft=0.8, margin=2.0).strength, 2), round(Clues(0.1, 0.4, 0.5).strength, 2)
        (0.99, 0.05)
        """
        margin = self._usual_margin if self.margin is None else self.margin
        logit = INTERCEPT + COVERAGE * self.coverage + SOFT * self.soft + MARGIN * margin
        return 1 / (1 + exp(-max(-30.0, min(30.0, logit))))

    @property
    def _usual_margin(self) -> float:
        """Return the margin that goes with the other two, by linear regression over the same questions."""
        return -1.42 + 1.27 * self.coverage + 3.28 * self.soft


def verdict(strength: float) -> Verdict:
    """Return what a strength means in a word.

    >>> verdict(0.95), verdict(0.3), verdict(0.02)
    ('strong', 'weak', 'none')
    """
    if strength < NONE_BELOW:
        return "none"
    return "strong" if strength >= STRONG_FROM else "weak"
