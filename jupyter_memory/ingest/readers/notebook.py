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
from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.cells import Cell, placed
from jupyter_memory.ingest.readers.isolated.drawing import can_draw
from jupyter_memory.ingest.readers.outputs import joined, outputs_text, pictures
from jupyter_memory.text.code import PYTHON, cell_language, kernel_language, known_language, look
from jupyter_memory.text.markdown import with_outputs
from jupyter_memory.text.unicode import clean

# What the text of an output has in place of a plot: a picture, or what plotly, altair and bokeh show.
_PLOT = re.compile(r"\[(?:image/|application/vnd\.(?:plotly|vega|bokehjs))")

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class NotebookReader:
    """Reads notebooks, a part for each cell. ``hide`` replaces secrets in texts that are going to be shortened."""

    hide: Callable[[str], str] | None = None
    suffixes: tuple[str, ...] = (".ipynb",)

    def hiding(self, hide: Callable[[str], str], /) -> NotebookReader:
        """Return a reader that hides secrets before it shortens a text."""
        return replace(self, hide=hide)

    @property
    def version(self) -> int:
        """Return the version of what is read: 1 where SVG can be drawn, so that notebooks are read again then."""
        return 1 if can_draw() else 0

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
        raw, kernel = _cells(notebook), _language(notebook)
        parts = []
        for one in placed(_known(raw), self.hide):
            cell, stored = one.cell, raw[one.cell.index]
            location = ids.location(cell.index, stored)
            if one.is_wanted:
                shown = pictures(stored)
                outputs = clean(outputs_text(stored.get("outputs"), self.hide)) if cell.is_code else ""
                if _PLOT.search(outputs) and (seen := look(one.source)):
                    outputs = f"{outputs}\n[figure: {', '.join(seen)}]"
                parts.append(
                    Part(
                        text=with_outputs(one.source, outputs),
                        location=location,
                        language=cell_language(kernel, one.source) if cell.is_code else "markdown",
                        headings=tuple(heading.text for heading in one.path),
                        above=one.above,
                        metadata=_metadata(cell.index, stored),
                        written=of_cell(_mapping(stored.get("metadata")), now),
                        pictures=shown,
                    )
                )
        run = max((part.written for part in parts if part.written is not None), default=None)
        written = of_notebook(_mapping(notebook.get("metadata")), now) or run
        return Document(tuple(parts), kernel, title=path.name, kind="cell", written=written)


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
    for section, key in (("language_info", "name"), ("kernelspec", "language"), ("kernelspec", "name")):
        info = metadata.get(section) if isinstance(metadata, Mapping) else None
        name = info.get(key) if isinstance(info, Mapping) else None
        if isinstance(name, str) and name.strip():
            return clean(known_language(name) if key != "name" or section == "language_info" else kernel_language(name))
    return PYTHON


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


def _known(cells: list[Any]) -> Iterator[Cell]:
    """Yield the Markdown and code cells."""
    for index, raw in enumerate(cells):
        if isinstance(raw, Mapping) and raw.get("cell_type") in ("code", "markdown"):
            yield Cell(index, raw["cell_type"] == "code", joined(raw.get("source")))


def _metadata(index: int, raw: Mapping[str, Any]) -> dict[str, Any]:
    count = raw.get("execution_count")
    return {
        "cell_type": str(raw["cell_type"]),
        "execution_count": count if isinstance(count, int) else None,
        "index": index,
    }
