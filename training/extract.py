"""Pairs from the unpacked packages, package by package."""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from training.dictionaries import dictd_pairs, manual_pairs, wordnet_pairs
from training.documents import document_pairs
from training.markup import Block, html_blocks, markdown_blocks, notebook_blocks, rst_blocks
from training.pairs import Pair, capped
from training.python_code import python_pairs

# The books behind judged sets, and the text of LoCoMo: a file that quotes them is left out whole.
_BANNED = re.compile(
    r"VanderPlas|Data ?Science ?Handbook|PDSH|handson-ml|Hands-On Machine Learning with Scikit|\blocomo\b",
    re.IGNORECASE,
)
# Copies of other people's libraries inside a package.
_VENDORED = re.compile(r"(?:^|/)_?(?:vendor(?:ed)?|third_?party|extern(?:al|s)?|packages)/", re.IGNORECASE)
_LONGEST_FILE = 3_000_000
# Of the largest packages, so many files: their caps are reached long before the last.
_MOST_FILES = 1_200
_READERS: dict[str, Callable[[str], Iterator[Block]]] = {
    ".ipynb": notebook_blocks,
    ".rst": rst_blocks,
    ".md": markdown_blocks,
    ".html": html_blocks,
}


def wheel_pairs(path: Path) -> Iterator[Pair]:
    """Yield the pairs of the Python files of a wheel, up to the caps."""
    with zipfile.ZipFile(path) as wheel:
        names = [name for name in wheel.namelist() if name.endswith(".py") and not _VENDORED.search(name)]
        yield from _named(path.name.split("-")[0], (_file_pairs(name, wheel.read(name)) for name in _spread(names)))


def folder_pairs(folder: Path) -> Iterator[Pair]:
    """Yield the pairs of an unpacked Debian package: documents, dictionaries, manual pages."""
    # A page and its source say the same: the source is kept.
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    sourced = any("_sources" in path.parts for path in files)
    kept = [path for path in files if not (sourced and path.suffix == ".html")]
    by_name = {str(path.relative_to(folder)): path for path in kept}
    yield from _named(folder.name, (_path_pairs(by_name[name]) for name in _spread(list(by_name))))


def _named(source: str, files: Iterable[Iterable[Pair]]) -> Iterator[Pair]:
    yield from capped(replace(pair, source=source) for file in files for pair in file)


def _spread(names: list[str]) -> list[str]:
    """Return names in an order in which a cap does not favour the first folders, the same on every machine."""
    return sorted(names, key=lambda name: zlib.crc32(name.encode()))[:_MOST_FILES]


def _path_pairs(path: Path) -> Iterator[Pair]:
    if path.name == "data.noun":
        yield from wordnet_pairs(path.parent)
    elif path.name.endswith(".dict.dz"):
        yield from dictd_pairs(path)
    else:
        yield from _file_pairs(str(path), path.read_bytes())


def _file_pairs(name: str, data: bytes) -> Iterator[Pair]:
    if name.endswith(".gz"):
        name, data = name.removesuffix(".gz"), gzip.decompress(data)
    if len(data) > _LONGEST_FILE:
        return
    text = data.decode("utf-8", errors="replace")
    if _BANNED.search(text):
        return
    if name.endswith(".py"):
        yield from python_pairs(text)
    elif re.search(r"/man\d/.+\.\d\w*$", name):
        yield from manual_pairs(text)
    else:
        read = _READERS.get(Path(name.removesuffix(".txt")).suffix if name.endswith(".rst.txt") else Path(name).suffix)
        yield from document_pairs(read(text)) if read else ()
