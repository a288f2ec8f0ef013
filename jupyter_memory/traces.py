"""What a search went through on its way to the answer: every list that it made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jupyter_memory.types import Answer


@dataclass(frozen=True, slots=True)
class Listed:
    """A memory's place in one list; ``score`` is the list's own: BM25, cosine or the sum of the contributions.

    ``begins`` is the beginning of its text, which tells cells under one heading apart.
    """

    memory_id: str
    title: str
    rank: int
    score: float
    begins: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """An answer with the lists that it was made of, best first, and what each term of the profile did to its hits.

    ``keyword`` and ``vector`` are what the legs brought, ``fused`` every candidate in its order. ``without`` has, for
    each hit of the answer, the rank that it would have without the points of a term, by memory id and term.
    """

    answer: Answer
    keyword: tuple[Listed, ...]
    vector: tuple[Listed, ...]
    fused: tuple[Listed, ...]
    without: Mapping[str, Mapping[str, int]]
