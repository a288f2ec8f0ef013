"""Reads a text file whole: plain text, reStructuredText, code."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.text.unicode import clean, uncoloured, without_data

# The marks with which a text begins, each with its encoding; the longer first: UTF-32's begins with UTF-16's.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY_WITHIN = 8192


@dataclass(frozen=True, slots=True)
class TextReader:
    """Reads files of one language, each as one part."""

    language: str
    suffixes: tuple[str, ...]
    version: int = 0

    def read(self, path: Path, /) -> Document:
        """Return the whole text as one part, or none if it is blank."""
        text = read_text(path)
        return Document((Part(text),) if text.strip() else (), self.language)


def read_text(path: Path) -> str:
    """Return the text of a file: UTF-8, UTF-16 and UTF-32 with their mark, and anything else as Latin-1.

    Colours of a terminal and embedded pictures are left out.

    Raises:
        InputError: the file is binary.
        OSError: the file cannot be read.
    """
    return tidied(decoded(path.read_bytes()))


def tidied(text: str) -> str:
    """Return a text that can be stored, without the colours of a terminal and embedded pictures."""
    return without_data(uncoloured(clean(text)))


def decoded(data: bytes, charset: str = "") -> str:
    """Return bytes as text; ``charset`` is what the file itself says, if there is such an encoding.

    Raises:
        InputError: the file is binary.
    """
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if b"\0" in data[:_BINARY_WITHIN]:
        raise InputError("The file is binary, not text. Leave it out with a line in .jupytermemoryignore.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return data.decode(charset or "latin-1", "replace")
    except (LookupError, ValueError):  # no such encoding, or one that is not of text
        return data.decode("latin-1")
