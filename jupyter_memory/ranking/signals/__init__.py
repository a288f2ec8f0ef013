"""The signals: each judges the memories of the pool for one reason."""

from jupyter_memory.ranking.signals.asks import Asks
from jupyter_memory.ranking.signals.cosine import Cosine
from jupyter_memory.ranking.signals.domain import Domain
from jupyter_memory.ranking.signals.kind import OfKind
from jupyter_memory.ranking.signals.meaning import Meaning
from jupyter_memory.ranking.signals.near_time import NearTime
from jupyter_memory.ranking.signals.neighbour import Neighbour
from jupyter_memory.ranking.signals.quality import Quality
from jupyter_memory.ranking.signals.recency import Recency
from jupyter_memory.ranking.signals.session import Session
from jupyter_memory.ranking.signals.severity import Severity
from jupyter_memory.ranking.signals.size import Size
from jupyter_memory.ranking.signals.soft import Soft
from jupyter_memory.ranking.signals.tags import Tags
from jupyter_memory.ranking.signals.tfidf import TfIdf
from jupyter_memory.ranking.signals.tier import Tier
from jupyter_memory.ranking.signals.time import NamedTime
from jupyter_memory.ranking.signals.title import Title
from jupyter_memory.ranking.signals.validity import Validity
from jupyter_memory.ranking.signals.word_score import WordScore

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
