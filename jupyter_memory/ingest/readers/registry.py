"""The readers by the files they read: our own, and those that installed packages register.

Our own readers keep their suffixes, but for those of plain text. Of two packages that read the same files, the one
whose entry point comes first in the alphabet does."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path, PurePath

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document, Reader, hiding, storable
from jupyter_memory.ingest.readers.conversations import chat
from jupyter_memory.ingest.readers.data_files import COMPRESSED, DATA_FILES
from jupyter_memory.ingest.readers.documents import DOCUMENTS
from jupyter_memory.ingest.readers.notebook import NotebookReader
from jupyter_memory.ingest.readers.text import (
    HtmlReader,
    TextReader,
    canvas,
    literate,
    markdown,
    org,
    plain,
    polyglot,
    script,
)
from jupyter_memory.types import KINDS

# The entry points of packages that read further kinds of files: a name, and a class or function that is called without
# arguments and returns the reader.
GROUP = "jupyter_memory.readers"

# A further format of plain text or code is one more row of `plain.toml`, and a pattern in `text/outlines.toml` if it
# has blocks. Files that are known by their whole names count as files with the first ending of their kind.
_TABLE = tomllib.loads(Path(__file__).with_name("plain.toml").read_text(encoding="utf-8"))
_ROWS = (*_TABLE["own"], *_TABLE["kind"])
_NAMES: dict[str, str] = {name: row["suffixes"][0] for row in _ROWS for name in row.get("names", ())}
_OF_TEXT = [
    TextReader(
        tuple(row["suffixes"]),
        partial(script, language=row["language"], comment=row["comment"])
        if "comment" in row
        else partial(plain, language=row["language"]),
        row.get("version", 0),
    )
    for row in _ROWS
]
_PLAIN: dict[str, Reader] = {suffix: one for one in _OF_TEXT[len(_TABLE["own"]) :] for suffix in one.suffixes}

BUILT_IN: tuple[Reader, ...] = (
    NotebookReader(),
    TextReader((".md", ".markdown"), markdown, 1),
    TextReader((".qmd", ".rmd"), literate),
    TextReader((".org",), org),
    TextReader((".dib",), polyglot),
    TextReader((".canvas", ".excalidraw"), canvas),
    TextReader((".chat",), chat),
    HtmlReader(),
    *_OF_TEXT,
    *DATA_FILES,
    *DOCUMENTS,
)

_OWN = frozenset(suffix for reader in BUILT_IN for suffix in reader.suffixes)


@dataclass(frozen=True, slots=True)
class Readers:
    """All readers, by suffix, our own first."""

    by_suffix: Mapping[str, Reader]
    problems: tuple[tuple[str, str], ...] = ()  # readers that cannot be used, each with the reason
    # What to do before files of a suffix can be read: install an extra of this package, or save them otherwise.
    extras: Mapping[str, str] = field(default_factory=dict)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Return the endings of all files that are read, in lower case."""
        return tuple(self.by_suffix)

    def traits_of(self, path: Path | str) -> tuple[int, int, bool]:
        """Return the version of a file's reader, how many bytes at both ends it reads, whether files stay closed."""
        return _traits(self.by_suffix.get(suffix_of(path)))

    def reader_of(self, path: Path) -> Reader:
        """Return the reader of a file; raises InputError if there is none."""
        try:
            return self.by_suffix[suffix_of(path)]
        except KeyError:
            raise InputError(f"There is no reader for {path.suffix or 'files without a suffix'}.") from None


def _traits(reader: Reader | None) -> tuple[int, int, bool]:
    return getattr(reader, "version", 0), getattr(reader, "sampled", 0), getattr(reader, "unopened", False)


def suffix_of(path: Path | str) -> str:
    """Return the ending of a file's name, by which its reader is found: in lower case and with the dot.

    A file that is known by its name has the ending of its kind.

    >>> suffix_of("Report.MD"), suffix_of("orders.csv.gz"), suffix_of("access.log.1.gz"), suffix_of("Dockerfile.gpu")
    ('.md', '.csv.gz', '.gz', '.dockerfile')
    """
    suffix = PurePath(path).suffix.lower()
    name, _, rest = PurePath(path).name.lower().partition(".")
    if name in _NAMES and f".{rest}" not in _OWN and (not rest or rest.replace("-", "").isalnum()):
        return _NAMES[name]
    if suffix == COMPRESSED and (inner := PurePath(PurePath(path).stem).suffix.lower())[1:].isalpha():
        return inner + suffix
    return suffix


