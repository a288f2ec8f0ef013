"""The signals: each judges the candidates of a search for one reason."""

from __future__ import annotations

from typing import Any
from warnings import warn

from jupyter_memory.search.signals.best_passage import BestPassage
from jupyter_memory.search.signals.code_names import Aside, DefinedNames, Defines, FileStem
from jupyter_memory.search.signals.max_sim import MaxSim
from jupyter_memory.search.signals.metadata import Domain, OfKind, Severity, Tags, Tier
from jupyter_memory.search.signals.neighbour import Neighbour, Session
from jupyter_memory.search.signals.own_words import OwnWords
from jupyter_memory.search.signals.penalties import LengthPenalty, QuestionPenalty
from jupyter_memory.search.signals.quality import Quality
from jupyter_memory.search.signals.retriever_scores import Cosine, WordScore
from jupyter_memory.search.signals.semantic_margin import SemanticMargin
from jupyter_memory.search.signals.tfidf import TfIdf
from jupyter_memory.search.signals.time import NamedTime, NearTime, Recency, Validity
from jupyter_memory.search.signals.title import Title, TitleMatch

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

# Earlier names of signals: files that were written with them still load, and Python code works for one more release.
RENAMED = {"asks": "question_penalty", "meaning": "semantic_margin", "size": "length_penalty", "soft": "max_sim"}
_CLASSES = {"Asks": QuestionPenalty, "Meaning": SemanticMargin, "Size": LengthPenalty, "Soft": MaxSim}


def __getattr__(name: str) -> Any:
    if name not in _CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn(
        f"{name} is called {_CLASSES[name].__name__} now; the old name goes with the next release.",
        DeprecationWarning,
        2,
    )
    return _CLASSES[name]
