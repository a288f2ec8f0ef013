"""What is marked as critical before what is a mere suggestion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Candidate, Query

_VALUES = {"critical": 1.0, "warning": 0.7, "suggestion": 0.4, None: 0.0}


@dataclass(frozen=True, slots=True)
class Severity:
    """1 for critical, 0.7 for warning, 0.4 for suggestion, 0 for none (seed system `vault`)."""

    label: ClassVar[str] = "its severity"
    description: ClassVar[str] = "1 for critical, 0.7 for a warning, 0.4 for a suggestion, 0 for none."

    name: str = "severity"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {candidate.key: _VALUES[candidate.memory.severity] for candidate in context}

    def reason(self, query: Query, context: SearchContext, candidate: Candidate, /) -> str:
        """Return how severe a candidate is."""
        return f"being marked as {candidate.memory.severity}"