@dataclass(frozen=True, slots=True)
class PluginReader:
    """The reader of an installed package. Whatever goes wrong in it concerns one file, and the report names it."""

    name: str
    suffixes: tuple[str, ...]
    reader: Reader
    version: int = 0
    sampled: int = 0

    def read(self, path: Path, /) -> Document:
        try:
            hide, its_hiding = hiding(), getattr(self.reader, "hiding", None)
            reader: Reader = self.reader if hide is None or its_hiding is None else its_hiding(hide)
            found: Document = storable(reader.read(path))
            parts = tuple(
                replace(part, metadata=json.loads(json.dumps(part.metadata, allow_nan=False)))
                for part in found.parts
                if part.text.strip()
            )
            return replace(found, parts=parts, kind=found.kind if found.kind in KINDS else "file")
        except (InputError, OSError):
            raise
        except Exception as error:
            # Another package's code raises what it likes; its error stays the cause, for those who look into it.
            raise InputError(f"The {self.name} failed: {str(error) or type(error).__name__}") from error


def known_readers() -> Readers:
    """Return the readers of this program, found once. A package that was installed since needs a new program."""
    return _found(tuple(sys.path))


@lru_cache(maxsize=1)
def _found(path: tuple[str, ...]) -> Readers:
    # Imported late: it reads the metadata of every installed package.
    from importlib.metadata import entry_points

    extras = {suffix: extra for one in BUILT_IN if (extra := getattr(one, "missing", "")) for suffix in one.suffixes}
    by_suffix = {suffix: reader for reader in BUILT_IN for suffix in reader.suffixes if suffix not in extras}
    problems = []
    for point in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        name = f"reader {point.name}" + (f" of {point.dist.name}" if point.dist is not None else "")
        try:
            reader: Reader = point.load()()
            suffixes = reader.suffixes
            if isinstance(suffixes, str) or not suffixes or not callable(reader.read):
                raise TypeError("a reader has a tuple of suffixes and a method read(path)")
            for one in suffixes:
                if not one.startswith(".") or one.count(".") > 1 or len(one) < 2 or one != one.lower():
                    raise ValueError(f"{one!r} is no suffix; one is a dot and an ending in lower case, such as '.log'")
            version, sampled, _ = _traits(reader)
        except Exception as error:  # noqa: BLE001  another package's code raises what it likes
            problems.append((name, f"it cannot be used: {str(error) or type(error).__name__}"))
            continue
        free = [suffix for suffix in suffixes if by_suffix.get(suffix) is _PLAIN.get(suffix)]
        added = PluginReader(name, tuple(suffixes), reader, version, sampled)
        by_suffix.update(dict.fromkeys(free, added))
        if not free:
            problems.append((name, f"another reader reads {', '.join(suffixes)} already"))
    to_do = {suffix: f"save as {other}" for suffix, other in _TABLE["instead"].items()}
    to_do |= {suffix: f"pip install 'jupyter-memory[{extra}]'" for suffix, extra in extras.items()}
    left = {suffix: how for suffix, how in to_do.items() if suffix not in by_suffix}
    return Readers(by_suffix, tuple(problems), left)


def digest(path: Path) -> str:
    """Return the fingerprint of a file, of its content or of what stands for it, with the version of its reader."""
    _, sampled, unopened = known_readers().traits_of(path)
    if unopened:
        status = path.stat()
        content = b"%d\0%d" % (status.st_size, status.st_mtime_ns)
    elif sampled:
        with path.open("rb") as opened:
            size = opened.seek(0, os.SEEK_END)
            opened.seek(0)
            first = opened.read(sampled)
            opened.seek(max(len(first), size - sampled))
            content = b"%d\0" % size + first + opened.read(sampled)
    else:
        content = path.read_bytes()
    return blake2b(content, digest_size=16).hexdigest() + version_mark(path)


def stamp(path: Path) -> tuple[int, int]:
    """Return the time of a file's last change in nanoseconds, and its size."""
    status = path.stat()
    # The latest time that SQLite can hold: some tools date files into other millennia.
    return min(status.st_mtime_ns, 2**63 - 1), status.st_size


def version_mark(path: Path | str) -> str:
    """Return how the fingerprint of a file ends that the present version of its reader has read."""
    version, _, _ = known_readers().traits_of(path)
    return f".{version}" if version else ""
