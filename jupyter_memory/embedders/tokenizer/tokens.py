"""The tokens of several texts in one array."""

from __future__ import annotations

from dataclasses import dataclass

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
