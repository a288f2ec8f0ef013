"""What a memory is worth by where it comes from: pinned first, then files, then notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Candidate, Query

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
