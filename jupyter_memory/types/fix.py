"""An earlier error like a new one, and the run that mended it."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff

from jupyter_memory.types.run import Run


@dataclass(frozen=True, slots=True)
class Fix:
    """A run that mended an error: the run that had failed, and how alike its error and the new one are, up to 1."""

    failed: Run
    mended: Run
    strength: float

    @property
    def diff(self) -> str:
        """Return the difference between the cell that failed and the one that mended it, as a unified diff."""
        old, new = (run.source.strip("\n").split("\n") for run in (self.failed, self.mended))
        return "\n".join(unified_diff(old, new, "failed", "mended", lineterm=""))
