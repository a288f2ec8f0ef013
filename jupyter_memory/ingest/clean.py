"""Text as a store can hold it: without NUL bytes and lone surrogates, its lines parted by newlines."""

from __future__ import annotations

import re

from jupyter_memory.utf8 import storable

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def clean(text: str) -> str:
    """Return a text that UTF-8 and SQLite can hold."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return storable(text)


def uncoloured(text: str) -> str:
    """Return a text without the sequences that colour a terminal: with them, a word is not the word."""
    return _ANSI.sub("", text) if "\x1b" in text else text
