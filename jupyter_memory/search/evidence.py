"""The weights of `auto` and the scale of its evidence: one linear sum for every kind of text and both sizes of model.

    score = WORDS * bm25 + MEANING * trust * terms * z * |z| + SOFT * soft + NEIGHBOUR * better neighbour's evidence
            + SESSION * evidence of the best other memory of its session
            - ASKS if it asks itself - SIZE * how far it is too short or too long

Fixed weights, but evidence that says by itself how much it is worth here. ``z`` is how far a cosine stands out from
the cosines of this query with the whole store. Of a normal distribution, z² / 2 is about the information of meeting
such a value by chance, as idf is of meeting a word: a leg for which everything is about equally near has a say in
nothing. BM25 grows with the number of words looked for, so the other grows with it. How far the model can be trusted
in this store is found out by `trust`; where that is much, what is near to everything counts less. A neighbour's
evidence is that of its words and its meaning. The constants were chosen on judged sets of five kinds of text, with two
models; a third more or less of meaning costs up to .02 nDCG@10; the session brings .01 where memories have one, and
nothing elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

WORDS = 0.05
MEANING = 0.005
SOFT = 1.2
# Of how crowded it is around a text, in a store where the model can be trusted without limit.
CROWD = 0.4
NEIGHBOUR = 0.4
SESSION = 0.4
# What a memory loses that asks itself, or is half as long as sixteen words, or twice as long as is usual (times ln 2).
ASKS = 0.25
SIZE = 0.3
# What happened at the time that the query surely names comes before all else that is about as good.
TIME = 1.5

# Columns of the keyword index.
COLUMNS: Mapping[str, float] = {"title": 2.0, "context": 1.0, "text": 1.0, "tags": 1.0, "ident": 0.5}
# Memories that each leg brings.
POOL = 100
# Chunks from all over the store whose cosines with the query are its background.
SAMPLE = 1_000


# One value, or as many together.
Values = TypeVar("Values", float, NDArray[np.float64])


@dataclass(frozen=True, slots=True)
class Background:
    """Mean and standard deviation of a query's cosines with the store as a whole."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, cosines: NDArray[np.floating]) -> Self | None:
        """Return the background that a sample of cosines shows; None where all are equal: nothing stands out."""
        if cosines.size < 2:
            return None
        mean, deviation = float(cosines.mean(dtype=np.float64)), float(cosines.std(dtype=np.float64))
        return cls(mean, deviation) if deviation > 1e-6 else None

    def margin(self, cosine: Values) -> Values:
        """Return how many standard deviations a cosine lies above the mean.

        >>> Background(0.1, 0.2).margin(0.7)
        2.9999999999999996
        """
        return (cosine - self.mean) / self.deviation


def meaning(margin: Values, terms: int) -> Values:
    """Return the evidence of a margin for a query of so many terms; below the mean it is evidence against.

    >>> meaning(3.0, 4), meaning(-1.0, 4)
    (36.0, -4.0)
    """
    return max(terms, 1) * margin * abs(margin)
