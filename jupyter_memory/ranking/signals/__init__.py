"""The signals: each judges the memories of the pool for one reason."""

from jupyter_memory.ranking.signals.recency import Recency
from jupyter_memory.ranking.signals.tier import Tier
from jupyter_memory.ranking.signals.title import Title

__all__ = ["Recency", "Tier", "Title"]
