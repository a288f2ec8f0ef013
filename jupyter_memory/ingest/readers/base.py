"""What a reader of one kind of file does: it takes a path and returns a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from jupyter_memory.text.unicode import ENCODED, clean, without_data


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a document that becomes a memory of its own: a cell of a notebook, an entry of a list, or all of it."""

    text: str
    location: str = ""  # finds the part again after the file was edited; empty if the file has just one
    line: int = 0  # of the file, from 1, with which the text begins
    language: str = ""  # that of the document if it is empty
    headings: tuple[str, ...] = ()  # lead down to the part, outermost first; the last one is added to its title
    above: str = ""  # the text just above a cell
    metadata: Mapping[str, Any] = field(default_factory=dict)  # JSON values
    written: datetime | None = None  # aware
    # Bytes or base64 of PNG, JPEG, GIF, WebP or SVG; None stands for one of any other format.
    pictures: tuple[bytes | str | None, ...] = ()
    tags: tuple[str, ...] = ()  # beside those of the document


@dataclass(frozen=True, slots=True)
class Document:
    """What a reader found in a file. A document without parts is remembered as empty."""

    parts: tuple[Part, ...]
    language: str = "text"
    title: str = ""  # empty for the path below the indexed folder
    tags: tuple[str, ...] = ()
    kind: str = "file"  # of the memories; ``"cell"`` for a notebook
    written: datetime | None = None  # aware; dates the parts that do not say when they were written
    noted: datetime | None = None  # does so where no commit does


def storable(value: Any) -> Any:
    """Return a value, such as a document, in which all texts can be stored."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {storable(name): storable(inner) for name, inner in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: storable(getattr(value, one.name)) for one in fields(value)})
    return tuple(map(storable, value)) if isinstance(value, list | tuple) else value


class Reader(Protocol):
    """Reads files of one kind.

    It may also have ``hiding(hide)``, which returns a reader that calls ``hide`` before it shortens a text, and declare

    - ``version``, 0 if left out: files that an earlier version read are read anew;
    - ``sampled``: how many bytes it reads at both ends of a file of any size. The setting ``max_file_mb`` does not
      apply to such files, and their fingerprint is that of their size and of these bytes;
    - of our own readers, ``missing``: the extra to install before it can read anything;
    - and ``unopened``: this process must not open its files, since it may have them open already. POSIX ends all locks
      of a process on a file when the process closes it once, also those of a database. ``max_file_mb`` does not
      apply, and the fingerprint is that of size and time.
    """

    # The endings of the names of its files, in lower case and with the dot: ``(".md", ".markdown")``.
    @property
    def suffixes(self) -> tuple[str, ...]: ...
    # What a file holds; raises ``InputError`` if it is not what its name says, ``OSError`` if it cannot be read.
    def read(self, path: Path, /) -> Document: ...


# What was noted of the file that is being read, and what replaces secrets in it.
_READING: ContextVar[tuple[list[str], Callable[[str], str] | None]] = ContextVar("reading")


@contextmanager
def reading(hide: Callable[[str], str] | None) -> Iterator[list[str]]:
    """Yield the list of what is noted within the block, in which ``hide`` replaces secrets before texts are cut."""
    notes: list[str] = []
    token = _READING.set((notes, hide))
    try:
        yield notes
    finally:
        _READING.reset(token)


def hiding() -> Callable[[str], str] | None:
    """Return what replaces the secrets in a text of the file that is being read; None if they stay."""
    return _READING.get(([], None))[1]


def safe(text: str, length: int) -> str:
    """Return a text without its secrets if it has to be shortened to ``length``: half of one is not recognised."""
    hide = hiding() if len(text) > length else None
    return text if hide is None else hide(text)


def note(what: str) -> None:
    """Note what of the file that is being read is left out or uncertain, for the report; without a text of its user."""
    notes, _ = _READING.get(([], None))
    if what not in notes:
        notes.append(what)


def unencoded(text: str) -> str:
    """Return a text without the bytes of pictures and files in it; noted where they are more than a link."""
    kept = without_data(text)
    if kept.count(ENCODED) > text.count(ENCODED):
        note(f"{len(text) - len(kept):,} characters of encoded data, such as base64, are left out")
    return kept
