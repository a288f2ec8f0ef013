"""Whether a text is the other half of a notebook: Jupytext keeps both the same, and a search need not find both."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

NOTEBOOK = ".ipynb"
# What Jupytext pairs with notebooks, and how much of a file its header is in.
_PAIRED = frozenset(
    {".py", ".md", ".markdown", ".r", ".rmd", ".qmd", ".jl", ".js", ".ts", ".scala", ".sh", ".sql", ".m"}
)
_HEAD = 4_000
_JUPYTEXT = re.compile(r"^(?:#|//|--|%)?[ \t]*jupytext:[ \t]*$", re.MULTILINE)
_FORMATS = re.compile(r"^(?:#|//|--|%)?[ \t]+formats:[ \t]*([^\n]+)$", re.MULTILINE)
# A notebook that is larger is not read to see whether it names its half.
_LARGEST = 20_000_000


def may_be_paired(name: str) -> bool:
    """Return whether a file of this name can be the half of a notebook."""
    return Path(name).suffix.lower() in _PAIRED


def without_halves(files: Sequence[Path]) -> list[Path]:
    """Return the wanted files of a folder but those that hold the same as a notebook among them."""
    notebooks = {path.stem for path in files if path.suffix == NOTEBOOK}
    return [path for path in files if not (path.stem in notebooks and may_be_paired(path.name) and is_half(path))]


def is_half(path: Path) -> bool:
    """Return whether a notebook beside a text holds the same, as the text or the notebook says in its metadata."""
    notebook = path.with_suffix(NOTEBOOK)
    try:
        if not notebook.is_file():
            return False
        with path.open("rb") as opened:
            head = opened.read(_HEAD).decode("utf-8", "replace").replace("\r\n", "\n")
        if not _JUPYTEXT.search(head):
            return False
        named = _FORMATS.search(head)
        formats = named[1] if named else _formats_of(notebook)
    except OSError:
        return False
    # A folder before an ending, as in `notebooks//ipynb`, means another notebook than the one beside it.
    endings = {one.strip(" \"'").partition(":")[0].lower() for one in formats.split(",")}
    return "ipynb" in endings and bool({path.suffix[1:].lower(), "auto"} & endings)


def _formats_of(notebook: Path) -> str:
    """Return the formats that a notebook names in its metadata, nothing where it names none."""
    if notebook.stat().st_size > _LARGEST:
        return ""
    try:
        found = json.loads(notebook.read_bytes())["metadata"]["jupytext"]["formats"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""
