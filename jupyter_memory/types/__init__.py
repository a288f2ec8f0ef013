"""Memories, chunks, queries, rankings and hits, as frozen values."""

from jupyter_memory.lazy import exports
from jupyter_memory.types.answer import (
    EMPTY,
    NO_MATCH,
    NO_MATCH_FILTERED,
    UNANSWERED,
    UNSURE,
    Answer,
    Explanation,
    Hit,
    Listed,
    Trace,
    doubt,
    surest,
)
from jupyter_memory.types.memory import KINDS, SEVERITIES, TIERS, Chunk, Draft, Memory
from jupyter_memory.types.picture import LARGEST_THUMBNAIL, MOST_THUMBNAILS, NO_PICTURES, Pictures, Thumbnail
from jupyter_memory.types.query import (
    FACETS,
    LONGEST_QUERY,
    Filters,
    Query,
    QueryClass,
    Sessions,
    TemporalExpression,
    Terms,
    WordForms,
    as_tuple,
)
from jupyter_memory.types.ranking import Candidate, Evidence, Key, Ranking, ScoredChunk
from jupyter_memory.types.report import (
    ORIGINS,
    PAIRED,
    CopyReport,
    ExportReport,
    Feedback,
    Folder,
    HistoryStatus,
    ImportReport,
    IndexReport,
    PictureReport,
    Recent,
    Selection,
    Undoable,
)
from jupyter_memory.types.run import Fix, FixKind, Outcome, Run, RunError
from jupyter_memory.types.size import StoreSize, budget_notice

# The tokens of chunks need NumPy.
__getattr__, __dir__, _ = exports(__name__, {"chunk_tokens": "ChunkTokens FEW MARK is_damaged"})
__all__ = [
    "EMPTY", "NO_MATCH", "NO_MATCH_FILTERED", "UNANSWERED", "UNSURE", "Answer", "Explanation", "Hit", "Listed",
    "Trace", "doubt", "surest", "KINDS", "SEVERITIES", "TIERS", "Chunk",
    "Draft", "Memory", "LARGEST_THUMBNAIL", "MOST_THUMBNAILS", "NO_PICTURES", "Pictures", "Thumbnail", "FACETS",
    "LONGEST_QUERY", "Filters", "Query", "QueryClass", "Sessions", "TemporalExpression", "Terms", "WordForms",
    "as_tuple", "Candidate", "Evidence", "Key", "Ranking", "ScoredChunk", "ORIGINS", "PAIRED", "CopyReport",
    "ExportReport", "Feedback", "Folder", "HistoryStatus", "ImportReport", "IndexReport", "PictureReport", "Recent",
    "Selection", "Undoable", "Fix", "FixKind", "Outcome", "Run", "RunError", "StoreSize", "budget_notice",
]  # fmt: skip
