"""The tokens of what is embedded of a chunk, as a store keeps them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Begins the bytes of a chunk's tokens. Another vocabulary or layout gets another number; none is a token.
MARK = np.array([31_998], "<u2").tobytes()
_VOCABULARY = 30_522
# Up to so many different tokens, the place of one takes a byte.
FEW = 256


@dataclass(frozen=True, slots=True, eq=False)
class ChunkTokens:
    """The different tokens of a chunk, ascending, ``(d,)``, and in their order those of its text without its head.

    The head is what is put in front of the text: a note's title, or the structural prefix of anything else.
    ``order`` has the place in ``different`` of each token of the text, in 8 bits or 16.

    >>> ChunkTokens(np.array([3, 5, 9], np.uint16), bytes([2, 1, 2])).text.tolist()
    [9, 5, 9]
    """

    different: NDArray[np.uint16]
    order: bytes

    @property
    def text(self) -> NDArray[np.uint16]:
        """Return the tokens of the text, ``(n,)``, in their order."""
        ids: NDArray[np.uint16] = self.different[self.places]
        return ids

    @property
    def places(self) -> NDArray[np.integer]:
        """Return ``order`` as numbers."""
        return np.frombuffer(self.order, np.uint8 if len(self.different) <= FEW else "<u2")

    def to_bytes(self) -> bytes:
        """Return the mark, how many different tokens there are, these, and the order."""
        numbers = np.concatenate(([len(self.different)], self.different)).astype("<u2")
        return MARK + numbers.tobytes() + self.order

    @staticmethod
    def from_bytes(data: bytes) -> ChunkTokens:
        """Return the tokens of which ``to_bytes`` made these bytes."""
        count = int.from_bytes(data[2:4], "little")
        return ChunkTokens(np.frombuffer(data, "<u2", count, 4), data[4 + 2 * count :])


def is_damaged(data: object) -> bool:
    """Return whether these bytes are not those of a chunk's tokens.

    >>> sound = ChunkTokens(np.array([3, 5], np.uint16), bytes([1, 0])).to_bytes()
    >>> is_damaged(sound), is_damaged(sound[:-3]), is_damaged(sound + bytes([2])), is_damaged(b"of another layout")
    (False, True, True, True)
    """
    if not isinstance(data, bytes) or not data.startswith(MARK):
        return True
    count = int.from_bytes(data[2:4], "little")
    if len(data) < 4 + 2 * count or (count > FEW and len(data) % 2):
        return True
    found = ChunkTokens.from_bytes(data)
    ascending = (np.diff(found.different.astype(np.int64), append=_VOCABULARY) > 0).all()
    return bool(not ascending or (found.places >= count).any())
