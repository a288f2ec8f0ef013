"""The notation of the cases: notebooks as text, cell by cell, with what becomes of each cell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Role = Literal["plain", "fails", "fix", "mended", "maybe"]

_CASE = re.compile(r"^=== (?P<name>\S+)$", re.MULTILINE)
_MARK = re.compile(r"^%%(?: (?P<mark>.*))?$", re.MULTILINE)


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


class BadCase(ValueError):
    """A file of cases cannot be read."""


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a file, which is named after their library; what precedes the first opens every notebook."""
    opening, *parts = _CASE.split(path.read_text(encoding="utf-8"))
    imports = Cell(opening.strip(), "plain")
    return [
        _case(name, path.stem, text, (imports,) if imports.source else ())
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    ]


def _case(name: str, library: str, text: str, opening: tuple[Cell, ...]) -> Case:
    head, *parts = _MARK.split(text)
    cause, _, also = head.partition("\nalso:")
    notebooks: dict[str, list[Cell]] = {}
    titles: dict[str, str] = {}
    here = ""
    for mark, source in zip(parts[::2], parts[1::2], strict=True):
        verb, _, rest = (mark or "").partition(" ")
        if verb in ("notebook", "asked"):
            here = verb
            titles[here] = rest
            notebooks[here] = list(opening)
        if here not in notebooks:
            raise BadCase(f"{library}: {name}: a cell stands before the first '%% notebook NAME' or '%% asked NAME'.")
        notebooks[here].append(_cell(f"{library}: {name}", verb, rest, source.strip("\n")))
    made = {verb: Notebook(titles[verb], tuple(cells)) for verb, cells in notebooks.items()}
    return Case(name, library, " ".join(cause.split()), made.get("notebook"), made.get("asked"), tuple(also.split()))


def _cell(where: str, verb: str, rest: str, source: str) -> Cell:
    match verb:
        case "" | "notebook" | "asked":
            return Cell(source, "plain")
        case "fails":
            return Cell(source, "fails", rest)
        case "fix" | "mended" | "maybe":
            return Cell(source, verb)
        case _:
            raise BadCase(f"{where}: '%% {verb}' is not known; use notebook, asked, fails, fix, mended or maybe.")


def read_folder(folder: Path) -> Iterator[Case]:
    """Yield the cases of all files of a folder, by name."""
    for path in sorted(folder.glob("*.txt")):
        yield from read_cases(path)
