"""Reads a file of a known kind into drafts, free of secrets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.dates.written import in_name
from jupyter_memory.ingest.pictures.reading import PictureReader
from jupyter_memory.ingest.readers.base import Document, Shortening
from jupyter_memory.ingest.readers.outputs import CLIPPED
from jupyter_memory.ingest.readers.registry import known_readers
from jupyter_memory.ingest.redaction.redactor import MARK, redact, redact_values, suspicious
from jupyter_memory.text.identifiers import LONGEST_NAME, MOST_OF_FILE, short, short_path
from jupyter_memory.text.markdown import LINE, context, day
from jupyter_memory.types import Draft
from jupyter_memory.types.memory import Thumbnail


def read_file(
    path: Path,
    *,
    root: Path,
    redacting: bool = True,
    committed: datetime | None = None,
    pictures: Mapping[str, Thumbnail] | None = None,
) -> list[Draft]:
    """Return what a file has to remember: a draft for each part of its document.

    A document without a title has its path below ``root`` as title. Its date is the one that it states itself or has in
    its name, else when it was ``committed``, else when the file was last changed.
    ``metadata["redacted"]`` counts the secrets hidden in the text; they are hidden in title, context and tags too.
    With ``pictures``, thumbnails are made of those that the parts show, but of those known in it by their origin.

    Raises:
        InputError: the file cannot be read, or is not what its name says.
    """
    reader = known_readers().reader_of(path)
    try:
        when = committed or datetime.fromtimestamp(path.stat().st_mtime, UTC)
        if redacting and isinstance(reader, Shortening):
            reader = reader.hiding(_hidden)
        document = reader.read(path)
    except OSError as error:
        raise InputError(f"The file cannot be read: {error.strerror or type(error).__name__}.") from None
    stated = document.written or in_name(path.name, datetime.now(UTC))
    title = document.title or short_path(_title(path, root))
    drafts = drafts_of(document, path, title=title, stated=stated, when=when, hide=_hidden if redacting else None)
    if pictures is not None:
        reading = PictureReader(pictures)
        drafts = [
            replace(draft, pictures=reading.read(part.pictures)) if part.pictures else draft
            for draft, part in zip(drafts, document.parts, strict=True)
        ]
    if not redacting:
        return drafts
    texts = suspicious([draft.text for draft in drafts])
    # Checked apart from the texts: a character beyond ASCII, such as a title's dash, makes a whole string larger.
    others = suspicious(["\n".join((draft.title, draft.context, *draft.tags)) for draft in drafts])
    return [
        _redacted(draft, hints, bool(other)) if hints or other else draft
        for draft, hints, other in zip(drafts, texts, others, strict=True)
    ]


def drafts_of(
    document: Document,
    path: Path,
    *,
    title: str,
    when: datetime,
    stated: datetime | None = None,
    hide: Callable[[str], str] | None = None,
) -> list[Draft]:
    """Return a draft for each part of a document that is called ``title``.

    A part has the time that it says itself, else the one ``stated`` by the document, else ``when`` the file changed.

    Names that are too long to be stored with every chunk are shortened; ``hide`` takes secrets out of them before.
    """

    # Many parts have the same headings above them: each is shortened once.
    @cache
    def named(name: str) -> str:
        return short(hide(name) if hide is not None and len(name) > LONGEST_NAME else name)

    on = cache(day)
    source, title = str(path.absolute()), named(title)
    tags = tuple(dict.fromkeys(map(named, document.tags[:MOST_OF_FILE])))
    # Noted apart from tags that a person adds, which stay when the file changes.
    of_file = {"file_tags": list(tags)} if tags else {}
    return [
        Draft(
            text=part.text,
            title=f"{title} – {named(part.headings[-1])}" if part.headings else title,
            kind=document.kind,
            tier="file",
            source=source,
            location=part.location,
            lang=named(part.language or document.language),
            tags=tags,
            event_at=part.written or stated or when,
            dated_by_file=not (part.written or stated),
            context=context(title, list(map(named, part.headings)), part.above, on(part.written or stated or when)),
            metadata={**part.metadata, **({LINE: part.line} if part.line else {}), **of_file},
        )
        for part in document.parts
    ]


def _title(path: Path, root: Path) -> str:
    if path == root or not path.is_relative_to(root):
        return path.name
    return path.relative_to(root).as_posix()


def _hidden(text: str) -> str:
    return redact(text)[0]


def _redacted(draft: Draft, hints: Collection[str], around: bool) -> Draft:
    """Return a draft without secrets; ``hints`` is what ``suspicious`` found in its text, ``around`` elsewhere."""
    text, count = redact(draft.text, hints)
    if CLIPPED in draft.text:
        # Secrets that were hidden before clipping are counted by their marks.
        count += draft.text.count(MARK)
    # Secrets in title, context and tags are in some text too, and are counted there.
    title, context, tags = draft.title, draft.context, draft.tags
    if around:
        title, context = redact(title)[0], redact(context)[0]
        tags = tuple(dict.fromkeys(redact(tag)[0] for tag in tags))
    metadata = redact_values(draft.metadata) if draft.tags else draft.metadata
    if count:
        metadata = {**metadata, "redacted": count}
    return replace(draft, text=text, title=title, context=context, tags=tags, metadata=metadata)
