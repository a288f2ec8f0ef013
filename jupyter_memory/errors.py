"""Everything that can go wrong, each error with what to do about it.

JupyterMemoryError
├── QueryError, ClientConfigError, UnknownMemory, UnknownProfile, Interrupted, MissingExtra
├── InputError
│   └── UnknownStore
├── StoreError
│   └── NoStore, StoreDamaged, StoreTooNew, StoreReadOnly, StoreLocked, StoreFull, StoreOpen, StoreClosed
└── EmbedderError
    └── UnknownEmbedder, EmbedderUnavailable, FetchError, EmbeddingMismatch
"""

from __future__ import annotations

from collections.abc import Iterable


class JupyterMemoryError(Exception):
    """The root of every error that this package raises on purpose."""


class QueryError(JupyterMemoryError, ValueError):
    """There is nothing to search for, or a filter cannot be read."""

    def __init__(self, message: str = "", *, unquoted: str = "") -> None:
        super().__init__(message or unquoted)
        self.unquoted = unquoted  # the same without a word of what was typed, for where that must not stand, or empty


class ClientConfigError(JupyterMemoryError):
    """The configuration of an agent's client cannot be read, or cannot be changed safely."""


class InputError(JupyterMemoryError, ValueError):
    """A value that cannot be stored or used: empty text, unknown tier, a path that is not there."""


class UnknownStore(InputError):
    """No store on the list has this name."""


class UnknownMemory(JupyterMemoryError, KeyError):
    """No memory has this id."""

    def __init__(self, memory_id: str) -> None:
        super().__init__(f"No memory has the id {memory_id!r}. A search shows ids, and so does a list of memories.")

    def __str__(self) -> str:
        # KeyError would show the repr of its argument.
        return str(self.args[0])


class UnknownProfile(JupyterMemoryError, ValueError):
    """No profile has this name."""


class Interrupted(JupyterMemoryError):
    """Another thread stopped a search."""


class StoreError(JupyterMemoryError):
    """The store cannot do what was asked."""


class NoStore(StoreError):
    """There is no store at the path that was named."""


class StoreDamaged(StoreError):
    """The file is not a store, or SQLite finds it broken."""


class StoreTooNew(StoreError):
    """The store was written by a newer major version of jupyter-memory."""


class StoreReadOnly(StoreError):
    """The disk or the file cannot be written."""


class StoreLocked(StoreError):
    """Another process kept the write lock for too long."""


class StoreFull(StoreError):
    """There is no room left on the disk."""


class StoreOpen(StoreError):
    """The store has to be closed first."""


class StoreClosed(StoreError):
    """The store was closed."""


class EmbedderError(JupyterMemoryError):
    """Text cannot be turned into vectors."""


class UnknownEmbedder(EmbedderError, ValueError):
    """No embedder has this name."""


class EmbedderUnavailable(EmbedderError):
    """The model cannot run here: the platform, a package or a file is missing."""


class FetchError(EmbedderError):
    """A model's files could not be fetched, or not put in place; what was in use before still is."""


class EmbeddingMismatch(EmbedderError):
    """The store was written with another model than the one it is opened with."""


class MissingExtra(JupyterMemoryError, ImportError):
    """An optional package is needed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra {extra!r}. Install it with: pip install 'jupyter-memory[{extra}]'")


def guess(word: object, known: Iterable[str]) -> str:
    """Return a sentence about the known word that a misspelt one may mean, behind a space; empty where none is like it.

    >>> guess("nomik", ["static", "nomic"])
    " Did you mean 'nomic'?"
    """
    # Imported late: few programs make such a mistake.
    from difflib import get_close_matches

    near = get_close_matches(str(word), list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
