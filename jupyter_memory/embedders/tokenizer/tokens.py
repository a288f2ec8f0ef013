"""The tokens of several texts in one array."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of some texts: those of text ``i`` are ``ids[ends[i - 1]:ends[i]]``."""

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return how many tokens each text has."""
        return np.diff(self.ends, prepend=0)


def distinct(found: Tokens) -> list[NDArray[np.uint16]]:
    """Return the different tokens of each text, ascending."""
    texts = np.repeat(np.arange(found.ends.size, dtype=np.int64), found.counts)
    both = np.sort(texts << 16 | found.ids)
    # What `unique` does, which goes by hashes and takes ten times as long.
    both = both[np.diff(both, prepend=-1) != 0]
    ids = (both & 0xFFFF).astype(np.uint16)
    ends = np.searchsorted(both, np.arange(found.ends.size + 1, dtype=np.int64) << 16).tolist()
    return [ids[begin:end] for begin, end in pairwise(ends)]
