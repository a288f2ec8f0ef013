"""Reads a notebook, cell by cell."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.dates.written import of_cell, of_notebook
from jupyter_memory.ingest.history_rules import uses_memory
from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.outputs import clip, joined, outputs_text
from jupyter_memory.text.headings import Heading, descend, headings
from jupyter_memory.text.structure import with_outputs
from jupyter_memory.text.unicode import clean, without_data

# Characters kept of a cell's source (more is pasted data), and of the Markdown above a cell.
_SOURCE = 200_000
_ABOVE = 4_000

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell with its place: ``path`` leads down to it, ``above`` is the Markdown directly above it."""

    index: int
    raw: Mapping[str, Any]
    source: str
    path: tuple[Heading, ...]
    above: str

    @property
    def is_code(self) -> bool:
        return self.raw.get("cell_type") == "code"


@dataclass(frozen=True, slots=True)
class NotebookReader:
    """Reads notebooks, a part for each cell. ``hide`` replaces secrets in texts that are going to be shortened."""

    hide: Callable[[str], str] | None = None
    suffixes: tuple[str, ...] = (".ipynb",)

    def hiding(self, hide: Callable[[str], str], /) -> NotebookReader:
        """Return a reader that hides secrets before it shortens a text."""
        return replace(self, hide=hide)

    def read(self, path: Path, /) -> Document:
        """Return a part for every Markdown and code cell that says something, in order.

        A cell's location is the id it is stored with, else ``#<index>``. Cells that search or feed this memory are left
        out, so that a search does not find itself.

        Raises:
            InputError: the file is empty, not JSON, or not a notebook.
            OSError: the file cannot be read.
        """
        notebook, now = _load(path.read_bytes()), datetime.now(UTC)
        ids = _Ids(notebook)
        parts = []
        for cell in _placed(_cells(notebook), self.hide):
            location = ids.location(cell.index, cell.raw)
            if cell.source and not (cell.is_code and uses_memory(cell.source)):
                outputs = clean(outputs_text(cell.raw.get("outputs"), self.hide)) if cell.is_code else ""
                parts.append(
                    Part(
                        text=with_outputs(cell.source, outputs),
                        location=location,
                        language="" if cell.is_code else "markdown",
                        headings=tuple(heading.text for heading in cell.path),
                        above=cell.above,
                        metadata=_metadata(cell),
                        written=of_cell(_mapping(cell.raw.get("metadata")), now),
                    )
                )
        run = max((part.written for part in parts if part.written is not None), default=None)
        written = of_notebook(_mapping(notebook.get("metadata")), now) or run
        return Document(tuple(parts), _language(notebook), title=path.name, kind="cell", written=written)


def _load(data: bytes) -> dict[str, Any]:
    """Return the notebook as it is stored. Messages never quote it."""
    if not data.strip():
        raise InputError("The notebook is empty (0 cells, no JSON). Open and save it in Jupyter to make it a notebook.")
    try:
        notebook = json.loads(data.decode(json.detect_encoding(data), "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise InputError("The file is not JSON, so not a notebook. Restore it from a copy or a checkpoint.") from None
    if not isinstance(notebook, dict) or not ("cells" in notebook or "worksheets" in notebook):
        raise InputError("The file is JSON, but it has no cells, so it is not a notebook.")
    return notebook


def _version(notebook: Mapping[str, Any]) -> tuple[int, int]:
    major, minor = notebook.get("nbformat"), notebook.get("nbformat_minor")
    if not isinstance(major, int) or isinstance(major, bool):
        major = 4 if "cells" in notebook else 3
    return major, minor if isinstance(minor, int) else 0


def _cells(notebook: dict[str, Any]) -> list[Any]:
    """Return the cells in format 4."""
    # nbformat.reads would also validate, and log what it dislikes with the user's text.
    major, _ = _version(notebook)
    cells = notebook.get("cells") if major >= 4 else _upgraded(notebook, major)
    if major > 4 or not isinstance(cells, list):
        raise InputError(
            f"The notebook's cells cannot be read (format {major}; formats up to 4 are known). "
            "Save it in format 4 with Jupyter."
        )
    return cells


def _upgraded(notebook: dict[str, Any], major: int) -> list[Any]:
    """Return the cells of an old notebook in format 4."""
    import nbformat
    from nbformat.v4.convert import upgrade_cell

    try:
        old = nbformat.versions[major].to_notebook_json(notebook, minor=_version(notebook)[1])
        if major < 3:
            old = nbformat.convert(old, 3)
        return [upgrade_cell(cell) for sheet in old["worksheets"] for cell in sheet["cells"]]
    except Exception:  # noqa: BLE001  a converter may raise anything for a broken file, and quote its text
        raise InputError(
            f"The notebook is of the old format {major} and cannot be converted. Save it in format 4 with Jupyter."
        ) from None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _language(notebook: Mapping[str, Any]) -> str:
    """Return the kernel's language in lower case."""
    metadata = notebook.get("metadata")
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        info = metadata.get(section) if isinstance(metadata, Mapping) else None
        name = info.get(key) if isinstance(info, Mapping) else None
        if isinstance(name, str) and name.strip():
            return clean(name.strip().lower())
    return "python"


class _Ids:
    """Finds the location of each cell: the id in its notebook, if no cell before it has the same one."""

    def __init__(self, notebook: Mapping[str, Any]) -> None:
        self._stored = _version(notebook) >= (4, 5)
        self._seen: set[str] = set()

    def location(self, index: int, cell: Mapping[str, Any]) -> str:
        stored = cell.get("id")
        if not self._stored or not isinstance(stored, str) or not _ID.fullmatch(stored) or stored in self._seen:
            return f"#{index}"
        self._seen.add(stored)
        return stored


def _placed(cells: list[Any], hide: Callable[[str], str] | None) -> Iterator[_Cell]:
    """Yield the Markdown and code cells with the headings and the Markdown above them."""
    path: tuple[Heading, ...] = ()
    above = ""
    for index, raw in enumerate(cells):
        if not isinstance(raw, Mapping) or raw.get("cell_type") not in ("code", "markdown"):
            continue
        whole = without_data(clean(joined(raw.get("source"))))
        source = clip(_safe(whole, _SOURCE, hide), _SOURCE).strip("\n").rstrip()
        if raw["cell_type"] == "code":
            yield _Cell(index, raw, source, path, above)
            above = "" if source else above
            continue
        found = headings(source)
        opening = path
        for heading in _leading(source, found):
            opening = descend(opening, heading)
        yield _Cell(index, raw, source, opening, "")
        for heading in found:
            path = descend(path, heading)
        above = _safe(_without(source, found), _ABOVE, hide)[:_ABOVE].strip() if source else above


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


def _metadata(cell: _Cell) -> dict[str, Any]:
    count = cell.raw.get("execution_count")
    return {
        "cell_type": str(cell.raw["cell_type"]),
        "execution_count": count if isinstance(count, int) else None,
        "index": cell.index,
    }
