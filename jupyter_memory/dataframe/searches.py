"""The searches that a DataFrame comes from, as its attrs hold them; and the recent answers, with all their evidence.

pandas drops the attrs where two different results become one. Here they are kept side by side, each with the memories
that it found, so that every row still knows its search.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from jupyter_memory.types import Answer, Hit

KEY = "memsearch"
# In the attrs of several results: the searches; in one of them: its memories with their scores.
_SEVERAL, _FOUND = "results", "found"
# Recent answers by the id of their query, with the evidence that a DataFrame has no columns for; the oldest goes first.
_RECENT: dict[str, Answer] = {}
_KEPT = 32

Search = Mapping[str, Any]


def attrs_of(answer: Answer) -> dict[str, Any]:
    """Return what a result keeps beside its columns, and keep the answer for a while.

    It is one small JSON value: pandas copies attrs at every step, and Parquet writes them as JSON.
    """
    _RECENT[answer.query_id] = answer
    while len(_RECENT) > _KEPT:
        _RECENT.pop(next(iter(_RECENT)))
    pictured = [hit.memory.id for hit in answer.hits if hit.memory.thumbnails]
    return {
        "query": answer.query.written or answer.query.text,
        "profile": answer.profile,
        "verdict": answer.verdict,
        "query_class": answer.query.query_class,
        "time_range": answer.time_range,
        "elapsed_ms": round(answer.timings["total"], 3),
        "store": answer.store,
        "query_id": answer.query_id,
        **({"pictured": pictured} if pictured else {}),
    }


def recent_answer(search: Search) -> Answer | None:
    """Return the answer of a recent search, None if it is no longer kept."""
    return _RECENT.get(search["query_id"])


def recent_hits(search: Search) -> Mapping[str, Hit]:
    """Return the hits of a recent search by the ids of their memories, none if the answer is no longer kept."""
    answer = recent_answer(search)
    return {} if answer is None else {hit.memory.id: hit for hit in answer.hits}


def searches_of(frame: pd.DataFrame) -> list[Search]:
    """Return the searches that the rows of a DataFrame come from; none where it is no result."""
    known = frame.attrs.get(KEY)
    if not isinstance(known, dict):
        return []
    return list(known[_SEVERAL]) if _SEVERAL in known else [known]


def search_of(row: pd.Series[Any], searches: list[Search]) -> Search:
    """Return the search that a row comes from; of several that found its memory, the one that gave it this score."""
    memory_id, score = str(row["memory_id"]), _number(row.get("score"))
    found = [one for one in searches if memory_id in one.get(_FOUND, (memory_id,))]
    scored = [one for one in found if one.get(_FOUND, {}).get(memory_id) == score]
    return (scored or found or searches)[0]


def joined(frames: Iterable[object]) -> dict[Hashable | None, Any]:
    """Return the attrs of results that were put together, none where none of these is a result."""
    by_query: dict[str, dict[str, Any]] = {}
    for frame in frames:
        if isinstance(frame, pd.DataFrame) and "memory_id" in frame.columns:
            for search in searches_of(frame):
                one = by_query.setdefault(search["query_id"], {**search, _FOUND: {}})
                one[_FOUND] |= search.get(_FOUND) or _found(frame)
    if len(by_query) > 1:
        return {KEY: {_SEVERAL: list(by_query.values())}}
    [one] = by_query.values() or [{}]
    alone = {name: of for name, of in one.items() if name != _FOUND}
    return {KEY: alone} if alone else {}


def _found(frame: pd.DataFrame) -> dict[str, float | None]:
    scores = frame["score"] if "score" in frame.columns else [None] * len(frame)
    return {str(memory_id): _number(score) for memory_id, score in zip(frame["memory_id"], scores, strict=True)}


def _number(value: Any) -> float | None:
    """Return a score as JSON has it: it has no NaN."""
    return None if value is None or pd.isna(value) else float(value)
