"""The texts whose vectors the teacher gives: questions, code, prose and definitions of all packages."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from training.pairs import Pair

# What the teacher reads: kinds of pairs, which side, and how many texts. Definitions bring the words that no
# package uses; prose the length of an abstract.
SHARES: tuple[tuple[tuple[str, ...], str, int], ...] = (
    (
        ("docstring", "comment", "text-code", "first-rest", "next", "heading-text", "example", "command"),
        "question",
        20_000,
    ),
    (("docstring", "comment", "text-code", "heading-code"), "answer", 5_000),
    (("first-rest", "next", "heading-text", "docstring-rest"), "answer", 7_000),
    (("gloss",), "answer", 11_000),
    (("usage",), "question", 3_000),
)
# Of a text, so many characters are read.
LONGEST = 250


def taught_texts(pairs: Iterable[Pair]) -> list[str]:
    """Return the texts to teach, in an order of which any beginning is a sample of all."""
    held = list(pairs)
    chosen: list[str] = []
    for kinds, side, most in SHARES:
        texts = {getattr(pair, side)[:LONGEST] for pair in held if pair.kind in kinds}
        chosen += sorted(texts, key=_order)[:most]
    return sorted(set(chosen), key=_order)


def _order(text: str) -> tuple[int, str]:
    return zlib.crc32(text.encode()), text
