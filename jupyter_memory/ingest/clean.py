"""Text as a store can hold it: without NUL bytes and lone surrogates, its lines parted by newlines."""

from __future__ import annotations

import re

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def clean(text: str) -> str:
    """Return a text that UTF-8 and SQLite can hold."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "")
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
