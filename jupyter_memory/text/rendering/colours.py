"""Colours of a terminal: whether it has any, and the sequences that turn them on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

Paint = Callable[[str, str], str]

BOLD, FAINT = "1", "2"
# As grep marks what it found.
FOUND = "1;31"
BY_WORDS, BY_MEANING = "32", "36"


class Stream(Protocol):
    """Where text is written."""

    def isatty(self) -> bool:
        """Return whether a person sees it in a terminal."""
        ...


def has_colours(stream: Stream | None, environment: Mapping[str, str]) -> bool:
    """Return whether colours are shown on a stream: on a terminal that can, unless NO_COLOR is set (no-color.org).

    A program whose standard output is closed has no stream.
    """
    return (
        stream is not None and stream.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    )


def coloured(text: str, colour: str) -> str:
    """Return a text in a colour.

    >>> coloured("λ", BOLD)
    '\\x1b[1mλ\\x1b[0m'
    """
    return f"\x1b[{colour}m{text}\x1b[0m" if text and colour else text


def uncoloured(text: str, colour: str) -> str:
    """Return a text as it is, in place of ``coloured``."""
    return text
