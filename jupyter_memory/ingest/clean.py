"""Text as a store can hold it: without NUL bytes and lone surrogates, its lines parted by newlines."""

from __future__ import annotations

from jupyter_memory.utf8 import storable


def clean(text: str) -> str:
    """Return a text that UTF-8 and SQLite can hold."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return storable(text)
