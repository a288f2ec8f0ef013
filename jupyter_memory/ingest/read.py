"""Reads a file of a known kind into drafts, secrets taken out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.documents import read_document
from jupyter_memory.ingest.notebooks import read_notebook
from jupyter_memory.ingest.redact import redact
from jupyter_memory.types import Draft


def read_file(path: Path, *, root: Path, redacting: bool = True) -> list[Draft]:
    """Return what a file has to remember: a draft for each cell of a notebook, one for any other document.

    A document's title is its path below ``root``, a notebook's its file name with the nearest heading. They happened
    when the file was last changed. ``metadata["redacted"]`` counts the secrets taken out of the text; title and
    context are freed of them too.

    Raises:
        InputError: the file cannot be read, or is not what its name says.
    """
    try:
        when = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        if path.suffix.lower() == ".ipynb":
            drafts = read_notebook(path, title=path.name, when=when)
        else:
            drafts = read_document(path, title=_title(path, root), when=when)
    except OSError as error:
        raise InputError(f"The file cannot be read: {error.strerror or type(error).__name__}.") from None
    return [_redacted(draft) for draft in drafts] if redacting else drafts


def _title(path: Path, root: Path) -> str:
    if path == root or not path.is_relative_to(root):
        return path.name
    return path.relative_to(root).as_posix()


def _redacted(draft: Draft) -> Draft:
    text, count = redact(draft.text)
    # What title and context say stands in some text too, and is counted there.
    title, context = redact(draft.title)[0], redact(draft.context)[0]
    metadata = {**draft.metadata, "redacted": count} if count else draft.metadata
    return replace(draft, text=text, title=title, context=context, metadata=metadata)
