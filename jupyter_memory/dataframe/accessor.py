"""`df.memory`: what a DataFrame of hits can do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from jupyter_memory.dataframe.frame import (
    Search,
    recent_answer,
    recent_hits,
    search_of,
    searches_of,
    styled,
    versions_frame,
)
from jupyter_memory.dataframe.html import Place
from jupyter_memory.errors import InputError, JupyterMemoryError, MissingExtra, UnknownMemory
from jupyter_memory.text.display import WholeText
from jupyter_memory.text.paths import write_new
from jupyter_memory.text.unicode import json_text, marked
from jupyter_memory.types import Explanation, Hit
from jupyter_memory.types.search import surest

if TYPE_CHECKING:
    import altair
    from pandas.io.formats.style import Styler

# JupyterLab 4 and VS Code draw Vega-Lite up to 5, and altair 6 writes 6; the charts here use only what both know.
KIND = "application/vnd.vegalite.v5+json"
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


def local_chart(chart: Any, text: str) -> Any:
    """Return a subclass of a chart class of altair that needs no network; ``text``, with ``{rows}``, may replace it."""

    class LocalChart(chart):  # type: ignore[misc]
        def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, Any]:
            rows = len(self.data) if isinstance(self.data, pd.DataFrame) else 0
            return {KIND: self.to_dict() | {"$schema": _SCHEMA}, "text/plain": text.format(rows=rows)}

    return LocalChart


_SHORTEST_ID = 8  # a rank is shorter, also as text
Rank = int | str | tuple[Any, ...]  # a rank, the id of a memory, or the label of a row where it has several levels


# Opens the store of a path, a `MemoryStore`: the room `store` sets it, since this module may not import that.
open_store: Callable[[str], Any] | None = None


@pd.api.extensions.register_dataframe_accessor("memory")
class MemoryAccessor:
    """The ``df.memory`` accessor: explains the result of a search row by row.

    Name a row by its rank, or in a concatenation of results by its memory's id or by a label such as ``("prices", 1)``.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        # AttributeError is what pandas expects of an accessor that does not fit.
        self._searches = searches_of(frame)
        if "memory_id" not in frame.columns or not self._searches:
            raise AttributeError(
                ".memory works on a result of %memsearch or store.search(), with its memory_id column and its attrs. "
                "A file has no attrs, and pandas drops them where a result and another DataFrame become one."
            )
        self._frame = frame

    def __repr__(self) -> str:
        made = "explain(rank, all=True)  text(rank)  runnable(rank)  versions(rank)  runs(rank)  open(rank)  "
        made += "context(max_tokens)  receipt(path)  breakdown()  style(evidence=True)  plot()"
        return f"What a result tells of itself, row by row: {made}"

    def explain(self, rank: Rank = 1, *, all: bool = False) -> Explanation:
        """Return why the memory of a row is where it is: the main reasons, or all of them.

        Beyond the last 32 answers of a session, the query is searched again, as of now and without its filters.
        """
        row = self._row(rank)
        memory_id, search = str(row["memory_id"]), search_of(row, self._searches)
        if not search["query"]:
            raise InputError("These memories were listed without a question, so nothing was ranked. Search first.")
        answer, store = recent_answer(search), _store(search, row)
        why: Explanation
        if answer is not None:
            why = store.explain_in(answer, memory_id)
        else:
            why = store.explain(search["query"], memory_id, profile=search["profile"])
        return why.whole() if all else why

    def text(self, rank: Rank = 1) -> str:
        """Return the whole text of a row's memory, which a notebook shows as Markdown or code; it counts as read."""
        row = self._row(rank)
        memory = self._store(row).get(str(row["memory_id"]))
        self._note_access(row)
        return WholeText.of(memory.text, memory.kind, memory.lang)

    def runnable(self, rank: Rank = 1, *, effects: bool = False) -> str:
        """Return the code of a row's memory, as ``MemoryStore.runnable`` does; comments say what is missing."""
        row = self._row(rank)
        store = self._store(row)
        found = store.runnable(str(row["memory_id"]), effects=effects)
        self._note_access(row)
        return WholeText.of(found.text, "history", store.get(str(row["memory_id"])).lang)

    def versions(self, rank: Rank = 1, *, every_run: bool = False) -> pd.DataFrame:
        """Return every text that ran in the cell of a row, the newest first, with what it changed."""
        row = self._row(rank)
        history = self._store(row).history
        found = history.versions(str(row["memory_id"]), every_run=every_run)
        if not found:
            raise InputError(history.nothing_ran)
        return versions_frame(found, every_run=every_run)

    def runs(self, rank: Rank = 1) -> pd.DataFrame:
        """Return every run of the cell of a row, the newest first, with what changed since the one before."""
        return self.versions(rank, every_run=True)

    def open(self, rank: Rank = 1) -> Place:
        """Return where the memory of a row comes from: in a notebook a link that opens it at the cell."""
        row = self._row(rank)
        if row.get("source"):
            hit = recent_hits(search_of(row, self._searches)).get(str(row["memory_id"]))
            cell = None if hit is None else hit.memory.cell
            place = Place(str(row["source"]), str(row.get("location", "")), str(row.get("kind", "")), cell)
        else:
            memory = self._store(row).get(str(row["memory_id"]))
            if not memory.source:
                raise InputError(f"Rank {rank} is a {memory.kind} without a source; df.memory.text({rank}) shows it.")
            place = Place(memory.source, memory.place(), memory.kind, memory.cell)
        self._note_access(row)
        return place

    def context(self, max_tokens: int = 2000) -> str:
        """Return the memories of all rows, in their order, as ``MemoryStore.context`` does for a language model.

        Raises:
            InputError: ``max_tokens`` is not a whole number of at least 200.
        """
        searches = self._searches
        if len({search["store"] for search in searches}) > 1 or any("stores" in search for search in searches):
            raise InputError("These are from several stores; this takes one: search it alone or use `%memory context`.")
        first, store = recent_answer(searches[0]), _store(searches[0], {})
        found = {str(row["memory_id"]): search_of(row, searches) for _, row in self._frame.iterrows()}
        hits = [recent_hits(search).get(memory_id) for memory_id, search in found.items()]
        kept = [hit for hit in hits if hit is not None]
        questions = " / ".join(dict.fromkeys(search["query"] for search in searches if search["query"]))
        if first is not None and len(kept) == len(hits):
            answer = replace(first, hits=tuple(kept))
        else:
            memories = []
            for memory_id in found:
                with suppress(UnknownMemory):
                    memories.append(store.get(memory_id))
            answer = store.listed(memories)
        query = replace(answer.query, text=questions, written=questions)
        answer = replace(answer, query=query, verdict=surest(search["verdict"] for search in searches))
        return str(store.context(answer, max_tokens))

    def receipt(self, path: str | Path | None = None) -> dict[str, Any]:
        """Return a receipt of these rows, without texts and the query, and write it to ``path``, a new file, if given.

        `%memory verify` compares its salted digests with the store, to say later what became of each row.
        """
        first = recent_answer(self._searches[0])
        if first is None or len(self._searches) > 1:
            raise InputError("A receipt is made of one answer, in the session that asked. Search again, then make it.")
        from jupyter_memory.search.receipt import receipt_of  # few answers need one

        rows = set(map(str, self._frame["memory_id"]))
        receipt = receipt_of(replace(first, hits=tuple(hit for hit in first.hits if hit.memory.id in rows)))
        if path is not None:
            write_new(Path(path).expanduser(), json_text(receipt, indent=1) + "\n")
        return receipt

    def breakdown(self) -> pd.DataFrame:
        """Return one row a hit and signal: ``rank, title, signal, value, signal_rank, contribution, memory_id``."""
        rows: list[tuple[Any, ...]] = []
        for rank, row in self._ranked().iterrows():
            memory_id = str(row["memory_id"])
            hit = recent_hits(search_of(row, self._searches)).get(memory_id)
            rows += [(rank, row["title"], *evidence, memory_id) for evidence in _evidence(row, hit)]
        dtypes = {"rank": "int64", "title": "str", "signal": "str", "value": "float64", "signal_rank": "Int64"}
        dtypes |= {"contribution": "float64", "memory_id": "str"}
        return pd.DataFrame(rows, columns=list(dtypes)).astype(dtypes)

    def style(self, *, evidence: bool = False) -> Styler:
        """Return the result as a styled table, every text escaped; with ``evidence``, all numbers and bars."""
        return styled(self._frame, evidence=evidence)

    def plot(self) -> altair.Chart:
        """Return stacked bars of the contributions by hit, drawn by altair of the extra ``plots``."""
        try:
            import altair
        except ImportError:
            raise MissingExtra("df.memory.plot()", "plots") from None
        breakdown = self.breakdown()
        # A signal that contributes nothing to any hit would only use up a colour.
        contributing = breakdown.loc[breakdown["contribution"] != 0, "signal"]
        long = breakdown[breakdown["signal"].isin(contributing)].assign(
            hit=lambda rows: rows["rank"].astype("str") + " " + rows["title"].map(marked)
        )
        signals = list(dict.fromkeys(long["signal"]))
        scheme = altair.Scale(scheme="tableau10" if len(signals) <= 10 else "tableau20")
        chart = local_chart(altair.Chart, "<altair.Chart of {rows} contributions>")
        return (
            chart(pd.DataFrame(long[["hit", "signal", "value", "contribution"]]))
            .mark_bar()
            .encode(
                x=altair.X("sum(contribution)", title="score"),
                y=altair.Y("hit", sort=None, title=None, axis=altair.Axis(labelLimit=420)),
                color=altair.Color("signal", sort=signals, scale=scheme),
                tooltip=["signal", "value", "contribution"],
            )
        )

    def _note_access(self, row: pd.Series[Any]) -> None:
        # A row that names its source can be opened without its store.
        with suppress(JupyterMemoryError):
            self._store(row).note_access(str(row["memory_id"]))

    def _store(self, row: pd.Series[Any]) -> Any:
        return _store(search_of(row, self._searches), row)

    def _row(self, rank: Rank) -> pd.Series[Any]:
        ids, labels = self._frame["memory_id"], self._frame.index
        if isinstance(rank, str) and len(rank) >= _SHORTEST_ID:
            return _only(self._frame[ids == rank], f"memory {rank}", "Memories", ids)
        if isinstance(rank, tuple):
            return _only(self._frame[[label == rank for label in labels]], f"row {rank}", "Rows", labels)
        # Ranks become floats in a column with missing values.
        if isinstance(rank, (bool, str)) or not isinstance(rank, (int, float, np.integer)):
            raise InputError(f"A rank is a number, such as 1, the index of the row; it was {rank!r:.40}.")
        frame = self._ranked()
        found = frame[frame.index == rank]
        if found["memory_id"].nunique() > 1:
            examples = " or ".join(repr(one) for one in found["memory_id"].unique()[:2])
            raise InputError(f"Several rows have the rank {rank}: name the memory by its id, such as {examples}.")
        return _only(found, f"rank {rank}", "Ranks", frame.index)

    def _ranked(self) -> pd.DataFrame:
        # Where several results were put together without their ranks, by its new labels.
        frame = self._frame
        if "rank" in frame.columns:
            return frame.set_index("rank")
        if "rank" in frame.index.names:
            return frame.reset_index([name for name in frame.index.names if name != "rank"], drop=True)
        if len(self._searches) > 1 and frame.index.is_unique:
            return frame.rename_axis("rank")
        raise InputError(
            "The rows of this DataFrame have lost their ranks, so a number does not say which is meant. "
            "Keep the index (no ignore_index=True, no reset_index(drop=True)), or name a memory by its id."
        )


