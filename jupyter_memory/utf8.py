"""Text as UTF-8 and SQLite can hold it."""

from __future__ import annotations

import re

_HALF = re.compile(r"[\ud800-\udfff]")


def encodable(text: str) -> str:
    r"""Return a text of the same length with ``�`` for every half of a surrogate pair, which UTF-8 does not have.

    >>> encodable("Zürich \ud83d")
    'Zürich �'
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _HALF.sub("\ufffd", text)
    return text


def storable(text: str) -> str:
    """Return an encodable text without NUL, where SQLite's functions would stop reading."""
    return encodable(text).replace("\0", "")
