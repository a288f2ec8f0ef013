"""Errors as a connected program may read them: what happened and what to do, never a text from the store."""

from __future__ import annotations

from jupyter_memory.errors import (
    EmbedderError,
    InputError,
    Interrupted,
    JupyterMemoryError,
    NoStore,
    QueryError,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreTooNew,
    UnknownMemory,
)

NOT_HERE = "No memory that this client may see has {}: it may have been forgotten. Search again."
_PERSON = "Ask the person to run `jupyter-memory doctor`"
# The sentences of the library name paths of this machine, and may quote what was sent.
_SENTENCES: tuple[tuple[type[JupyterMemoryError], str], ...] = (
    (UnknownMemory, NOT_HERE.format("this id")),
    (QueryError, "The query cannot be searched: it is empty or too long, or a filter or time in it cannot be read."),
    (InputError, "This cannot be stored: the text is empty, or a value is not allowed."),
    (Interrupted, "The call was stopped. Call again if it is still needed."),
    (NoStore, "There is no memory yet. The person makes one with `jupyter-memory index FOLDER`."),
    (StoreLocked, "Another program is writing. Wait a few seconds, then call again; searching works meanwhile."),
    (StoreFull, "The disk is full, so nothing was stored. Tell the person."),
    (StoreReadOnly, "The store cannot be written here. Searching may still work; tell the person."),
    (StoreTooNew, "The store was written by a newer jupyter-memory. Ask the person to update this one."),
    (StoreDamaged, f"The store is damaged. {_PERSON}."),
    (StoreClosed, "The store was closed, or its file replaced. Call again."),
    (StoreError, f"The store cannot do this. {_PERSON}."),
    (EmbedderError, f"The model of the store cannot be used here. {_PERSON}."),
)
UNEXPECTED = f"Something went wrong in the memory; its log says where. {_PERSON}."


class ToolError(JupyterMemoryError):
    """A call that cannot be answered, with a sentence that a program can act on."""


def sentence(error: JupyterMemoryError) -> str:
    """Return what a program is told of an error of the library."""
    if isinstance(error, ToolError):
        return str(error)
    if isinstance(error, QueryError) and error.unquoted:
        return error.unquoted
    return next((said for kind, said in _SENTENCES if isinstance(error, kind)), UNEXPECTED)
