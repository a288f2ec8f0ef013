"""The set as a method sees it: cells that ran, errors with the cells that mended them, and what is right."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Entry:
    """One executed cell; the traceback is the list of strings that the kernel sent, with its ANSI colours."""

    id: str
    session: str
    notebook: str
    cell: int
    source: str
    started: str
    outcome: str
    ename: str | None
    evalue: str | None
    traceback: list[str] | None


@dataclass(frozen=True, slots=True)
class Question:
    """An exception, the cells that ran before it in its session, and the fixes that are right: none for the unseen."""

    case: str
    library: str
    cause: str
    error: Entry
    before: tuple[Entry, ...]
    fixes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class JudgedErrors:
    """The whole set: the history, and the questions with a fix in it and without."""

    history: tuple[Entry, ...]
    seen: tuple[Question, ...]
    unseen: tuple[Question, ...]

    @property
    def libraries(self) -> list[str]:
        """Return the libraries of the questions, by name."""
        return sorted({one.library for one in (*self.seen, *self.unseen)})


Suggest = Callable[[Entry, Sequence[Entry]], Sequence[str]]
"""Takes an error and the cells before it; returns the ids of cells that may mend it, the best first, or nothing."""

Method = Callable[[Sequence[Entry], Sequence[Question]], Suggest]
"""Takes a history, and questions that it may be tuned on; returns what suggests."""


def read_errors(folder: Path) -> JudgedErrors:
    """Read what build.py wrote."""
    asked = [Entry(**one) for one in _records(folder / "asked.jsonl")]
    history = tuple(Entry(**one) for one in _records(folder / "history.jsonl"))
    return JudgedErrors(history, _questions(folder / "cases.jsonl", asked), _questions(folder / "unseen.jsonl", asked))


def _questions(path: Path, asked: Sequence[Entry]) -> tuple[Question, ...]:
    by_id = {entry.id: entry for entry in asked}
    return tuple(
        Question(
            one["case"],
            one["library"],
            one["cause"],
            error := by_id[one["asked"]],
            tuple(entry for entry in asked if entry.session == error.session and entry.cell < error.cell),
            frozenset(one.get("fixes", ())),
        )
        for one in _records(path)
    )


def _records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
