"""What a memory is worth by where it comes from."""

from __future__ import annotations

from datetime import UTC, datetime

from jupyter_memory.search import parse
from jupyter_memory.search.signals import Tier
from jupyter_memory.types import TIERS, Candidate


def test_every_tier_has_its_number(memory):
    """Core is 1, file 2, mcp and note 3; no tier is left out."""
    pool = [Candidate(key, memory(key, tier=tier), key) for key, tier in enumerate(TIERS)]
    values = Tier()(parse("prices", now=datetime.now(UTC)), pool)

    assert {one.memory.tier: values[one.key] for one in pool} == {"core": 1.0, "file": 2.0, "mcp": 3.0, "note": 3.0}


def test_the_best_tier_has_the_best_rank(rank, memory):
    """The evidence ranks core first although its number is the smallest."""
    from jupyter_memory.search.profiles import covalence

    result = rank(covalence, {"keyword": {1: 3.0, 2: 2.0, 3: 1.0}}, memory(1), memory(2, tier="file"))
    ranks = {row.candidate.key: row.evidence["tier"].rank for row in result.ranked}

    assert ranks == {2: 1, 1: 2, 3: 2}
