"""When two memories say the same, and which of two that are as good comes first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby, pairwise
from pathlib import PurePath

from jupyter_memory.types import Candidate, Memory

Shingles = frozenset[tuple[str, ...]]
# What two long texts say is known from their beginnings.
_LONGEST = 2_000
_COPY_OF = re.compile(r"^copy of ")
_VERSION = re.compile(r"(?:[-_ .]*(?:\(\d+\)|[-_ .](?:copy|old|bak|backup|final|new)(?: ?\d+)?|v?\d+))+$")


def normalised(text: str) -> str:
    """Return a text without what two copies of it may differ in: case, white space, punctuation at its end.

    >>> normalised("Prices  are\\n scaled. ")
    'prices are scaled'
    """
    return " ".join(text.casefold().split()).rstrip(".!?,;: …")


def stem(source: str) -> str:
    """Return the name of a file without its folder, its suffix and what a copy or another version adds to it.

    A source without a suffix is no file that was copied, and stays as it is.

    >>> [stem(name) for name in ("/week/λ.ipynb", "old/λ-Copy1.ipynb", "Copy of λ (2).ipynb", "λ_final_v3.ipynb")]
    ['λ', 'λ', 'λ', 'λ']
    >>> stem("notes/2026-03-02.md"), stem("04_prices.ipynb"), stem("turn_3")
    ('2026-03-02', '04_prices', 'turn_3')
    """
    path = PurePath(source)
    if not path.suffix:
        return source
    name = path.stem.casefold()
    return _VERSION.sub("", _COPY_OF.sub("", name)) or name


def shingles(text: str) -> Shingles:
    """Return the pairs of neighbouring words of a text, whatever their case; of a single word that word.

    >>> sorted(shingles("Fit the λ"))
    [('fit', 'the'), ('the', 'λ')]
    """
    words = text[:_LONGEST].casefold().split()
    return frozenset(pairwise(words)) if len(words) > 1 else frozenset((word,) for word in words)


def alike(one: Shingles, other: Shingles, share: float) -> bool:
    """Return whether two texts have this share of their shingles in common, by Jaccard; an empty one is like none.

    >>> alike(shingles("a λ b"), shingles("A  λ b"), 0.9), alike(shingles("fit ridge"), shingles("fit lasso"), 0.5)
    (True, False)
    """
    fewer, more = sorted((len(one), len(other)))
    if not fewer or fewer < share * more:
        return False
    shared = len(one & other)
    return shared >= share * (fewer + more - shared)


def newer_first(memory: Memory) -> tuple[float, str, str, str]:
    """Of equal scores the newer; a copy of the same age is known by its place, so that insertion order never speaks."""
    return -memory.event_at.timestamp(), memory.content_hash, memory.source, memory.location


def best_first(candidates: Iterable[Candidate], scores: Mapping[int, float]) -> list[Candidate]:
    """Return candidates by their scores, the best first, of equal ones the newer first."""

    def score(one: Candidate) -> float:
        return scores[one.key]

    ordered: list[Candidate] = []
    # Few scores are equal, and only of those anybody asks the age.
    for _, ones in groupby(sorted(candidates, key=score, reverse=True), score):
        equal = list(ones)
        ordered += sorted(equal, key=lambda one: newer_first(one.memory)) if len(equal) > 1 else equal
    return ordered
