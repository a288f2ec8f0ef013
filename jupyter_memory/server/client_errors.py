"""Errors as a client may see them: an HTTP status and a sentence, never the user's own text."""

from __future__ import annotations

from tornado.web import HTTPError

from jupyter_memory.errors import (
    EmbedderError,
    InputError,
    Interrupted,
    JupyterMemoryError,
    MissingExtra,
    NoStore,
    QueryError,
    StoreError,
    StoreFull,
    StoreLocked,
    UnknownMemory,
    UnknownProfile,
)

# The class of an error, the HTTP status, and its sentence where the error's own may quote what was sent.
_ANSWERS: tuple[tuple[type[JupyterMemoryError], int, str], ...] = (
    (UnknownMemory, 404, "No memory has this id: it may have been forgotten. Search again."),
    (
        QueryError,
        400,
        "The query cannot be searched: it is empty, or a filter or time in it cannot be read. Filters are written like "
        'kind:cell, times like after:2026-03-31; put words with a colon in "quotation marks".',
    ),
    (InputError, 400, "A value cannot be stored: an empty text, or a memory that says the same already."),
    (UnknownProfile, 400, "There is no profile of this name. GET jupyter-memory/profiles lists them."),
    (Interrupted, 503, ""),
    (NoStore, 409, ""),
    (StoreLocked, 503, ""),
    (StoreFull, 507, ""),
    (StoreError, 409, ""),
    (EmbedderError, 409, ""),
    (MissingExtra, 409, ""),
)


class ClientError(HTTPError):
    """An error for a client: ``message``, a sentence without user text, and ``kind``, one word."""

    def __init__(self, status: int, message: str, kind: str) -> None:
        super().__init__(status)
        self.message = message
        self.kind = kind


def client_error(error: JupyterMemoryError) -> ClientError:
    """Return an error of the library as one for a client.

    The sentences about the store and the models hold paths and names of models, those about input and queries what
    was sent: those are replaced, unless the error says the same without it.
    """
    name = type(error).__name__
    unquoted = error.unquoted if isinstance(error, QueryError) else ""
    for kind, status, message in _ANSWERS:
        if isinstance(error, kind):
            return ClientError(status, unquoted or message or str(error), name)
    return ClientError(500, "Something went wrong in the memory.", name)


def check_count(number: int, agreed: int | None) -> None:
    """Refuse to forget several memories that a client did not name by id, unless it says how many they are.

    Raises:
        ClientError: 409, with the number.
    """
    if number > 1 and number != agreed:
        raise ClientError(
            409, f"This would forget {number} memories: to do it, send this number as count.", "CountDiffers"
        )


def invalid(field: str, what: str) -> ClientError:
    """Return the error for a body in which ``field`` cannot be used; ``what`` says what it must be."""
    return ClientError(400, f"{field}: {what}." if field else f"{what}.", "InvalidField")
