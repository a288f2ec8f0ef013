"""What a client may see, and what it is told if something goes wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jupyter_memory import errors
from jupyter_memory.types import Filters


@dataclass(frozen=True, slots=True)
class Bound:
    """The part of a store that a program may see, and what it may do there.

    Without a ``space`` and ``paths`` it sees the whole store. What was run, the kind ``history``, is left out unless it
    is allowed. ``writing`` lets it store notes, and forget its own; ``forgetting_any`` lets it forget all that it sees.
    ``stores`` names the stores of the list that it sees instead of the person's own.
    """

    space: str = ""
    paths: tuple[str, ...] = ()
    history: bool = False
    writing: bool = True
    forgetting_any: bool = False
    stores: tuple[str, ...] = ()

    def filters(self, client: str) -> Filters:
        """Return what every memory must match that a client sees; the notes that it stored are among them."""
        return Filters(
            space=(self.space,) if self.space else (),
            path=(*self.paths, source_of(client)) if self.paths else (),
            not_kind=() if self.history else ("history",),
        )


def client_name(given: str | None) -> str:
    """Return the name that a program gives itself as a plain word.

    >>> client_name("Claude Code"), client_name("../../etc"), client_name(None)
    ('claude-code', 'etc', 'unnamed')
    """
    name = re.sub(r"[^a-z0-9._-]+", "-", (given or "").lower()).strip("-._")
    return name[:40].rstrip("-._") or "unnamed"


def source_of(client: str) -> str:
    """Return the source of the notes that a client stores, by which they are known as its own."""
    return f"mcp://{client}"


NOT_HERE = "No memory that this client may see has {}: it may have been forgotten. Search again."
_PERSON = "Ask the person to run `jupyter-memory doctor`"
# The sentences of the library name paths of this machine, and may quote what was sent.
_SENTENCES: tuple[tuple[type[errors.JupyterMemoryError], str], ...] = (
    (errors.UnknownMemory, NOT_HERE.format("this id")),
    (
        errors.QueryError,
        "The query cannot be searched: it is empty or too long, or a filter or time in it cannot be read.",
    ),
    (errors.InputError, "This cannot be stored: the text is empty, or a value is not allowed."),
    (errors.Interrupted, "The call was stopped. Call again if it is still needed."),
    (errors.NoStore, "There is no memory yet. The person makes one with `jupyter-memory index FOLDER`."),
    (errors.StoreLocked, "Another program is writing. Wait a few seconds, then call again; searching works meanwhile."),
    (errors.StoreFull, "The disk is full, so nothing was stored. Tell the person."),
    (errors.StoreReadOnly, "The store cannot be written here. Searching may still work; tell the person."),
    (errors.StoreTooNew, "The store was written by a newer jupyter-memory. Ask the person to update this one."),
    (errors.StoreDamaged, f"The store is damaged. {_PERSON}."),
    (errors.StoreClosed, "The store was closed, or its file replaced. Call again."),
    (errors.StoreError, f"The store cannot do this. {_PERSON}."),
    (errors.EmbedderError, f"The model of the store cannot be used here. {_PERSON}."),
)
UNEXPECTED = f"Something went wrong in the memory; its log says where. {_PERSON}."


class ToolError(errors.JupyterMemoryError):
    """A call that cannot be answered, with a sentence that a program can act on."""


def sentence(error: Exception) -> str:
    """Return what a program is shown of an error."""
    if isinstance(error, ToolError):
        return str(error)
    if isinstance(error, errors.QueryError) and error.unquoted:
        return error.unquoted
    return next((said for kind, said in _SENTENCES if isinstance(error, kind)), UNEXPECTED)
