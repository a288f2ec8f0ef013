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
    """Return what a match counts in a chunk, in units; the parameter ``average`` is the mean size of a chunk.

    ``f / (f + d)`` is written ``1 - d / (f + d)``, since ``f`` is what takes long. All numbers are of one type: a plain
    ``0.75`` would be a decimal number, and twice the time of the whole formula.
    """
    d = f"({_K1 * (1 - _B)!r}::float8 + {_K1 * _B!r}::float8 / %(average)s::float8 * {size})"
    return f"round({idf_} * {MOST * UNIT!r}::float8 * (1 - {d} / ({f} + {d})))"


def frequency(columns: Mapping[str, float]) -> str:
    """Return how often a row of ``postings`` counts, each column by its weight."""
    alike: dict[float, list[str]] = {}
    for column, weight in columns.items():
        alike.setdefault(float(weight), []).append(f"postings.in_{column}")
    return " + ".join(f"({' + '.join(summed)}) * {weight!r}::float8" for weight, summed in alike.items())


def is_held(columns: Mapping[str, float]) -> str:
    """Return the condition that a row of ``postings`` is of one of these columns."""
    if len(columns) == len(COLUMNS):
        return "true"
    return "(" + " or ".join(f"postings.in_{column} > 0" for column in columns) + ")"
