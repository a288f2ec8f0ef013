"""A sample of the store, which the candidates of a search are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.tokenizer.chunks import chunk_tokens
from jupyter_memory.embedders.tokenizer.token_vectors import token_vectors
from jupyter_memory.runtime import one_core
from jupyter_memory.storage.base import Model, Snapshot
from jupyter_memory.storage.cache import Cache
from jupyter_memory.types.chunk_tokens import ChunkTokens

Floats = NDArray[np.float32]
Keys = NDArray[np.int64]

# One value, or several together.
Values = TypeVar("Values", float, NDArray[np.float64])

# Chunks from all over the store: their cosines with a query are its background.
SAMPLE = 1_000
# How many of the nearest vectors of the sample tell whether a text is a hub.
NEAREST = 3
# A sample is drawn again when the store has grown by this much.
_GROWTH = 1.2
# Chunks whose tokens are kept here because the store lacks them, some hundred bytes each.
_MOST = 20_000


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


@dataclass(frozen=True, slots=True)
class Sample:
    """Chunks from all over the store: their vectors ``(n, dimensions)``, and in how many of them each token occurs.

    ``typical_length`` is the mean number of tokens of a chunk; ``pairs`` are the mean and the deviation of the cosine
    of two chunks; ``owners`` are the keys of the memories of those that have vectors.
    """

    vectors: Floats
    token_counts: NDArray[np.int32]
    chunks: int
    typical_length: float
    pairs: Background | None = None
    owners: Keys = field(default_factory=lambda: np.zeros(0, np.int64))


class Samples:
    """The samples of one store, kept from search to search; safe to share between threads."""

    def __init__(self) -> None:
        self._samples: Cache[int, tuple[int, Sample]] = Cache(2)
        self._tokens: Cache[int, ChunkTokens] = Cache(_MOST)

    def sample(self, snapshot: Snapshot, model: Model | None) -> Sample:
        """Return the sample of a store for one model, drawn again when the store has grown."""
        key, size = 0 if model is None else model.id, snapshot.newest_chunk()
        # Valid for many versions of the store, so it says itself how large the store was.
        known = self._samples.get("", key)
        if known is not None and known[0] <= size <= known[0] * _GROWTH:
            return known[1]
        sample = self._draw(snapshot, model)
        self._samples.put("", key, (size, sample))
        return sample

    def tokens(self, snapshot: Snapshot, chunks: Sequence[int]) -> dict[int, ChunkTokens]:
        """Return the tokens of what was embedded of chunks, by chunk."""
        version = snapshot.version
        found = snapshot.tokens(chunks)
        lacking = [chunk for chunk in chunks if chunk not in found]
        known = {chunk: ids for chunk in lacking if (ids := self._tokens.get(version, chunk)) is not None}
        unknown = [chunk for chunk in lacking if chunk not in known]
        if unknown:
            parts = snapshot.embedded_parts(unknown)
            _, of_chunks = chunk_tokens(parts[chunk].head_and_text() for chunk in unknown)
            for chunk, ids in zip(unknown, of_chunks, strict=True):
                known[chunk] = ids
                self._tokens.put(version, chunk, ids)
        return {chunk: found[chunk] if chunk in found else known[chunk] for chunk in chunks}

    def hubness(self, snapshot: Snapshot, model: Model, chunks: Sequence[int]) -> dict[int, float]:
        """Return the hubness of those of these chunks that have a vector, by chunk."""
        sample = self.sample(snapshot, model)
        ids, memories, vectors = snapshot.vectors(model, chunks)
        if not ids.size or len(sample.vectors) < 2:
            return {}
        return dict(zip(ids.tolist(), hubness(vectors, memories, sample.vectors, sample.owners).tolist(), strict=True))

    def _draw(self, snapshot: Snapshot, model: Model | None) -> Sample:
        chunks = snapshot.sample(SAMPLE)
        of_chunks: Mapping[int, ChunkTokens] = self.tokens(snapshot, chunks)
        token_counts = np.zeros(len(token_vectors()), np.int32)
        for ids in of_chunks.values():
            token_counts[ids.different] += 1
        vectors, owners = np.empty((0, 1), np.float32), np.zeros(0, np.int64)
        if model is not None:
            _, owners, vectors = snapshot.vectors(model, chunks)
        half = len(vectors) // 2
        pairs = np.einsum("ij,ij->i", vectors[:half], vectors[half : 2 * half])
        typical = float(np.mean([len(ids.different) for ids in of_chunks.values()])) if of_chunks else 1.0
        return Sample(vectors, token_counts, len(chunks), typical, Background.of(pairs), owners)


def hubness(vectors: Floats, memories: Keys, sample: Floats, owners: Keys) -> Floats:
    """Return the mean cosine of each vector with the nearest of a sample that are of other memories, ``(n,)``.

    A hub is near to many texts, and so to any question as well (Radovanović et al., JMLR 2010). The measure is the idea
    of cross-domain similarity local scaling (Conneau et al., ICLR 2018), with the sample for the neighbourhood.

    Args:
        vectors: of length 1, ``(n, dimensions)``.
        memories: the key of each one's memory, ``(n,)``.
        sample: of length 1, ``(s, dimensions)``.
        owners: the keys of their memories, ``(s,)``.

    >>> one, near, far = np.eye(3, dtype=np.float32)[0], [0.6, 0.8, 0], [0, 0, 1]
    >>> hubness(np.array([one]), np.array([7]), np.array([one, near, far], np.float32), np.array([7, 8, 9])).round(2)
    array([0.3], dtype=float32)
    """
    with one_core():
        cosines: Floats = vectors @ sample.T
    # A sample holds few chunks of the memories themselves.
    own = np.flatnonzero(np.isin(owners, memories))
    cosines[:, own] = np.where(memories[:, None] == owners[own], -np.inf, cosines[:, own])
    cosines.partition(max(0, cosines.shape[1] - NEAREST), axis=1)
    nearest = cosines[:, -NEAREST:]
    others = np.isfinite(nearest)
    means: Floats = np.where(others, nearest, 0).sum(axis=1) / np.maximum(others.sum(axis=1), 1)
    return means.astype(np.float32, copy=False)
