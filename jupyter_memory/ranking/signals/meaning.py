"""How far a memory's meaning stands out from that of the whole store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import cast

import numpy as np

from jupyter_memory.ranking.pool import Pool
from jupyter_memory.ranking.weights import meaning
from jupyter_memory.types import Candidate, Query


@dataclass(frozen=True, slots=True)
class Meaning:
    """trust * terms * z * |z|, where z is how many deviations the cosine lies above the query's with the store.

    NaN where no model looked; see `ranking.weights` for the reasons.
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
    cosines = np.array([nan if one.cosine is None else one.cosine for one in pool], dtype=np.float64)
    values = around.trust * meaning(around.background.margin(cosines), terms)
    return dict(zip((one.key for one in pool), values.tolist(), strict=True))
