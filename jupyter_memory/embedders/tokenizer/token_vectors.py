"""The bundled static model's vectors, one a token, read from its file as they are asked for."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.tokenizer.bundled import bundled_file, half_precision

# The model was trained to be cut here too, and token by token half of it tells them apart as well (docs/quality.md).
DIMENSIONS = 128
# A copy of all vectors of a search leaves the processor's cache, and takes several times as long as their sums.
_ROWS = 64
_SIGN_AND_VALUE = np.array(0x8FFFE000, np.uint32).view(np.int32)
# The exponent of 0 is written as 15 in 16 bits and as 127 in 32.
_BIAS = np.float32(2.0 ** (127 - 15))


class TokenVectors:
    """Unit vectors by token: ``vectors[ids]`` is float32 ``(n, 128)``, a token without a direction all zeros.

    Those that were asked for are kept, 16 MB if ever all were: the texts of a store share most of their tokens.
    """

    def __init__(self, table: NDArray[np.float16]) -> None:
        # Each slice of a memory map is one again, which takes longer than to read it.
        self._halves = np.asarray(table)[:, :DIMENSIONS]
        self._units = np.empty(self._halves.shape, np.float32)
        self._lengths = np.empty((len(self._halves), 1), np.float32)
        self._known = np.zeros(len(self._halves), bool)

    def __len__(self) -> int:
        return len(self._halves)

    def __getitem__(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        self._read(ids)
        units: NDArray[np.float32] = self._units[ids]
        return units

    def sums(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the sum of the vectors of each row of tokens, with their lengths, ``(rows, 128)``; -1 is no token."""
        held, ids = ids >= 0, np.maximum(ids, 0)
        self._read(ids)
        lengths = self._lengths[ids, 0] * held
        sums = np.empty((len(ids), DIMENSIONS), np.float32)
        for first in range(0, len(ids), _ROWS):
            part = slice(first, first + _ROWS)
            np.matmul(lengths[part, None], self._units[ids[part]], out=sums[part, None])
        return sums

    def _read(self, ids: NDArray[np.integer]) -> None:
        unknown = ids[~self._known[ids]]
        if unknown.size:
            # Two threads may write the same; a row is known only once it is there.
            rows = _singles(self._halves[unknown])
            lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1e-9)[:, None]
            self._units[unknown] = rows / lengths
            self._lengths[unknown] = lengths
            self._known[unknown] = True


def _singles(numbers: NDArray[np.float16]) -> NDArray[np.float32]:
    """Return finite numbers of 16 bits in 32: NumPy itself converts one at a time, and takes twice as long."""
    # Exponent and fraction move to where 32 bits have them; the sign, which fills what the shift leaves, stays on top.
    bits = numbers.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= _SIGN_AND_VALUE
    singles = bits.view(np.float32)
    singles *= _BIAS
    return singles


@cache
def token_vectors() -> TokenVectors:
    """Return the vectors of all tokens; rows are read from the disk as they are asked for.

    Raises:
        EmbedderUnavailable: the model's file is missing.
    """
    return TokenVectors(half_precision(bundled_file("weights")))
