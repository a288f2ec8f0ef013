"""Reads a text document into one memory."""

from __future__ import annotations

import codecs
import re
from datetime import datetime
from pathlib import Path

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.headings import front_matter
from jupyter_memory.text.structure import context
from jupyter_memory.text.unicode import clean, uncoloured, without_data
from jupyter_memory.types import Draft

LANGUAGES = {".md": "markdown", ".markdown": "markdown", ".txt": "text", ".rst": "rst", ".py": "python"}

# The longer mark first: that of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY_WITHIN = 8192
# `tags: [a, b]` and `tags: a, b` on a line, or one tag a line below it.
_TAGS = re.compile(r"^(?:tags|keywords)[ \t]*:[ \t]*(?P<line>[^\n]*)(?P<list>(?:\n[ \t]*-[ \t]+[^\n]*)*)", re.M | re.I)


def read_document(path: Path, *, title: str, when: datetime) -> list[Draft]:
    """Return a draft that holds the whole text of a document, or none if it is blank.

    ``title`` is what it is called, ``when`` (aware) when it was written. Tags are read from a Markdown file's front
    matter. Text is UTF-8, or UTF-16 and UTF-32 with their mark, and anything else Latin-1.

    Raises:
        InputError: the file is binary.
        OSError: the file cannot be read.
    """
    text = without_data(uncoloured(clean(_decoded(path.read_bytes()))))
    if not text.strip():
        return []
    lang = LANGUAGES.get(path.suffix.lower(), "text")
    tags = _tags(front_matter(text)) if lang == "markdown" else ()
    return [
        Draft(
            text=text,
            title=title,
            kind="file",
            tier="file",
            source=str(path.absolute()),
            lang=lang,
            tags=tags,
            # Told apart from the tags that a person adds, which outlive a change of the file.
            metadata={"file_tags": list(tags)} if tags else {},
            event_at=when,
            context=context(title, (), when=when),
        )
    ]


def _decoded(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if b"\0" in data[:_BINARY_WITHIN]:
        raise InputError("The file is binary, not text. Leave it out with a line in .jupytermemoryignore.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _tags(block: str) -> tuple[str, ...]:
    """Return the tags that a front matter names, each once."""
    match = _TAGS.search(block)
    if match is None:
        return ()
    words = match["line"].strip().strip("[]").split(",") + [line.strip()[1:] for line in match["list"].split("\n")]
    return tuple(dict.fromkeys(tag for word in words if (tag := word.strip().strip("\"'#").strip())))
