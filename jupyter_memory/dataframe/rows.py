"""The rows of a result as people see them: the snippet with its marks, the place, strength in per cent, and the age."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pandas as pd

from jupyter_memory.dataframe.places import Place
from jupyter_memory.dataframe.searches import recent_hits, search_of, searches_of
from jupyter_memory.text.dates import age
from jupyter_memory.text.display import Entry, percent
from jupyter_memory.text.identifiers import without_file
from jupyter_memory.text.markdown import is_markdown, plain
from jupyter_memory.types import Hit
from jupyter_memory.types.search import UNANSWERED, doubt

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
    return [_row(label, row, searches, now) for label, row in frame.head(most).iterrows()]


def doubts(frame: pd.DataFrame) -> str:
    """Return what is said above a result that may not answer its question, nothing where it does."""
    verdicts = [search["verdict"] for search in searches_of(frame)]
    said = [doubt(verdict) for verdict in verdicts]
    if not len(frame) or not all(said):
        return ""
    return UNANSWERED if set(said) == {UNANSWERED} else max(said, key=lambda one: one != UNANSWERED, default="")


def _row(label: Hashable, row: pd.Series[Any], searches: list[Any], now: datetime) -> Row:
    memory_id, search = str(row["memory_id"]), search_of(row, searches) if searches else None
    snippet, marks = _snippet(row, recent_hits(search).get(memory_id) if search else None)
    source, tokens = _text(row, "source"), row.get("token_estimate")
    strength, event_at = row.get("strength"), row.get("event_at")
    return Row(
        rank=_DOT.join(map(str, label)) if isinstance(label, tuple) else str(label),
        title=without_file(_text(row, "title"), source),
        snippet=snippet,
        marks=marks,
        badges=_text(row, "badges"),
        strength="" if pd.isna(strength) else percent(strength),
        age=age(event_at.to_pydatetime(warn=False), now) if isinstance(event_at, pd.Timestamp) else "",
        place=Place(source, _text(row, "location"), _text(row, "kind")) if source else None,
        tags=", ".join(_tags(row.get("tags"))),
        tokens="" if tokens is None or pd.isna(tokens) else f"{tokens} tokens",
        memory_id=memory_id,
        pictured=search is not None and memory_id in search.get("pictured", ()),
    )


def _snippet(row: pd.Series[Any], hit: Hit | None) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the snippet as its reader sees it; with its lines and its marks while the answer is still kept."""
    if hit is None:
        text = _text(row, "snippet")
        return plain(text) if is_markdown(_text(row, "kind"), _text(row, "lang")) else (text, ())
    return hit.plain_snippet()


def _text(row: pd.Series[Any], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


def _tags(tags: object) -> Iterator[str]:
    if isinstance(tags, Sequence) and not isinstance(tags, str):
        yield from map(str, tags)
