"""What a reader of one kind of file does: it takes a path and returns a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a document that becomes a memory of its own: a cell of a notebook, an entry of a list, or all of it.

    ``location`` finds the part again after the file was edited; it is empty where the file has just one part.
    ``line`` is the line of the file with which the text begins, counted from 1: a hit opens the file there. It is 0
    where the text is not that of lines of the file.
    ``headings`` lead down to the part, outermost first; the last one is added to its title. ``above`` is the text just
    above a cell. ``language`` is the document's where it is empty. ``metadata`` are JSON values. ``written`` is when
    the document says that this part was written, an aware time.
    ``pictures`` are those that the part shows: bytes or base64 of PNG, JPEG, GIF, WebP or SVG; None stands for one of
    any other format.
    """

    text: str
    location: str = ""
    line: int = 0
    language: str = ""
    headings: tuple[str, ...] = ()
    above: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    written: datetime | None = None
    pictures: tuple[bytes | str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """What a reader found in a file. A document without parts is remembered as empty.

    ``title`` is the document's name, its path below the indexed folder where it is empty. ``kind`` is the kind of the
    memories: ``"file"``, or ``"cell"`` for a notebook. ``written`` is an aware time: when the document says that it was
    written; it dates the parts that do not say it themselves.
    """

    parts: tuple[Part, ...]
    language: str = "text"
    title: str = ""
    tags: tuple[str, ...] = ()
    kind: str = "file"
    written: datetime | None = None


class Reader(Protocol):
    """Reads files of one kind."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Return the endings of the names of its files, in lower case and with the dot: ``(".md", ".markdown")``."""
        ...

    def read(self, path: Path, /) -> Document:
        """Return what a file holds.

        Raises:
            InputError: the file is not what its name says.
            OSError: the file cannot be read.
        """
        ...


@runtime_checkable
class Versioned(Protocol):
    """What a reader declares whose documents changed: files that an earlier version read are read anew.

    ``version`` counts from 1; a reader that declares none has 0.
    """

    @property
    def version(self) -> int: ...


@runtime_checkable
class Sampling(Protocol):
    """What a reader declares that reads a bounded part of a file of any size, such as its header and its last bytes.

    The setting ``max_file_mb`` does not apply to its files, and their fingerprint is that of their size, their first
    and their last ``sampled`` bytes.
    """

    @property
    def sampled(self) -> int: ...


@runtime_checkable
class NeedsExtra(Protocol):
    """What a reader declares that needs a package which only an extra installs."""

    @property
    def missing(self) -> str:
        """Return the extra that has to be installed before files can be read, nothing where it is."""
        ...


@runtime_checkable
class Unopened(Protocol):
    """What a reader declares whose files this process must not open, since it may have them open already.

    POSIX ends all locks of a process on a file when the process closes it once, also those of a database. The setting
    ``max_file_mb`` does not apply to these files, and their fingerprint is that of their size and time.
    """

    @property
    def unopened(self) -> bool: ...


@runtime_checkable
class Shortening(Protocol):
    """What a reader declares that shortens long texts: half of a secret could not be recognised afterwards."""

    def hiding(self, hide: Callable[[str], str], /) -> Reader:
        """Return this reader; the one returned calls ``hide``, which replaces secrets, before it shortens a text."""
        ...
