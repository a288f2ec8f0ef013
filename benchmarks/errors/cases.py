"""The set: its notation, what a build of it wrote, and what a method is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Role = Literal["plain", "fails", "fix", "mended", "maybe"]

HERE = Path(__file__).parent
CASE = re.compile(r"^=== (?P<name>\S+)$", re.MULTILINE)
MARKS = ("", "notebook", "asked", "fails", "fix", "mended", "maybe")
MARK = re.compile(r"^%%(?: (?P<mark>.*))?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell as written: its source, its part in the case, and the error that it must raise, if any."""

    source: str
    role: Role
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Notebook:
    """Cells that run in one kernel, in this order."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A fault: the notebook where it was met and mended, if it was, and the one where it is met now.

    ``also`` names the cases whose fixes are as right as its own.
    """

    name: str
    library: str
    cause: str
    earlier: Notebook | None
    asked: Notebook | None
    also: tuple[str, ...] = ()


def read_cases(path: Path) -> Iterator[Case]:
    """Yield the cases of a file, which is named after their library; what precedes the first opens every notebook."""
    opening, *parts = CASE.split(path.read_text(encoding="utf-8"))
    imports = [Cell(opening.strip(), "plain")] if opening.strip() else []
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        head, *marked = MARK.split(text)
        cause, _, also = head.partition("\nalso:")
        notebooks: dict[str, tuple[str, list[Cell]]] = {}
        here = ""
        for mark, source in zip(marked[::2], marked[1::2], strict=True):
            verb, _, rest = (mark or "").partition(" ")
            if verb in ("notebook", "asked"):
                here = verb
                notebooks[here] = (rest, list(imports))
            if here not in notebooks or verb not in MARKS:
                raise ValueError(
                    f"{path.stem}: {name}: '%% {verb}' is not known, or comes before '%% notebook' and '%% asked'."
                )
            role = "plain" if verb in ("", "notebook", "asked") else verb
            notebooks[here][1].append(Cell(source.strip("\n"), role, rest if verb == "fails" else None))
        made = {verb: Notebook(title, tuple(cells)) for verb, (title, cells) in notebooks.items()}
        cause = " ".join(cause.split())
        yield Case(name, path.stem, cause, made.get("notebook"), made.get("asked"), tuple(also.split()))


def read_folder(name: str) -> list[Case]:
    """Return the cases of all files of a folder beside this one, by name."""
    return [case for path in sorted((HERE / name).glob("*.txt")) for case in read_cases(path)]


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
    error: Entry
    before: tuple[Entry, ...]
    fixes: frozenset[str]


Suggest = Callable[[Entry, Sequence[Entry]], Sequence[str]]
"""Takes an error and the cells before it; returns the ids of cells that may mend it, the best first, or nothing."""

Method = Callable[[Sequence[Entry]], Suggest]
"""Takes a history; returns what suggests."""


def read_built(folder: Path) -> tuple[list[Entry], list[Question]]:
    """Return the history and the questions that build.py wrote, those with a fix in it before those without."""

    def records(name: str) -> list[dict]:
        return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]

    history = [Entry(**one) for one in records("history.jsonl")]
    asked = {one["id"]: Entry(**one) for one in records("asked.jsonl")}
    questions = []
    for one in (*records("cases.jsonl"), *records("unseen.jsonl")):
        error = asked[one["asked"]]
        before = tuple(run for run in asked.values() if run.session == error.session and run.cell < error.cell)
        fixes = frozenset(one.get("fixes", ()))
        questions.append(Question(one["case"], one["library"], error, before, fixes))
    return history, questions
