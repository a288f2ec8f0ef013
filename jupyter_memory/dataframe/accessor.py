"""The ``df.memory`` accessor, which explains a result of a search row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from html import escape
from math import nan
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import numpy as np
import pandas as pd

from jupyter_memory.dataframe.charts import contribution_chart
from jupyter_memory.dataframe.frame import recent_answer
from jupyter_memory.dataframe.style import styled
from jupyter_memory.errors import InputError, JupyterMemoryError, UnknownMemory
from jupyter_memory.text.unicode import marked
from jupyter_memory.types import Answer, Explanation, Hit, Memory

if TYPE_CHECKING:
    import altair
    from pandas.io.formats.style import Styler


class _Store(Protocol):
    def note_access(self, memory_id: str, /) -> bool: ...

    def get(self, memory_id: str, /) -> Memory: ...

    def explain(self, query: str, memory_id: str, /, *, profile: str | None = ...) -> Explanation: ...

    def explain_in(self, answer: Answer, memory_id: str, /) -> Explanation: ...

    def listed(self, memories: Sequence[Memory], /) -> Answer: ...

    def context(self, answer: Answer, max_tokens: int, /) -> str: ...


_open_store: Callable[[str], _Store] | None = None


def register_store(opener: Callable[[str], _Store]) -> None:
    """Register the function that opens the store of a path, since this module may not import the store."""
    global _open_store
    _open_store = opener


class Place:
    """Where a memory comes from: a link in a notebook, a path elsewhere."""

    def __init__(self, source: str, location: str, kind: str) -> None:
        self.source = source
        self.location = location
        self.kind = kind

    def __repr__(self) -> str:
        return marked(f"{self.source}:{self.location}" if self.location else self.source)

    def _repr_html_(self) -> str:
        return f'<a href="{escape(self._href())}" target="_blank" rel="noopener">{escape(repr(self))}</a>'

    def _href(self) -> str:
        if self.source.startswith(("https://", "http://")):
            return self.source
        path = Path(self.source)
        # Quoted whole: a source is any text, and a colon in it must not make a scheme such as javascript.
        href = _address(path)
        if self.source.lower().endswith(".pdf") and self.location.startswith("page "):
            return f"{href}#page={quote(self.location.removeprefix('page '))}"
        # JupyterLab opens a notebook at the cell that the fragment names.
        notebook = self.kind == "cell" and self.source.lower().endswith(".ipynb")
        cell = notebook and self.location and not self.location.startswith("#")
        return f"{href}#cell-id={quote(self.location)}" if cell else href


def _address(path: Path) -> str:
    """Return a path as a link from the working folder; on another drive of Windows, from its root."""
    try:
        return quote(Path(relpath(path) if path.is_absolute() else path).as_posix())
    except ValueError:
        return path.as_uri()


@pd.api.extensions.register_dataframe_accessor("memory")
class MemoryAccessor:
    """The ``df.memory`` accessor: explains the result of a search row by row.

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
        self._search: dict[str, Any] = frame.attrs["memsearch"]

    def __repr__(self) -> str:
        made = "explain(rank)  text(rank)  open(rank)  context(max_tokens)  breakdown()  style(evidence=True)  plot()"
        return f"What a result tells of itself, row by row: {made}"

    def explain(self, rank: int = 1) -> Explanation:
        """Return why the memory of a row is where it is; ``print`` it for the sentences.

        Only the last answers of a session are kept: for an older one the query is searched again, as of now and
        without its filters.
        """
        memory_id = str(self._row(rank)["memory_id"])
        if not self._search["query"]:
            raise InputError("These memories were listed without a question, so nothing was ranked. Search first.")
        answer = recent_answer(self._search["query_id"])
        if answer is not None:
            return self._store().explain_in(answer, memory_id)
        return self._store().explain(self._search["query"], memory_id, profile=self._search["profile"])

    def text(self, rank: int = 1) -> str:
        """Return the whole text of the memory of a row; the store counts that it was read."""
        memory = self._store().get(str(self._row(rank)["memory_id"]))
        self._note_access(memory.id)
        return memory.text

    def open(self, rank: int = 1) -> Place:
        """Return where the memory of a row comes from: in a notebook a link that opens it at the cell."""
        row = self._row(rank)
        place = self._place(row, rank)
        self._note_access(str(row["memory_id"]))
        return place

    def context(self, max_tokens: int = 2000) -> str:
        """Return the memories of all rows, in their order, as a text for the prompt of a language model.

        It names the path, the cell, the lines and the date of every source, and has at most ``max_tokens`` by an
        estimate that rather errs upwards. Rows that say the same are one source, and neighbouring cells of a notebook
        stand together. A memory that has no room left is left out whole; of a long file, the part around the hit is
        quoted. The texts are marked as data, within borders that none of them can forge. Where the verdict is ``none``,
        the text says that nothing answers the question.

        Raises
        ------
        InputError
            ``max_tokens`` is not a whole number of at least 200.
        """
        return self._store().context(self._answer(), max_tokens)

    def breakdown(self) -> pd.DataFrame:
        """Return one row a hit and signal: ``rank, title, signal, value, signal_rank, contribution, memory_id``."""
        answer = recent_answer(self._search["query_id"])
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

        With ``evidence`` it has every column: ranks and raw scores of the retrievers, values of the signals, and a bar
        for each contribution.
        """
        return styled(self._frame, evidence=evidence)

    def plot(self) -> altair.Chart:
        """Return stacked bars of the contributions by hit.

        Raises:
            MissingExtra: altair is not installed; it comes with the extra ``plots``.
        """
        return contribution_chart(self.breakdown())

    def _answer(self) -> Answer:
        """Return an answer with the memories of the rows, in their order: as it was given, if it is still kept."""
        ids = list(dict.fromkeys(map(str, self._frame["memory_id"])))
        known = recent_answer(self._search["query_id"])
        hits = {} if known is None else {hit.memory.id: hit for hit in known.hits}
        if known is not None and hits.keys() >= set(ids):
            return replace(known, hits=tuple(hits[one] for one in ids))
        store, asked = self._store(), self._search["query"]
        memories = []
        for one in ids:
            with suppress(UnknownMemory):
                memories.append(store.get(one))
        answer = store.listed(memories)
        query = replace(answer.query, text=asked, written=asked)
        return replace(answer, query=query, verdict=self._search["verdict"])

    def _place(self, row: pd.Series[Any], rank: int) -> Place:
        if row.get("source"):
            return Place(str(row["source"]), str(row.get("location", "")), str(row.get("kind", "")))
        memory = self._store().get(str(row["memory_id"]))
        if not memory.source:
            raise InputError(f"Rank {rank} is a {memory.kind} without a source; df.memory.text({rank}) shows it whole.")
        return Place(memory.source, memory.place(), memory.kind)

    def _note_access(self, memory_id: str) -> None:
        # A row that names its source can be opened without its store.
        with suppress(JupyterMemoryError):
            self._store().note_access(memory_id)

    def _row(self, rank: int) -> pd.Series[Any]:
        # Ranks become floats in a column with missing values.
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
        """Return the frame by rank.

        Raises:
            InputError: the rows have other names, so a rank does not say which row is meant.
        """
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
        return _open_store(self._search["store"])


def _evidence(row: pd.Series[Any], hit: Hit | None) -> list[tuple[str, float, int | None, float]]:
    """Return name, value, rank and contribution of each signal, from the columns if the answer is no longer kept."""
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
