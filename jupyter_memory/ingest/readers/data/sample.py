"""The first lines of a text file of any size."""

from __future__ import annotations

import codecs
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.text import MARKS
from jupyter_memory.text.unicode import clean

# Bytes of a file that are read, and bytes where the first line is longer than those.
_USUAL, _MOST = 256_000, 2_000_000
# The ending of files that are compressed with gzip, and bytes that its header and checksums need.
COMPRESSED, _GZIP_HEADER = ".gz", 65_536


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
        read = _inflated if path.suffix.lower() == COMPRESSED else _plain
        data, used = read(opened, _USUAL)
        if b"\n" not in data and b"\r" not in data:
            opened.seek(0)
            data, used = read(opened, _MOST)
    whole = used >= size
    text = clean(_decoded(data))
    cut_short = not whole and "\n" not in text
    return Sample(text, len(text) if whole else round(size * len(text) / used), whole, cut_short)


def _plain(opened: IO[bytes], most: int) -> tuple[bytes, int]:
    data = opened.read(most)
    return data, len(data)


def _inflated(opened: IO[bytes], most: int) -> tuple[bytes, int]:
    """Return the beginning of what a file of gzip holds, at most so many bytes, and how many of the file that took.

    What is cut off or damaged further on is not looked at; neither is what would come out of the rest.

    Raises:
        InputError: nothing comes out of it.
    """
    # No more than this goes into that many bytes, whatever is in it.
    rest = opened.read(most + _GZIP_HEADER)
    taken, data = len(rest), bytearray()
    try:
        while rest and len(data) < most:
            member = zlib.decompressobj(wbits=31)
            data += member.decompress(rest, most - len(data))
            rest = member.unused_data if member.eof else member.unconsumed_tail
            if not member.eof:
                # There is more of it: in the rest of the file, or nowhere.
                rest = rest or b"\0"
                break
    except zlib.error:
        pass
    if taken and not data and rest:
        raise InputError("The file is damaged, or it was not compressed with gzip.")
    return bytes(data), taken - len(rest)


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
