"""How far a memory's meaning stands out from that of the whole store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import cast

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
        around = cast(Pool, pool).surroundings
        background = around.background
        if background is None:
            return {one.key: nan for one in pool}
        terms = len(query.terms.words) + len(query.terms.phrases) + len(query.terms.ident)
        return {
            one.key: nan if one.cosine is None else around.trust * meaning(background.margin(one.cosine), terms)
            for one in pool
        }
