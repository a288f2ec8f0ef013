"""FTS5's BM25 in SQL: what a match counts in a chunk, and how rare a word is.

A match counts ``idf * f * (k1 + 1) / (f + k1 * (1 - b + b * size / average))``, where ``f`` is how often the chunk
holds it, each column by its weight; a chunk has the sum of its matches.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from jupyter_memory.text.identifiers import COLUMNS

# Constants of FTS5.
_K1, _B = 1.2, 0.75
# What a match counts is less than its idf times this, however often a chunk holds it.
MOST = _K1 + 1
# Scores are added up as whole numbers, of which a float8 holds sums up to 9,007 exactly: a sum of fractions depends on
# their order, and equal chunks must have equal scores. The sum of a bigint is a decimal number, and takes longer.
UNIT = 1e12


def idf(count: int, total: int) -> float:
    """Return what FTS5 takes for the inverse document frequency of a word that so many chunks hold."""
    return max(log((total - count + 0.5) / (count + 0.5)), 1e-6) if count < total else 1e-6


def contribution(idf_: str, f: str, size: str) -> str:
    """Return what a match counts in a chunk, in units; the parameter ``average`` is the mean size of a chunk."""
    tf = f"({f}) * {MOST} / (({f}) + {_K1} * ({1 - _B} + {_B} * {size} / %(average)s::float8))"
    return f"round({idf_} * {tf} * {UNIT!r}::float8)"


def frequency(columns: Mapping[str, float]) -> str:
    """Return how often a row of ``postings`` counts, each column by its weight."""
    return " + ".join(f"postings.in_{column} * {float(weight)!r}::float8" for column, weight in columns.items())


def is_held(columns: Mapping[str, float]) -> str:
    """Return the condition that a row of ``postings`` is of one of these columns."""
    if len(columns) == len(COLUMNS):
        return "true"
    return "(" + " or ".join(f"postings.in_{column} > 0" for column in columns) + ")"
