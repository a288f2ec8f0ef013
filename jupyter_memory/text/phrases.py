"""Words for what a value is, in the forms that values show themselves in."""

from __future__ import annotations


def begun(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[:300].split())
    return line if len(line) <= 60 and len(text) <= 300 else line[:59].rstrip() + "…"


def counted(number: int, thing: str, things: str = "") -> str:
    """Return a number with its noun, in the plural where there are not just one."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def folded(text: str) -> str:
    """Return a text on one line: a snippet of code has several.

    >>> folded("for shop in shops:\\n    λ += 1")
    'for shop in shops: λ += 1'
    """
    return " ".join(text.split())
