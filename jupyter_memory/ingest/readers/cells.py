"""Cells of a notebook, whatever its format: each with the headings and the Markdown above it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from jupyter_memory.ingest.history.rules import uses_memory
from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.outputs import clip
from jupyter_memory.text.markdown import Heading, descend, headings
from jupyter_memory.text.unicode import clean, without_data

# Characters kept of a cell's source (more is pasted data), and of the Markdown above a cell.
_SOURCE = 200_000
_ABOVE = 4_000
# Cells of a notebook that is written as text.
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Cell:
    """A Markdown or code cell as its file has it.

    ``title`` and ``label`` are those that some formats give a cell. ``line`` is the one on which its source begins, 0
    in JSON.
    """

    index: int
    is_code: bool
    source: str
    language: str = ""
    label: str = ""
    title: str = ""
    line: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Placed:
    """A cell with its place: ``path`` leads down to it, ``above`` is the Markdown directly above it.

    ``source`` is that of the cell, cleaned and clipped.
    """

    cell: Cell
    source: str
    path: tuple[Heading, ...]
    above: str

    @property
    def is_wanted(self) -> bool:
        """Return whether it says something, and does not search or feed this memory: a search must not find itself."""
        return bool(self.source) and not (self.cell.is_code and uses_memory(self.source))


def placed(cells: Iterable[Cell], hide: Callable[[str], str] | None) -> Iterator[Placed]:
    """Yield the cells with the headings and the Markdown above them."""
    path: tuple[Heading, ...] = ()
    above = ""
    for cell in cells:
        whole = without_data(clean(cell.source))
        source = clip(_safe(whole, _SOURCE, hide), _SOURCE).strip("\n").rstrip()
        if cell.is_code:
            yield Placed(cell, source, path, above)
            above = "" if source else above
            continue
        found = headings(source)
        opening = path
        for heading in _leading(source, found):
            opening = descend(opening, heading)
        yield Placed(cell, source, opening, "")
        for heading in found:
            path = descend(path, heading)
        above = _safe(_without(source, found), _ABOVE, hide)[:_ABOVE].strip() if source else above


def document(cells: Iterable[Cell], language: str, title: str, hide: Callable[[str], str] | None) -> Document | None:
    """Return a notebook that is written as text, a part for each of its cells; None if it has more than anybody writes.

    The location of a cell is its label, if no cell before it has the same one, else ``#<index>``.
    """
    parts = []
    labels: set[str] = set()
    some = list(islice(cells, _MOST + 1))
    if len(some) > _MOST:
        return None
    for one in placed(some, hide):
        cell = one.cell
        if not one.is_wanted:
            continue
        location = cell.label if cell.label and cell.label not in labels else f"#{cell.index}"
        labels.add(cell.label)
        # Blank lines before the first word are no part of the text.
        blank = len(cell.source) - len(cell.source.lstrip("\n"))
        parts.append(
            Part(
                text=one.source,
                location=location,
                line=cell.line + blank,
                language=cell.language or ("" if cell.is_code else "markdown"),
                headings=(*(heading.text for heading in one.path), *([cell.title] if cell.title else ())),
                above=one.above,
                metadata={"cell_type": "code" if cell.is_code else "markdown", "index": cell.index, **cell.metadata},
            )
        )
    return Document(tuple(parts), language, title=title, kind="cell")


def _safe(text: str, length: int, hide: Callable[[str], str] | None) -> str:
    """Return a text that can be cut to a length without cutting a secret in two."""
    return hide(text) if hide is not None and len(text) > length else text


def _leading(source: str, found: list[Heading]) -> Iterator[Heading]:
    """Yield the headings at the beginning of a cell, before any other text."""
    begin = 0
    for heading in found:
        if source[begin : heading.start].strip():
            return
        yield heading
        begin = heading.end


def _without(source: str, found: list[Heading]) -> str:
    """Return Markdown without its headings."""
    begins = [0, *(heading.end for heading in found)]
    ends = [*(heading.start for heading in found), len(source)]
    return "".join(source[begin:end] for begin, end in zip(begins, ends, strict=True))
