"""Memories, chunks, queries, rankings and hits, as frozen values."""

from jupyter_memory.types.answer import Answer, Explanation, Hit, Listed, Trace
from jupyter_memory.types.memory import KINDS, SEVERITIES, TIERS, Chunk, Draft, Memory
from jupyter_memory.types.query import FACETS, Anchor, Filters, Query, QueryClass, Sessions, Terms, as_tuple
from jupyter_memory.types.ranking import Candidate, Evidence, Found, Key, Ranking
from jupyter_memory.types.report import IndexReport

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
    "Listed",
    "Trace",
    "IndexReport",
]
