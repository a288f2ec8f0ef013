"""Memories, chunks, queries, rankings and hits, as frozen values."""

from jupyter_memory.types.memory import *
from jupyter_memory.types.report import *
from jupyter_memory.types.search import *

__all__ = [
    "UNANSWERED", "Answer", "Explanation", "Hit", "Listed", "Trace", "KINDS", "SEVERITIES", "TIERS", "Chunk", "Draft",
    "Memory", "LARGEST_THUMBNAIL", "Pictures", "Thumbnail", "FACETS", "LONGEST_QUERY", "Filters", "Query",
    "QueryClass", "Sessions", "TemporalExpression", "Terms", "WordForms", "as_tuple", "Candidate", "Evidence",
    "Ranking", "ScoredChunk", "ORIGINS", "Feedback", "HistoryStatus", "IndexReport", "PictureReport", "Recent",
    "Selection", "Fix", "FixKind", "Outcome", "Run", "RunError", "Version", "changed", "ChunkTokens", "is_damaged",
]  # fmt: skip
