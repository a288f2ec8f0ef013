"""When two memories say the same, and which of two that are as good comes first."""

from __future__ import annotations

from jupyter_memory.types import Memory


def normalised(text: str) -> str:
    """Return a text without what two copies of it may differ in: case, white space, punctuation at its end.

    >>> normalised("Prices  are\\n scaled. ")
    'prices are scaled'
    """
    return " ".join(text.casefold().split()).rstrip(".!?,;: …")


def newer_first(memory: Memory) -> tuple[float, str, str, str]:
    """Of equal scores the newer; a copy of the same age is known by its place, so that insertion order never speaks."""
    return -memory.event_at.timestamp(), memory.content_hash, memory.source, memory.location
