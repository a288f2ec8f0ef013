"""The earlier name of `jupyter_memory.store.federation`, kept for one more release."""

from __future__ import annotations

from warnings import warn

from jupyter_memory.store.federation import Vaults

__all__ = ["Vaults"]

warn(
    "jupyter_memory.vaults goes with the next release: Vaults is in jupyter_memory.store.federation.",
    DeprecationWarning,
    2,
)
