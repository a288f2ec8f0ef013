"""Memories, chunks, queries, rankings and hits, as frozen values."""

from jupyter_memory.types.answer import Answer, Explanation, Hit, Listed, Trace
from jupyter_memory.types.memory import KINDS, SEVERITIES, TIERS, Chunk, Draft, Memory
from jupyter_memory.types.query import FACETS, Filters, Query, QueryClass, Sessions, TemporalExpression, Terms, as_tuple
from jupyter_memory.types.ranking import Candidate, Evidence, Key, Ranking, ScoredChunk
from jupyter_memory.types.report import IndexReport, Selection
from jupyter_memory.types.run import Fix, FixKind, Outcome, Run, RunError

__all__ = [
    "KINDS",
    "SEVERITIES",
    "TIERS",
    "Chunk",
    "Draft",
    "Memory",
    "FACETS",
    "TemporalExpression",
    "Filters",
    "Query",
    "QueryClass",
    "Sessions",
    "Terms",
    "as_tuple",
    "Candidate",
    "Evidence",
    "ScoredChunk",
    "Key",
    "Ranking",
    "Answer",
    "Explanation",
    "Hit",
    "Listed",
    "Trace",
    "IndexReport",
    "Selection",
    "Fix",
    "FixKind",
    "Outcome",
    "Run",
    "RunError",
]
