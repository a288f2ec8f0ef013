"""Rows of results: places, doubts, several searches joined."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from os.path import relpath
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

import pandas as pd

from jupyter_memory.text.dates import age
from jupyter_memory.text.display import Entry, percent
from jupyter_memory.text.identifiers import without_file
from jupyter_memory.text.markdown import is_markdown, plain
from jupyter_memory.text.unicode import marked
from jupyter_memory.types import Answer, Hit
from jupyter_memory.types.search import UNANSWERED, doubt

# pandas drops the attrs where two different results become one. Here they are kept side by side, each with the memories
# that it found, so that every row still knows its search.

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
                scores = frame["score"] if "score" in frame.columns else [None] * len(frame)
                found = zip(frame["memory_id"], scores, strict=True)
                one[_FOUND] |= search.get(_FOUND) or {str(name): _number(score) for name, score in found}
    if len(by_query) > 1:
        return {KEY: {_SEVERAL: list(by_query.values())}}
    [one] = by_query.values() or [{}]
    alone = {name: of for name, of in one.items() if name != _FOUND}
    return {KEY: alone} if alone else {}


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


_WEB = ("https://", "http://")


class Place:
    """Where a memory comes from: a link in a notebook, a path elsewhere."""

    def __init__(self, source: str, location: str, kind: str) -> None:
        self.source = source
        self.location = location
        self.kind = kind

    def __repr__(self) -> str:
        return marked(f"{self.source}:{self.location}" if self.location else self.source)

    def _repr_html_(self) -> str:
        return f'<a href="{escape(self.href)}" target="_blank" rel="noopener">{escape(repr(self))}</a>'

    @property
    def href(self) -> str:
        """Return a link from the folder of the notebook; of a cell, one that JupyterLab opens at the cell."""
        if self.source.startswith(_WEB):
            return self.source
        path = Path(self.source)
        # Quoted whole: a source is any text, and a colon in it must not make a scheme such as javascript.
        href = _address(path) if path.is_absolute() else quote(path.as_posix())
        if self.source.lower().endswith(".pdf") and self.location.startswith("page "):
            return f"{href}#page={quote(self.location.removeprefix('page '))}"
        # JupyterLab opens a notebook at the cell that the fragment names.
        notebook = self.kind == "cell" and self.source.lower().endswith(".ipynb")
        cell = notebook and self.location and not self.location.startswith("#")
        return f"{href}#cell-id={quote(self.location)}" if cell else href

    @property
    def name(self) -> str:
        """Return the file by its name alone, with the line or the page; the id of a cell tells a person nothing.

        >>> Place("/work/rates.md", "12", "file").name, Place("/work/λ.ipynb", "89ce8ae6", "cell").name
        ('rates.md:12', 'λ.ipynb')
        """
        name = self.source if self.source.startswith(_WEB) else PurePath(self.source).name or self.source
        if self.location.isdecimal():
            return f"{name}:{self.location}"
        return f"{name}, {self.location}" if self.location.startswith(("page ", "slide ")) else name


def _address(path: Path) -> str:
    # From its root if that is gone or on another drive of Windows.
    try:
        return quote(Path(relpath(path)).as_posix())
    except OSError:
        return quote(path.as_posix())
    except ValueError:
        return path.as_uri()


_NEEDED = {"title", "snippet", "score", "memory_id"}
_DOT = " · "


@dataclass(frozen=True, slots=True)
class Row:
    """What is shown of a memory; ``place`` is None where it comes from no file."""

    rank: str
    title: str
    snippet: str
    marks: tuple[tuple[int, int], ...]
    badges: str
    strength: str
    age: str
    place: Place | None
    tags: str
    tokens: str
    memory_id: str
    pictured: bool

    @property
    def entry(self) -> Entry:
        """Return the row as it is listed in a terminal."""
        facts = (self.place.name if self.place else "", self.tags, self.tokens, self.memory_id)
        return Entry(
            self.rank,
            self.title,
            self.snippet,
            self.marks,
            self.badges,
            (self.strength, self.age),
            _DOT.join(fact for fact in facts if fact),
        )


def is_result(frame: pd.DataFrame) -> bool:
    """Return whether a DataFrame has the columns of a whole result, each once."""
    return set(frame.columns) >= _NEEDED and frame.columns.is_unique


def shown_rows(frame: pd.DataFrame, now: datetime) -> list[Row]:
    """Return the rows of a result that pandas is set to show, each as people see it."""
    searches = searches_of(frame)
    most = pd.get_option("display.max_rows") or len(frame)
    shown = []
    for label, row in frame.head(most).iterrows():
        memory_id, search = str(row["memory_id"]), search_of(row, searches) if searches else None
        hit = recent_hits(search).get(memory_id) if search else None
        # With its lines and its marks while the answer is still kept.
        snippet, marks = hit.plain_snippet() if hit is not None else (_cell_text(row, "snippet"), ())
        if hit is None and is_markdown(_cell_text(row, "kind"), _cell_text(row, "lang")):
            snippet, marks = plain(snippet)
        source, tokens, tags = _cell_text(row, "source"), row.get("token_estimate"), row.get("tags")
        strength, event_at = row.get("strength"), row.get("event_at")
        tags = tags if isinstance(tags, Sequence) and not isinstance(tags, str) else ()
        shown.append(
            Row(
                rank=_DOT.join(map(str, label)) if isinstance(label, tuple) else str(label),
                title=without_file(_cell_text(row, "title"), source),
                snippet=snippet,
                marks=marks,
                badges=_cell_text(row, "badges"),
                strength="" if pd.isna(strength) else percent(strength),
                age=age(event_at.to_pydatetime(warn=False), now) if isinstance(event_at, pd.Timestamp) else "",
                place=Place(source, _cell_text(row, "location"), _cell_text(row, "kind")) if source else None,
                tags=", ".join(map(str, tags)),
                tokens="" if tokens is None or pd.isna(tokens) else f"{tokens} tokens",
                memory_id=memory_id,
                pictured=search is not None and memory_id in search.get("pictured", ()),
            )
        )
    return shown


def doubts(frame: pd.DataFrame) -> str:
    """Return what is said above a result that may not answer its question, nothing where it does."""
    verdicts = [search["verdict"] for search in searches_of(frame)]
    said = [doubt(verdict) for verdict in verdicts]
    if not len(frame) or not all(said):
        return ""
    return UNANSWERED if set(said) == {UNANSWERED} else max(said, key=lambda one: one != UNANSWERED, default="")


def _cell_text(row: pd.Series[Any], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""
