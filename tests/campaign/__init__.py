"""The trust campaign: each module here but the runner is one part, with a function ``run(dose) -> Figures``.

A part tries one kind of harm many times, returns what it counted, and raises ``Loss`` where something was lost.
``make campaign`` runs the full dose; ``make test`` runs a short one (``test_campaign_short.py``).
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

Figures = Mapping[str, int | float | str]


class Loss(AssertionError):
    """Something was lost, half-written or answered wrongly; the message says what, and with which seed."""


@dataclass(frozen=True)
class Dose:
    """How much a part does: ``scale`` is 1 for the full campaign, and ``seed`` repeats a run."""

    seed: int
    scale: float
    folder: Path

    def times(self, full: int, least: int = 1) -> int:
        return max(least, round(full * self.scale))

    def random(self) -> random.Random:
        return random.Random(self.seed)
