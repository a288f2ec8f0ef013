"""Memories, chunks, queries, rankings and hits, as frozen values."""

from jupyter_memory.types.memory import (
    KINDS,
    LARGEST_THUMBNAIL,
    SEVERITIES,
    TIERS,
    Chunk,
    ChunkTokens,
    Draft,
    Fix,
    FixKind,
    Memory,
    Outcome,
    Pictures,
    Run,
    RunError,
    Thumbnail,
    is_damaged,
)
from jupyter_memory.types.report import (
    ORIGINS,
    Feedback,
    HistoryStatus,
    IndexReport,
    PictureReport,
    Recent,
    Selection,
)
from jupyter_memory.types.search import (
    FACETS,
    LONGEST_QUERY,
    UNANSWERED,
    Answer,
    Candidate,
    Evidence,
    Explanation,
    Filters,
    Hit,
    Listed,
    Query,
    QueryClass,
    Ranking,
    ScoredChunk,
    Sessions,
    TemporalExpression,
    Terms,
    Trace,
    WordForms,
    as_tuple,
)

__all__ = [
    "UNANSWERED", "Answer", "Explanation", "Hit", "Listed", "Trace", "KINDS", "SEVERITIES", "TIERS", "Chunk", "Draft",
    "Memory", "LARGEST_THUMBNAIL", "Pictures", "Thumbnail", "FACETS", "LONGEST_QUERY", "Filters", "Query",
    "QueryClass", "Sessions", "TemporalExpression", "Terms", "WordForms", "as_tuple", "Candidate", "Evidence",
    "Ranking", "ScoredChunk", "ORIGINS", "Feedback", "HistoryStatus", "IndexReport", "PictureReport", "Recent",
    "Selection", "Fix", "FixKind", "Outcome", "Run", "RunError", "ChunkTokens", "is_damaged",
]  # fmt: skip
