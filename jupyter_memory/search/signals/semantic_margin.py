"""How far the cosine of a memory stands out from those of the whole store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from statistics import fmean
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.sample import Background
from jupyter_memory.search.signals.weights import HUBNESS, semantic_evidence
from jupyter_memory.types import Query


@dataclass(frozen=True, slots=True)
class SemanticMargin:
    """calibration * terms * z * |z|, where z is how many deviations the cosine lies above the query's with the store.

    Where the model can be trusted, a hub has less: see `margins`. NaN where no model took part. `signals.weights` has
    the reasons.
    """

    label: ClassVar[str] = "how much closer its meaning is to the query than that of others"
    description: ClassVar[str] = "How far its cosine with the query stands out from those of the whole store."

    name: str = "semantic_margin"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return context.shared(semantic_margins)


def semantic_margins(context: SearchContext) -> dict[int, float]:
    """Return the evidence of the meaning of each candidate, by key."""
    if context.background is None:
        return dict.fromkeys((one.key for one in context), nan)
    terms = context.query.terms
    count = len(terms.words) + len(terms.phrases) + len(terms.ident)
    values = context.calibration * semantic_evidence(margins(context, context.background), count)
    return dict(zip((one.key for one in context), values.tolist(), strict=True))


def margins(context: SearchContext, background: Background) -> NDArray[np.float64]:
    """Return how far each candidate's cosine stands out, in standard deviations, ``(n,)``.

    A hub is near to any question: its cosine counts less by ``HUBNESS * (1 - 1 / calibration)`` times how much its
    hubness exceeds the candidates' mean. Where words are as good a guide, they hold hubs back, and several memories
    that are near to each other are several answers to one question: then nothing is taken off.
    """
    cosines = np.array([nan if one.cosine is None else one.cosine for one in context], dtype=np.float64)
    if context.calibration > 1:
        hubness = context.hubness
        mean = fmean(hubness.values()) if hubness else 0.0
        excess = np.array([hubness.get(one.chunk, mean) - mean for one in context], dtype=np.float64)
        cosines -= HUBNESS * (1 - 1 / context.calibration) * excess
    return background.margin(cosines)
