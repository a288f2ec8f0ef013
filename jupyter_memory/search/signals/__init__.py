"""The signals: each judges the candidates of a search for one reason."""

from __future__ import annotations

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
