"""The words of the house: memories, chunks, queries, rankings and hits, as frozen values."""

from jupyter_memory.types.answers import Answer, Explanation, Hit
from jupyter_memory.types.memories import KINDS, SEVERITIES, TIERS, Chunk, Draft, Memory
from jupyter_memory.types.queries import FACETS, Anchor, Filters, Query, QueryClass, Sessions, Terms, as_tuple
from jupyter_memory.types.rankings import Candidate, Evidence, Found, Key, Ranking
from jupyter_memory.types.reports import IndexReport

__all__ = [
    "KINDS",
    "SEVERITIES",
    "TIERS",
    "Chunk",
    "Draft",
    "Memory",
    "FACETS",
    "Anchor",
    "Filters",
    "Query",
    "QueryClass",
    "Sessions",
    "Terms",
    "as_tuple",
    "Candidate",
    "Evidence",
    "Found",
    "Key",
    "Ranking",
    "Answer",
    "Explanation",
    "Hit",
    "IndexReport",
]
