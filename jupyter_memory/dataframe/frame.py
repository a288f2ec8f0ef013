"""Turns the hits of an answer into a pandas DataFrame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from jupyter_memory.dataframe.results import Results
from jupyter_memory.dataframe.searches import KEY, attrs_of
from jupyter_memory.text.display import one_line
from jupyter_memory.types import Answer

_SCAN_SNIPPET = 120
_SCAN_COLUMNS = {
    "title": "str",
    "score": "float64",
    "kind": "str",
    "domain": "str",
    "tags": "object",
    "snippet": "str",
    "token_estimate": "int64",
    "memory_id": "str",
}


def to_frame(answer: Answer) -> pd.DataFrame:
    """Return the hits of an answer as rows, indexed by rank; columns and dtypes are the same for no hits at all."""
    hits = answer.hits
    columns: dict[str, Any] = {
        "title": _strings(hit.title for hit in hits),
        "snippet": _strings(one_line(hit.snippet) for hit in hits),
        "badges": _strings(hit.badges for hit in hits),
        "score": _floats(hit.score for hit in hits),
        "strength": _floats(hit.strength for hit in hits),
        "kind": _strings(hit.memory.kind for hit in hits),
        "tier": _strings(hit.memory.tier for hit in hits),
        "source": _strings(hit.memory.source for hit in hits),
        "location": _strings(hit.location for hit in hits),
        "tags": _objects(hit.memory.tags for hit in hits),
        "event_at": pd.array([hit.memory.event_at for hit in hits], dtype="datetime64[us, UTC]"),
        "lang": _strings(hit.memory.lang for hit in hits),
        "session": _strings(hit.memory.session or "" for hit in hits),
        "domain": _strings(hit.memory.domain or "" for hit in hits),
        "space": _strings(hit.memory.space for hit in hits),
        "freshness": _strings(hit.freshness for hit in hits),
        "kw_rank": pd.array([hit.kw_rank for hit in hits], dtype="Int64"),
        "sem_rank": pd.array([hit.sem_rank for hit in hits], dtype="Int64"),
        "bm25": _floats(hit.bm25 for hit in hits),
        "cosine": _floats(hit.cosine for hit in hits),
    }
    for name in answer.judges:
        columns[f"value_{name}"] = _floats(hit.signals[name].value for hit in hits)
    for name in answer.terms:
        columns[f"contrib_{name}"] = _floats(hit.signals[name].contribution for hit in hits)
    columns["memory_id"] = _strings(hit.memory.id for hit in hits)
    return _finished(columns, answer)


def to_scan_frame(answer: Answer) -> pd.DataFrame:
    """Return the first pass over an answer: enough to choose from, with what the full text would cost in tokens."""
    rows = [
        (
            hit.title,
            hit.score,
            hit.memory.kind,
            hit.memory.domain or "",
            hit.memory.tags,
            one_line(hit.snippet)[:_SCAN_SNIPPET],
            hit.memory.token_estimate,
            hit.memory.id,
        )
        for hit in answer.hits
    ]
    columns: dict[str, Any] = {}
    for position, (name, dtype) in enumerate(_SCAN_COLUMNS.items()):
        # Objects first: pandas would take tuples for rows.
        columns[name] = pd.Series(_objects(row[position] for row in rows)).astype(dtype).array  # type: ignore[call-overload]
    return _finished(columns, answer)


def _finished(columns: dict[str, Any], answer: Answer) -> pd.DataFrame:
    frame = Results(columns, index=pd.RangeIndex(1, len(answer.hits) + 1, name="rank"))
    frame.attrs[KEY] = attrs_of(answer)
    return frame


def _strings(values: Iterable[str]) -> pd.Series[str]:
    return pd.Series(list(values), dtype="str").array  # type: ignore[return-value]


def _floats(values: Iterable[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.fromiter(values, np.float64)


def _objects(values: Iterable[Any]) -> np.ndarray[Any, np.dtype[np.object_]]:
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array
