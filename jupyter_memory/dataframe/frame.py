"""Hits as a pandas DataFrame, and the ``df.memory`` accessor that explains it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from math import nan
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import numpy as np
import pandas as pd

from jupyter_memory.dataframe.charts import drawn
from jupyter_memory.dataframe.style import Results, styled
from jupyter_memory.errors import InputError, MissingExtra
from jupyter_memory.text.layout import one_line
from jupyter_memory.types import Answer, Explanation, Hit, Memory

if TYPE_CHECKING:
    import altair
    from pandas.io.formats.style import Styler

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
# The evidence of recent answers, which a DataFrame has no columns for; the oldest goes first.
_RECENT: dict[str, Answer] = {}
_KEPT = 32


class _Store(Protocol):
    def get(self, memory_id: str, /) -> Memory: ...

    def explain(self, query: str, memory_id: str, /, *, profile: str | None = ...) -> Explanation: ...

    def explain_in(self, answer: Answer, memory_id: str, /) -> Explanation: ...


_open_store: Callable[[str], _Store] | None = None


def register_store(opener: Callable[[str], _Store]) -> None:
    """Tell the accessor how to get the store of a path; called by ``store.py``, which this file must not know."""
    global _open_store
    _open_store = opener


def to_frame(answer: Answer) -> pd.DataFrame:
    """Return the hits of an answer as rows, indexed by rank; columns and dtypes are the same for no hits at all."""
    hits = answer.hits
    columns: dict[str, Any] = {
        "title": _strings(hit.memory.title for hit in hits),
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
            hit.memory.title,
            hit.score,
            hit.memory.kind,
            hit.memory.domain or "",
            hit.memory.tags,
            one_line(hit.snippet)[:_SCAN_SNIPPET],
            len(hit.memory.text) // 4,
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
    # One small JSON value: pandas copies attrs at every step, and parquet writes them as JSON.
    frame.attrs["memsearch"] = {
        "query": answer.query.written or answer.query.text,
        "profile": answer.profile,
        "verdict": answer.verdict,
        "query_class": answer.query.query_class,
        "time_range": answer.time_range,
        "elapsed_ms": round(answer.timings["total"], 3),
        "store": answer.store,
        "query_id": answer.query_id,
    }
    _RECENT[answer.query_id] = answer
    while len(_RECENT) > _KEPT:
        _RECENT.pop(next(iter(_RECENT)))
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


class Place:
    """Where a memory comes from: a link in a notebook, a path elsewhere."""

    def __init__(self, source: str, location: str, kind: str) -> None:
        self.source = source
        self.location = location
        self.kind = kind

    def __repr__(self) -> str:
        return f"{self.source}:{self.location}" if self.location else self.source

    def _repr_html_(self) -> str:
        return f'<a href="{escape(self._href())}" target="_blank" rel="noopener">{escape(repr(self))}</a>'

    def _href(self) -> str:
        if self.source.startswith(("https://", "http://")):
            return self.source
        path = Path(self.source)
        # Quoted whole: a source is any text, and a colon in it must not make a scheme such as javascript.
        href = quote(Path(relpath(path) if path.is_absolute() else path).as_posix())
        # JupyterLab opens a notebook at the cell that the fragment names.
        cell = self.kind == "cell" and self.location and not self.location.startswith("#")
        return f"{href}#cell-id={quote(self.location)}" if cell else href


def _colours(number: int) -> str:
    """Return a scheme in which no two of so many signals look alike."""
    return "tableau10" if number <= 10 else "tableau20"


def _local(altair: Any) -> Any:
    """Return a chart class that JupyterLab draws by itself."""

    class LocalChart(altair.Chart):  # type: ignore[misc]
        def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, Any]:
            return drawn(self.to_dict(), f"<altair.Chart of {len(self.data)} contributions>")

    return LocalChart


@pd.api.extensions.register_dataframe_accessor("memory")
class MemoryAccessor:
    """What a result of ``%memsearch`` can tell about itself, row by row.

    Rows are named by their rank, the index of the DataFrame, so that a filtered or sorted frame still speaks of the
    same memories.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        # AttributeError is what pandas expects of an accessor that does not fit.
        if "memory_id" not in frame.columns or "memsearch" not in frame.attrs:
            raise AttributeError(
                ".memory works on a result of %memsearch or store.search(), with its memory_id column and its attrs. "
                "pandas drops the attrs where two different results become one, and a file has none: ask each alone."
            )
        self._frame = frame
        self._asked: dict[str, Any] = frame.attrs["memsearch"]

    def __repr__(self) -> str:
        made = "explain(rank)  text(rank)  open(rank)  breakdown()  style(evidence=True)  plot()"
        return f"What a result tells of itself, row by row: {made}"

    def explain(self, rank: int = 1) -> Explanation:
        """Return why the memory of a row is where it is; ``print`` it for the sentences.

        Only the last answers of a session are kept: for an older one the query is asked again, as of now and without
        its filters.
        """
        memory_id = str(self._row(rank)["memory_id"])
        if not self._asked["query"]:
            raise InputError("These memories were listed without a question, so nothing was ranked. Search first.")
        answer = _RECENT.get(self._asked["query_id"])
        if answer is not None:
            return self._store().explain_in(answer, memory_id)
        return self._store().explain(self._asked["query"], memory_id, profile=self._asked["profile"])

    def text(self, rank: int = 1) -> str:
        """Return the whole text of the memory of a row."""
        return self._store().get(str(self._row(rank)["memory_id"])).text

    def open(self, rank: int = 1) -> Place:
        """Return where the memory of a row comes from: in a notebook a link that opens it at the cell."""
        row = self._row(rank)
        if row.get("source"):
            return Place(str(row["source"]), str(row.get("location", "")), str(row.get("kind", "")))
        memory = self._store().get(str(row["memory_id"]))
        if not memory.source:
            raise InputError(f"Rank {rank} is a {memory.kind} without a source; df.memory.text({rank}) shows it whole.")
        return Place(memory.source, memory.location, memory.kind)

    def breakdown(self) -> pd.DataFrame:
        """Return one row a hit and signal: ``rank, title, signal, value, signal_rank, contribution, memory_id``."""
        answer = _RECENT.get(self._asked["query_id"])
        hits = {hit.memory.id: hit for hit in answer.hits} if answer is not None else {}
        rows: list[tuple[Any, ...]] = []
        for rank, row in self._ranked().iterrows():
            for name, value, place, contribution in _evidence(row, hits.get(row["memory_id"])):
                rows.append((rank, row["title"], name, value, place, contribution, row["memory_id"]))
        names = ["rank", "title", "signal", "value", "signal_rank", "contribution", "memory_id"]
        dtypes = {
            "rank": "int64",
            "title": "str",
            "signal": "str",
            "value": "float64",
            "signal_rank": "Int64",
        }
        dtypes |= {"contribution": "float64", "memory_id": "str"}
        return pd.DataFrame(rows, columns=names).astype(dtypes)

    def style(self, *, evidence: bool = False) -> Styler:
        """Return the result as a styled table; every text in it is escaped.

        With ``evidence`` it has every column: ranks and raw scores of the legs, values of the signals, and a bar for
        each contribution.
        """
        return styled(self._frame, evidence=evidence)

    def plot(self) -> altair.Chart:
        """Return stacked bars of the contributions by hit.

        Raises:
            MissingExtra: altair is not installed; it comes with the extra ``plots``.
        """
        try:
            import altair
        except ImportError:
            raise MissingExtra("df.memory.plot()", "plots") from None
        long = self.breakdown()
        # What says nothing of any hit would only take a colour.
        speaking = long.loc[long["contribution"] != 0, "signal"]
        long = long[long["signal"].isin(speaking)].assign(
            hit=lambda rows: rows["rank"].astype("str") + " " + rows["title"]
        )
        signals = list(dict.fromkeys(long["signal"]))
        chart = _local(altair)(pd.DataFrame(long[["hit", "signal", "value", "contribution"]]))
        return chart.mark_bar().encode(
            x=altair.X("sum(contribution)", title="score"),
            y=altair.Y("hit", sort=None, title=None, axis=altair.Axis(labelLimit=420)),
            color=altair.Color("signal", sort=signals, scale=altair.Scale(scheme=_colours(len(signals)))),
            tooltip=["signal", "value", "contribution"],
        )

    def _row(self, rank: int) -> pd.Series[Any]:
        # A float is what a rank becomes beside missing values.
        if isinstance(rank, bool) or not isinstance(rank, (int, float, np.integer)):
            raise InputError(f"A rank is a number, such as 1, the index of the row; it was {rank!r:.40}.")
        frame = self._ranked()
        found = frame[frame.index == rank]
        if found.empty:
            known = ", ".join(map(str, frame.index[:20])) or "none: the result is empty"
            raise InputError(f"There is no rank {rank} in this result. Ranks: {known}.")
        if len(found) > 1 and found["memory_id"].nunique() > 1:
            raise InputError(f"Several rows of this DataFrame have the rank {rank}: ask each result by itself.")
        return found.iloc[0]

    def _ranked(self) -> pd.DataFrame:
        """Return the frame by rank; once the rows have other names, nobody can tell which one is meant."""
        if "rank" in self._frame.columns:
            return self._frame.set_index("rank")
        if self._frame.index.name != "rank":
            raise InputError(
                "The rows of this DataFrame have lost their ranks, so a number does not say which is meant. "
                "Keep the index (no ignore_index=True, no reset_index(drop=True))."
            )
        return self._frame

    def _store(self) -> _Store:
        if _open_store is None:
            raise InputError("Import jupyter_memory first: `from jupyter_memory import open_store`.")
        return _open_store(self._asked["store"])


def _evidence(row: pd.Series[Any], hit: Hit | None) -> list[tuple[str, float, int | None, float]]:
    """Return name, value, rank and contribution of each signal: from the answer, or from the columns if it is gone."""
    if hit is not None:
        return [(name, seen.value, seen.rank, seen.contribution) for name, seen in hit.signals.items()]
    legs = {"keyword": ("bm25", "kw_rank"), "vector": ("cosine", "sem_rank")}
    found = []
    for column in map(str, row.index):
        if column.startswith("contrib_"):
            name = column.removeprefix("contrib_")
            value, place = legs.get(name, (f"value_{name}", ""))
            rank = row.get(place)
            # A memory that only the other leg brought has a cosine all the same: the leg did not judge by it.
            judged = not place or not pd.isna(rank) or bool(row[column])
            raw = float(row.get(value, nan)) if judged else nan
            found.append((name, raw, None if pd.isna(rank) else int(rank), float(row[column])))
    return found
