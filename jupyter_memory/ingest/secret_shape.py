"""What a kind of secret looks like, as a value."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


def _always(value: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Shape:
    """What a kind of secret looks like. A text that has none of ``hints`` in lower case has none of it.

    A hint has three bytes at least: by so many it is looked for.
    What is replaced is the pattern's group ``secret``, or the whole match where it has none, if ``check`` agrees.
    """

    what: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool] = _always


def shape(what: str, hints: str | tuple[str, ...], pattern: str, check: Callable[[str], bool] = _always) -> Shape:
    """Return a shape; hints without spaces may be given as words."""
    return Shape(what, tuple(hints.split()) if isinstance(hints, str) else hints, re.compile(pattern), check)
