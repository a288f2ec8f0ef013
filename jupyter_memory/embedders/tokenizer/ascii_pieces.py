"""The pieces of ASCII text by arithmetic on all of its bytes: what the pattern in ``pieces.py`` finds, sooner."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

# Newlines, tabs and digits stand alone; control characters are left to the pattern.
_ALONE, _SPACE, _LETTER, _SIGN, _CONTROL = range(5)
_KINDS = np.full(128, _SIGN, np.uint8)
_KINDS[:32] = _KINDS[127] = _CONTROL
_KINDS[ord("\r")] = _SIGN
_KINDS[[ord("\n"), ord("\t"), *range(ord("0"), ord("9") + 1)]] = _ALONE
_KINDS[ord(" ")] = _SPACE
_KINDS[ord("A") : ord("Z") + 1] = _KINDS[ord("a") : ord("z") + 1] = _LETTER

# Bytes of a piece that are compared as two numbers; longer pieces are looked up as strings.
_LONGEST = 16
_SLOTS = 1 << 17
_SHIFT = np.uint64(64 - 17)
_FACTORS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
# By length, what of eight bytes belongs to a piece: of its first eight and of the next. A long one has none.
_FIRST = np.array([*((1 << 8 * min(size, 8)) - 1 for size in range(_LONGEST + 1)), 0], np.uint64)
_SECOND = np.array([*((1 << 8 * max(size - 8, 0)) - 1 for size in range(_LONGEST + 1)), 0], np.uint64)

Numbers = NDArray[np.int64]


class Slots:
    """The numbers of short pieces, each in the slot that its bytes tell; one that comes later takes a slot over."""

    def __init__(self) -> None:
        self._first = np.zeros(_SLOTS, np.uint64)
        self._second = np.zeros(_SLOTS, np.uint64)
        self._numbers = np.zeros(_SLOTS, np.int64)

    def numbers(self, text: str, look_up: Callable[[Sequence[str]], Numbers]) -> Numbers | None:
        """Return the number of each piece of an ASCII text, looking up those not met before; None if it is odd."""
        data = np.frombuffer(text.encode("ascii") + bytes(_LONGEST), np.uint8)
        kinds = _KINDS[data[: len(text)]]
        if not text or kinds.max() == _CONTROL:
            return None
        begins = _begins(data[: len(text)], kinds)
        sizes = np.minimum(np.diff(begins, append=len(text)), _LONGEST + 1)
        # The eight bytes from each place on, whatever their alignment.
        eights: NDArray[np.uint64] = np.ndarray((data.size - 7,), "<u8", data, strides=(1,))
        first, second = eights[begins] & _FIRST[sizes], eights[begins + 8] & _SECOND[sizes]
        slots = (first * _FACTORS[0] ^ second * _FACTORS[1]) >> _SHIFT
        # No piece is all zeros, but those that are too long are.
        new = np.flatnonzero((self._first[slots] != first) | (self._second[slots] != second) | (first == 0))
        numbers: Numbers = self._numbers[slots]
        if new.size:
            ends = np.append(begins[1:], len(text))[new]
            met = look_up([text[begin:end] for begin, end in zip(begins[new].tolist(), ends.tolist(), strict=True)])
            numbers[new] = met
            slots = slots[new]
            self._first[slots], self._second[slots], self._numbers[slots] = first[new], second[new], met
        return numbers


def _begins(data: NDArray[np.uint8], kinds: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return where the pieces of a text begin, given its bytes and their kinds."""
    inside = kinds >= _LETTER
    here, before = kinds[1:], kinds[:-1]
    begins = np.ones(data.size, np.bool_)
    # Spaces go with what follows them, unless that stands alone.
    begins[1:] = (here != before) & ~((before == _SPACE) & inside[1:]) | (here == _ALONE)
    letter, sign = here == _LETTER, data[:-1]
    joined = np.flatnonzero(
        (data[1:] == ord(">")) & (before == _LETTER) | letter & ((sign == ord("<")) | (sign == ord("/")))
    )
    if joined.size:
        # From there on, all up to the next space or digit is one piece.
        outside = np.append(np.flatnonzero(~inside), data.size)
        ends = outside[np.searchsorted(outside, joined)]
        depth = np.zeros(data.size + 1, np.int64)
        depth[joined + 1] = 1
        np.subtract.at(depth, ends, 1)
        begins &= np.cumsum(depth[:-1]) <= 0
    return np.flatnonzero(begins)
