"""What is known of a memory besides its text: its kind, tier and severity, its domain and tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Candidate, Query


@dataclass(frozen=True, slots=True)
class OfKind:
    """1 for a memory of the kind, no opinion on the others."""

    label: ClassVar[str] = "its kind"
    description: ClassVar[str] = "1 for memories of one kind; no value for the others."

    name: str

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {candidate.key: 1.0 for candidate in context if candidate.memory.kind == self.name}


_TIERS = {"core": 1, "file": 2, "mcp": 3, "note": 3}
_REASONS = {"core": "being pinned", "file": "being from a file", "mcp": "being an agent's note", "note": "being a note"}


@dataclass(frozen=True, slots=True)
class Tier:
    """1 for core, 2 for file, 3 for mcp and note (seed system `covalence`; note is ours)."""

    label: ClassVar[str] = "its tier"
    description: ClassVar[str] = "1 for pinned memories, 2 for files, 3 for notes; lower is better."

    name: str = "tier"
    lower_is_better: bool = True

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {candidate.key: float(_TIERS[candidate.memory.tier]) for candidate in context}

    def reason(self, query: Query, context: SearchContext, candidate: Candidate, /) -> str:
        """Return where a candidate comes from."""
        return _REASONS[candidate.memory.tier]


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


@dataclass(frozen=True, slots=True)
class Domain:
    """1 if the query has a domain and the memory is of it, else 0 (seed system `vault`)."""

    label: ClassVar[str] = "being of the domain that the query is about"
    description: ClassVar[str] = "1 if the memory belongs to the domain of the query, else 0."

    name: str = "domain"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {
            candidate.key: float(query.domain is not None and candidate.memory.domain == query.domain)
            for candidate in context
        }


@dataclass(frozen=True, slots=True)
class Tags:
    """Jaccard similarity of the query's tags and the memory's, whatever their case; 0 where the query has none."""

    label: ClassVar[str] = "the tags that it shares with the query"
    description: ClassVar[str] = "The share of tags that the memory and the query have in common."

    name: str = "tags"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        wanted = {tag.casefold() for tag in query.tags}
        return {
            candidate.key: _jaccard(wanted, {tag.casefold() for tag in candidate.memory.tags}) for candidate in context
        }


def _jaccard(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
