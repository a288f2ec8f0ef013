"""What the front matter of a document says of it: its tags, and when it was written."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

from jupyter_memory.ingest.dates.written import in_front_matter
from jupyter_memory.ingest.readers.base import Document
from jupyter_memory.text.markdown import front_matter

# `tags: [a, b]` and `tags: a, b` on a line, or one tag a line below it.
_TAGS = re.compile(r"^(?:tags|keywords)[ \t]*:[ \t]*(?P<line>[^\n]*)(?P<list>(?:\n[ \t]*-[ \t]+[^\n]*)*)", re.M | re.I)


def described(document: Document, text: str) -> Document:
    """Return a document with the tags and the date that the front matter of its text names."""
    block = front_matter(text)
    return replace(document, tags=_tags(block), written=in_front_matter(block, datetime.now(UTC)))


def _tags(block: str) -> tuple[str, ...]:
    """Return the tags that a front matter names, each once."""
    match = _TAGS.search(block)
    if match is None:
        return ()
    words = match["line"].strip().strip("[]").split(",") + [line.strip()[1:] for line in match["list"].split("\n")]
    return tuple(dict.fromkeys(tag for word in words if (tag := word.strip().strip("\"'#").strip())))
