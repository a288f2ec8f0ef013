"""What a search is compared with: a sample of the whole store, and how far its model can be trusted there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.runtime.blas import one_core
from jupyter_memory.search.evidence import Background
from jupyter_memory.types import Found

Floats = NDArray[np.float32]
Ids = NDArray[np.integer]


class Table(Protocol):
    """Gives the unit vectors of tokens, ``(n, dimensions)``."""

    def __getitem__(self, ids: Ids, /) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Sample:
    """Chunks from all over the store: their vectors ``(n, dimensions)``, and in how many of them each token occurs.

    ``typical`` is the mean number of tokens of a chunk; ``pair`` the mean and deviation of the cosine of two chunks;
    ``owners`` are the keys of the memories of those that have vectors.
    """

    vectors: Floats
    holding: NDArray[np.int32]
    chunks: int
    typical: float
    pair: Background | None = None
    owners: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the signals of one search may read beside its candidates.

    ``found`` is what the legs brought; ``vector`` that of the query, None where no model looks; ``asked`` the tokens of
    the query, each once; ``tokens`` gives those of chunks, ``crowding`` the mean cosine of those that have a vector
    with the nearest of the sample. ``trust`` is 1 where meaning is as good as words.
    """

    found: Mapping[str, Sequence[Found]]
    vector: Floats | None
    trust: float
    sample: Sample
    asked: Ids
    tokens: Callable[[Sequence[int]], Mapping[int, Ids]]
    table: Table
    crowding: Callable[[Sequence[int]], Mapping[int, float]]
    background: Background | None = field(init=False)

    def __post_init__(self) -> None:
        background = None
        if self.vector is not None and self.sample.vectors.size:
            with one_core():
                cosines = self.sample.vectors @ self.vector
            background = Background.of(cosines)
        object.__setattr__(self, "background", background)
