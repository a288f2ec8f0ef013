"""The signals: each judges the memories of the pool for one reason."""

from jupyter_memory.search.signals.cosine import Cosine
from jupyter_memory.search.signals.domain import Domain
from jupyter_memory.search.signals.kind import OfKind
from jupyter_memory.search.signals.length_penalty import Size
from jupyter_memory.search.signals.max_sim import Soft
from jupyter_memory.search.signals.near_time import NearTime
from jupyter_memory.search.signals.neighbour import Neighbour
from jupyter_memory.search.signals.quality import Quality
from jupyter_memory.search.signals.question_penalty import Asks
from jupyter_memory.search.signals.recency import Recency
from jupyter_memory.search.signals.semantic_margin import Meaning
from jupyter_memory.search.signals.session import Session
from jupyter_memory.search.signals.severity import Severity
from jupyter_memory.search.signals.tags import Tags
from jupyter_memory.search.signals.tfidf import TfIdf
from jupyter_memory.search.signals.tier import Tier
from jupyter_memory.search.signals.time import NamedTime
from jupyter_memory.search.signals.title import Title
from jupyter_memory.search.signals.validity import Validity
from jupyter_memory.search.signals.word_score import WordScore

__all__ = [
    "Asks",
    "Cosine",
    "Domain",
    "Meaning",
    "NamedTime",
    "NearTime",
    "Neighbour",
    "OfKind",
    "Quality",
    "Recency",
    "Session",
    "Severity",
    "Size",
    "Soft",
    "Tags",
    "TfIdf",
    "Tier",
    "Title",
    "Validity",
    "WordScore",
]
