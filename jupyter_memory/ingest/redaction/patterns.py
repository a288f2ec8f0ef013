"""Patterns of secrets: those of ``patterns.toml``, read once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jupyter_memory.ingest.redaction import values


@dataclass(frozen=True, slots=True)
class Shape:
    """What a kind of secret looks like. A text without any of ``hints`` in lower case has no such secret.

    A hint has at least three bytes, because hints are found by their first three. If ``check`` agrees, the pattern's
    group ``secret`` is replaced, or the whole match if there is no such group.
    """

    what: str
    hints: tuple[str, ...]
    regex: str
    check: Callable[[str], bool]

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern, compiled on first use: few texts have a hint, and all take 40 ms."""
        return _compiled(self.regex)


_compiled = cache(re.compile)


def _whole(pattern: str) -> str:
    return re.sub(r"\{([A-Z_]+)\}", lambda name: PARTS[name[1]], pattern)


def _word(beginnings: Sequence[str]) -> str:
    # What a token begins with, where no longer word ends with it. The letters come before the look behind them, because
    # that is much faster. In a string of JSON, the letter before a token may belong to an escaped line break.
    tokens = [rf"{begin}(?:(?<![\w-]{begin})|(?<=\\[nrt]{begin}))" for begin in beginnings]
    return f"(?:{'|'.join(tokens)})" if len(tokens) > 1 else "".join(tokens)


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PARTS: dict[str, str] = {}
for _name, _pattern in _TABLE["parts"].items():
    PARTS[_name] = _whole(_pattern)

# In the order in which they are looked for.
SHAPES = tuple(
    Shape(
        row["what"],
        tuple(row["hints"]),
        _word(row.get("begins", ())) + _whole(row["pattern"]),
        getattr(values, row["check"]) if "check" in row else bool,
    )
    for row in _TABLE["secret"]
)
