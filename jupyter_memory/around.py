"""What the searches of one store are compared with, read once and kept while the store is much the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import apsw
import numpy as np

from jupyter_memory.embedders.tokenizer.pieces import distinct, tokens
from jupyter_memory.embedders.tokenizer.token_vectors import token_vectors
from jupyter_memory.protocols import Vectors
from jupyter_memory.search.evidence import SAMPLE, Background
from jupyter_memory.search.hubness import crowding
from jupyter_memory.search.surroundings import Ids, Sample, Surroundings
from jupyter_memory.storage import sampling, token_ids
from jupyter_memory.storage.locks import Lock
from jupyter_memory.storage.state import index_state
from jupyter_memory.storage.vectors import Model
from jupyter_memory.text.structure import embedding_text
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import Found

# A sample is taken anew when the store has grown by this much.
_GROWN = 1.2
# Chunks whose tokens are kept here because the store lacks them, some hundred bytes each.
_MOST = 20_000


@dataclass(slots=True)
class Around:
    """The surroundings of one store's searches; safe to share between threads."""

    _samples: dict[int, tuple[int, Sample]] = field(default_factory=dict)
    _tokens: dict[int, Ids] = field(default_factory=dict)
    _state: str = ""
    _lock: Lock = field(default_factory=Lock)

    def of(
        self,
        connection: apsw.Connection,
        text: str,
        found: Mapping[str, Sequence[Found]],
        vector: Vectors | None,
        model: Model | None,
    ) -> Surroundings:
        """Return what a search with this text, this vector and these finds is compared with."""
        measured = None if model is None else sampling.trust(connection, model.id)
        return Surroundings(
            found=found,
            vector=vector,
            trust=1.0 if measured is None else measured[1],
            sample=self._sample(connection, model),
            asked=np.unique(tokens([storable(text)]).ids),
            tokens=lambda chunks: self._tokens_of(connection, chunks),
            table=token_vectors(),
            crowding=lambda chunks: {} if model is None else self._crowding(connection, model, chunks),
        )

    def _crowding(self, connection: apsw.Connection, model: Model, chunks: Sequence[int]) -> dict[int, float]:
        sample = self._sample(connection, model)
        ids, memories, vectors = sampling.owned_vectors(connection, model.id, model.dimensions, chunks)
        if not ids.size or len(sample.vectors) < 2:
            return {}
        found = crowding(vectors, memories, sample.vectors, sample.owners)
        return dict(zip(ids.tolist(), found.tolist(), strict=True))

    def _sample(self, connection: apsw.Connection, model: Model | None) -> Sample:
        key, size = 0 if model is None else model.id, sampling.newest(connection)
        with self._lock:
            known = self._samples.get(key)
            if known is not None and known[0] <= size <= known[0] * _GROWN:
                return known[1]
        sample = self._taken(connection, model)
        with self._lock:
            self._samples[key] = (size, sample)
        return sample

    def _taken(self, connection: apsw.Connection, model: Model | None) -> Sample:
        chunks = sampling.spread(connection, SAMPLE)
        of_chunks = self._tokens_of(connection, chunks)
        holding = np.zeros(len(token_vectors()), np.int32)
        for ids in of_chunks.values():
            holding[ids] += 1
        vectors, owners = np.empty((0, 1), np.float32), np.zeros(0, np.int64)
        if model is not None:
            _, owners, vectors = sampling.owned_vectors(connection, model.id, model.dimensions, chunks)
        half = len(vectors) // 2
        pairs = np.einsum("ij,ij->i", vectors[:half], vectors[half : 2 * half])
        typical = float(np.mean([ids.size for ids in of_chunks.values()])) if of_chunks else 1.0
        return Sample(vectors, holding, len(chunks), typical, Background.of(pairs), owners)

    def _tokens_of(self, connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, Ids]:
        """Return the tokens of what was embedded of chunks, each once, by chunk."""
        state = index_state(connection)
        with self._lock:
            if state != self._state or len(self._tokens) > _MOST:
                self._state, self._tokens = state, {}
            kept = self._tokens
        found: dict[int, Ids] = {**token_ids.kept(connection, chunks)}
        unknown = [chunk for chunk in chunks if chunk not in found and chunk not in kept]
        if unknown:
            parts = sampling.embedded_parts(connection, unknown)
            texts = [storable(embedding_text(*parts[chunk])) for chunk in unknown]
            kept.update(zip(unknown, distinct(tokens(texts)), strict=True))
        return {chunk: found[chunk] if chunk in found else kept[chunk] for chunk in chunks}
