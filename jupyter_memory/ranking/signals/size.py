"""A few words seldom answer, and a long text holds by chance much of what is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import cast

from jupyter_memory.ranking.pool import Pool
from jupyter_memory.types import Candidate, Query

# Sixteen words; below four it is all the same. Bytes, as a character of Chinese says about what three letters do.
SHORT, SHORTEST = 88, 22
# Different tokens of a chunk.
LONG = 128
# A text of fewer characters has no such chunk.
_CANNOT_BE_LONG = 300


@dataclass(frozen=True, slots=True)
class Size:
    """0 for a memory of a usual size, and less for each e-fold that it is shorter, or its best chunk is longer."""

    name: str = "size"

    def __call__(self, query: Query, pool: Sequence[Candidate], /) -> Mapping[int, float]:
        able = [one.chunk for one in pool if len(one.memory.text) >= _CANNOT_BE_LONG]
        tokens = cast(Pool, pool).surroundings.tokens(able) if able else {}
        return {
            one.key: size_evidence(len(one.memory.text[:SHORT].encode()), len(tokens.get(one.chunk, ())))
            for one in pool
        }


def size_evidence(size: int, tokens: int) -> float:
    """Return what the size of a memory, in bytes, and the number of different tokens of its chunk say of it.

    >>> size_evidence(500, 90), round(size_evidence(44, 8), 2), round(size_evidence(2000, 256), 2)
    (0.0, -0.69, -0.69)
    """
    return min(0.0, log(max(size, SHORTEST) / SHORT)) + min(0.0, log(LONG / max(tokens, 1)))
