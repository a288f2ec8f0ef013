"""What secrets look like, all kinds, and which texts have words that hint at one.

The hints of all texts are found at once, by arithmetic on their bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.ingest.redaction.commands import COMMANDS
from jupyter_memory.ingest.redaction.files import FILES
from jupyter_memory.ingest.redaction.prose import IN_PROSE
from jupyter_memory.ingest.redaction.services import SERVICES
from jupyter_memory.ingest.redaction.shapes import OF_ABROAD

# In the order in which they are looked for.
SHAPES = (*SERVICES, *COMMANDS, *FILES, *IN_PROSE)
OF_SHAPES = tuple(dict.fromkeys(hint for shape in SHAPES for hint in shape.hints))
OF_COLUMNS = ("passw", "passphrase", "pwd")
OF_NAMES = (
    *("pass", "pwd", "pw:", "pw=", "pw =", 'pw"', "pw'", "pw\\", "token", "key", "secret", "credential", "mdp"),
    *OF_ABROAD,
)
_ALL = tuple(dict.fromkeys((*OF_SHAPES, *OF_NAMES, *OF_COLUMNS)))
# Up to so many characters it is faster to look for one hint after the other.
_SHORT = 300

# Line breaks behind the last text, so that each place has a fourth byte.
_PADDING = ("",) * 4
# The first three bytes of a hint give its slot; most slots have no hint.
_FACTOR, _SHIFT = np.uint32(0x9E3779B1), np.uint32(16)
_THREE = np.uint32(0xFFFFFF)


def hints(texts: Sequence[str]) -> list[set[str]]:
    """Return for each text, in lower case, which hints occur in it."""
    if len(texts) == 1 and len(texts[0]) < _SHORT:
        return [{hint for hint in _ALL if hint in texts[0]}]
    # No hint has a line break, so none crosses from one text to the next.
    data = "\n".join((*texts, *_PADDING)).encode("utf-8", "surrogatepass")
    numbers = _NUMBERS.take(_slots(data))
    places = np.flatnonzero(numbers != 0)
    lengths = [len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts]
    owners = np.searchsorted(np.cumsum([length + 1 for length in lengths]), places, side="right")
    found: list[set[str]] = [set() for _ in texts]
    for owner, place, number in zip(owners.tolist(), places.tolist(), numbers[places].tolist(), strict=True):
        for hint, written in _BEHIND[number][data[place + 3]]:
            if data.startswith(written, place):
                found[owner].add(hint)
    return found


def _slots(data: bytes) -> NDArray[np.uint32]:
    """Return the slot of every three bytes; the data is padded with zeros."""
    whole = np.frombuffer(data + b"\0\0\0", np.uint8)
    fours: NDArray[np.uint32] = np.ndarray((len(data),), "<u4", whole, strides=(1,))
    return (fours & _THREE) * _FACTOR >> _SHIFT


def _by_slot() -> tuple[NDArray[np.uint8], list[list[list[tuple[str, bytes]]]]]:
    """Return a number for each slot, 0 where it has no hint, and the hints of each number by their fourth byte."""
    numbers = np.zeros(1 << 16, np.uint8)
    behind: list[list[list[tuple[str, bytes]]]] = [[]]
    for hint in _ALL:
        slot = _slots(hint.encode())[0]
        if not numbers[slot]:
            numbers[slot] = len(behind)
            behind.append([[] for _ in range(256)])
        written = hint.encode()
        for fourth in written[3:4] or range(256):
            behind[numbers[slot]][fourth].append((hint, written))
    return numbers, behind


_NUMBERS, _BEHIND = _by_slot()