def _store(search: Search, row: Mapping[str, Any] | pd.Series[Any]) -> Any:
    if open_store is None:
        raise InputError("Import jupyter_memory first: `from jupyter_memory import open_store`.")
    return open_store(search.get("stores", {}).get(row.get("store"), search["store"]))


def _only(found: pd.DataFrame, what: str, names: str, known: Iterable[Any]) -> pd.Series[Any]:
    if found.empty:
        there = ", ".join(map(str, [*known][:20])) or "none: the result is empty"
        raise InputError(f"There is no {what} in this result. {names}: {there}.")
    return found.iloc[0]


def _evidence(row: pd.Series[Any], hit: Hit | None) -> list[tuple[str, float, int | None, float]]:
    if hit is not None:
        return [(name, seen.value, seen.rank, seen.contribution) for name, seen in hit.signals.items()]
    columns = {"keyword": ("bm25", "kw_rank"), "vector": ("cosine", "sem_rank")}
    found = []
    for column in map(str, row.index):
        if column.startswith("contrib_"):
            name = column.removeprefix("contrib_")
            value, place = columns.get(name, (f"value_{name}", ""))
            rank = row.get(place)
            # A memory that only the other retriever found has a cosine all the same, which earned it no rank.
            judged = not place or not pd.isna(rank) or bool(row[column])
            raw = float(row.get(value, nan)) if judged else nan
            found.append((name, raw, None if pd.isna(rank) else int(rank), float(row[column])))
    return found
