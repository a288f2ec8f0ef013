"""How far a memory's meaning stands out from that of the whole store, and from those around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from statistics import fmean
from typing import cast

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.search.evidence import CROWD, Background, meaning
from jupyter_memory.search.pool import Pool
from jupyter_memory.types import Candidate, Query


@dataclass(frozen=True, slots=True)
class Meaning:
    """trust * terms * z * |z|, where z is how many deviations the cosine lies above the query's with the store.

    Where the model can be trusted, less for a memory that is near to many: see `margins`. NaN where no model looked.
    The reasons are in `ranking.weights`.
    """

    name: str = "meaning"

    def __call__(self, query: Query, pool: Sequence[Candidate], /) -> Mapping[int, float]:
        return cast(Pool, pool).once(meant, query)


def meant(query: Query, pool: Pool) -> dict[int, float]:
    """Return what meaning says for each candidate, by key."""
    around = pool.surroundings
    if around.background is None:
        return dict.fromkeys((one.key for one in pool), nan)
    terms = len(query.terms.words) + len(query.terms.phrases) + len(query.terms.ident)
    values = around.trust * meaning(margins(pool, around.background, around.trust), terms)
    return dict(zip((one.key for one in pool), values.tolist(), strict=True))


def margins(pool: Pool, background: Background, trust: float) -> NDArray[np.float64]:
    """Return how far each candidate's cosine stands out, in standard deviations.

    What is crowded is near to any question: its cosine counts less by ``CROWD * (1 - 1 / trust)`` times how much more
    crowded it is than the candidates on average. Where words are as good a guide, they hold such memories back, and
    what is crowded is there several answers to one question: then nothing is taken off.
    """
    cosines = np.array([nan if one.cosine is None else one.cosine for one in pool], dtype=np.float64)
    if trust > 1:
        around = pool.surroundings.crowding([one.chunk for one in pool])
        mean = fmean(around.values()) if around else 0.0
        crowded = np.array([around.get(one.chunk, mean) - mean for one in pool], dtype=np.float64)
        cosines -= CROWD * (1 - 1 / trust) * crowded
    return background.margin(cosines)
