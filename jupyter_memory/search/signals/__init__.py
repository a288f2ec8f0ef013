"""The signals: each judges the candidates of a search for one reason."""

from __future__ import annotations

from jupyter_memory.search.signals.lexical import (
    Aside,
    Cosine,
    DefinedNames,
    Defines,
    FileStem,
    OwnWords,
    TfIdf,
    Title,
    TitleMatch,
    WordScore,
)
from jupyter_memory.search.signals.metadata import (
    Domain,
    LengthPenalty,
    NamedTime,
    NearTime,
    Neighbour,
    OfKind,
    Quality,
    QuestionPenalty,
    Recency,
    Session,
    Severity,
    Tags,
    Tier,
    Validity,
)
from jupyter_memory.search.signals.semantic import BestPassage, MaxSim, SemanticMargin

__all__ = [
    "Aside",
    "BestPassage",
    "Cosine",
    "DefinedNames",
    "Defines",
    "Domain",
    "FileStem",
    "LengthPenalty",
    "MaxSim",
    "NamedTime",
    "NearTime",
    "Neighbour",
    "OfKind",
    "OwnWords",
    "Quality",
    "QuestionPenalty",
    "Recency",
    "SemanticMargin",
    "Session",
    "Severity",
    "Tags",
    "TfIdf",
    "Tier",
    "Title",
    "TitleMatch",
    "Validity",
    "WordScore",
]
