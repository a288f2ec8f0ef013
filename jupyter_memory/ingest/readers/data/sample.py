"""The first lines of a text file of any size."""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass
from pathlib import Path

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.text import MARKS
from jupyter_memory.text.unicode import clean

# Bytes of a file that are read, and bytes where the first line is longer than those.
_USUAL, _MOST = 256_000, 2_000_000


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file. ``cut_short`` says that not even its first line fits.

    ``characters`` is about how many the file has, ``whole`` says that these are all.
    """

    text: str
    characters: int
    whole: bool
    cut_short: bool = False


def sample(path: Path) -> Sample:
    """Return the beginning of a text file.

    Raises:
        InputError: the file is binary.
        OSError: the file cannot be read.
    """
    with path.open("rb") as opened:
        # As large as it is now: a file that grows has no end.
        size = os.fstat(opened.fileno()).st_size
        data = opened.read(_USUAL)
        if b"\n" not in data and b"\r" not in data:
            data += opened.read(_MOST - _USUAL)
    whole = len(data) >= size
    text = clean(_decoded(data))
    cut_short = not whole and "\n" not in text
    return Sample(text, len(text) if whole else round(size * len(text) / len(data)), whole, cut_short)


def _decoded(data: bytes) -> str:
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return codecs.getincrementaldecoder(encoding)("replace").decode(data)
    if b"\0" in data:
        raise InputError("The file is binary, not text. Leave it out with a line in .jupytermemoryignore.")
    try:
        # Not to its end: the last character may be cut in two.
        return codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return data.decode("latin-1")
