"""Fixes of errors as a pandas DataFrame."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from jupyter_memory.types import Fix

_TEXTS = ("memory_id", "error", "failed", "fix", "diff", "kind", "notebook", "failed_id")


def fixes_frame(fixes: Sequence[Fix], store: str) -> pd.DataFrame:
    """Return fixes as rows, indexed by rank; ``attrs["memfix"]`` has them as JSON values, with the store."""
    rows = [fix.to_json() for fix in fixes]
    columns = {name: pd.Series([row[name] for row in rows], dtype="str").array for name in _TEXTS}
    frame = pd.DataFrame(columns, index=pd.RangeIndex(1, len(rows) + 1, name="rank"))
    frame.insert(2, "strength", [fix.strength for fix in fixes])
    frame.insert(
        len(frame.columns) - 1,
        "when",
        pd.Series([fix.mended.started for fix in fixes], index=frame.index).astype("datetime64[us, UTC]"),
    )
    frame.attrs["memfix"] = {"store": store, "fixes": rows}
    return frame
