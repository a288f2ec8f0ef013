"""Token tables on disk, and the vectors of texts by a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_matrix

from training.tokens import Tokens

Floats = NDArray[np.float32]
DIMENSIONS = (256, 128, 64)
_NAME = "embedding.weight"
_BLOCK = 4_096


@dataclass(frozen=True, slots=True)
class Pooling:
    """How the tokens of a text are weighed in their sum; by default, all alike.

    ``saturation`` is the share of a text at which a token counts half, so that brackets do not drown names. With a
    ``lead``, the first token counts double, as a title or a signature does; the excess falls to a third in so many.
    """

    saturation: float = 0.0
    lead: float = 0.0


MEAN = Pooling()


def load_table(path: Path) -> Floats:
    return load_file(path)[_NAME].astype(np.float32)


def save_table(table: Floats, path: Path) -> None:
    """Write a table in half precision."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({_NAME: np.ascontiguousarray(table.astype(np.float16))}, path)


def bags(tokens: Tokens, vocabulary: int, pooling: Pooling = MEAN) -> csr_matrix:
    """Return a sparse matrix of which the product with a table is the weighted sum of each text's rows."""
    lengths = np.diff(tokens.ends, prepend=0)
    weights = np.ones(len(tokens.ids), np.float32)
    if pooling.lead:
        places = np.arange(len(weights)) - np.repeat(tokens.starts, lengths)
        weights += np.exp(-places / pooling.lead).astype(np.float32)
    ends = np.concatenate(([0], tokens.ends))
    # Copied, since adding up sorts the ids of a text in place.
    found = csr_matrix((weights, tokens.ids.copy(), ends), (len(tokens), vocabulary))
    if pooling.saturation:
        totals = np.asarray(found.sum(axis=1))[:, 0]
        found.sum_duplicates()
        shares = found.data / np.repeat(totals, np.diff(found.indptr))
        found.data *= np.float32(pooling.saturation) / (shares + np.float32(pooling.saturation))
    return found


def vectors(table: Floats, tokens: Tokens, pooling: Pooling = MEAN) -> Floats:
    """Return the sum of each text's rows, which points where their mean does."""
    out = np.empty((len(tokens), table.shape[1]), np.float32)
    for first in range(0, len(tokens), _BLOCK):
        rows = np.arange(first, min(first + _BLOCK, len(tokens)))
        out[rows] = bags(tokens.chosen(rows), len(table), pooling) @ table
    return out


def unit(vectors: Floats) -> Floats:
    """Return vectors at length 1; those of zeros stay so."""
    lengths: Floats = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-9)


def blended(parts: list[tuple[Floats, float]]) -> Floats:
    """Return the weighted mean of tables that were trained from one start."""
    total = sum(weight for _, weight in parts)
    return np.sum([table * np.float32(weight / total) for table, weight in parts], axis=0, dtype=np.float32)
