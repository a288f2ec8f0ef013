"""Memories, runs, files, folders and feedback as JSON records, and back."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, get_args

from jupyter_memory.storage.writing import NotedFile, NotedFolder, Stored
from jupyter_memory.store.transfer.fields import Fields
from jupyter_memory.types import KINDS, SEVERITIES, TIERS, Chunk, Memory, Outcome, Run, RunError
from jupyter_memory.types.memory import LARGEST_THUMBNAIL, Thumbnail
from jupyter_memory.types.protocols import FileState
from jupyter_memory.types.report import Feedback

_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
# How the pictures begin that are kept, by their type; a browser shows them.
_IMAGES = {"image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/png": re.compile(rb"\x89PNG\r\n\x1a\n")}
_ORIGIN = re.compile(r"[0-9a-f]{0,64}")
_TEXTS = ("kind", "space", "source", "location", "lang", "title", "text")
_MAYBE_TEXTS = ("severity", "domain", "session")
_TIMES = ("event_at", "indexed_at")
_MAYBE_TIMES = ("valid_from", "valid_until")


def of_memory(stored: Stored) -> dict[str, Any]:
    """Return the record of a memory, without its runs."""
    memory = stored.memory
    times = {name: _iso(getattr(memory, name)) for name in (*_TIMES, *_MAYBE_TIMES)}
    return {
        "id": memory.id,
        **{name: getattr(memory, name) for name in (*_TEXTS, *_MAYBE_TEXTS)},
        "tier": stored.tier,
        "pinned": memory.pinned,
        "tags": list(memory.tags),
        **times,
        "accessed": memory.accessed,
        "metadata": dict(memory.metadata),
        "chunks": [[chunk.start, chunk.end, chunk.line, chunk.context] for chunk in stored.chunks],
    }


def to_memory(record: Fields) -> Stored:
    """Return the memory of a record.

    Raises:
        InputError: a field is missing or wrong.
    """
    text = record.text("text")
    for name, known in (("kind", KINDS), ("tier", TIERS), ("severity", (*SEVERITIES, None))):
        if record.values.get(name) not in known:
            raise record.wrong(name, f"one of {', '.join(map(str, known))}")
    if not text.strip():
        raise record.wrong("text", "more than blanks")
    memory = Memory(
        id=_id(record, "id"),
        text=text,
        title=record.text("title"),
        kind=record.text("kind"),
        tier=record.text("tier"),
        pinned=record.flag("pinned"),
        space=record.text("space"),
        source=record.text("source"),
        location=record.text("location"),
        lang=record.text("lang"),
        tags=record.texts("tags"),
        severity=record.maybe_text("severity"),
        domain=record.maybe_text("domain"),
        event_at=record.moment("event_at"),
        indexed_at=record.moment("indexed_at"),
        valid_from=record.maybe_moment("valid_from"),
        valid_until=record.maybe_moment("valid_until"),
        session=record.maybe_text("session"),
        content_hash="",
        metadata=record.mapping("metadata"),
        accessed=record.integer("accessed"),
    )
    return Stored(memory, memory.tier, _chunks(record, len(text)))


def of_run(run: Run) -> dict[str, Any]:
    """Return the record of a run; its text is that of its memory."""
    error = run.error
    return {
        "memory": run.memory_id,
        "session": run.session,
        "number": run.number,
        "started": _iso(run.started),
        "seconds": run.seconds,
        "outcome": run.outcome,
        "error": None if error is None else [error.name, error.message, error.traceback],
        "notebook": run.notebook,
        "cell_id": run.cell_id,
        "language": run.language,
        "environment": run.environment,
    }


def to_run(record: Fields) -> Run:
    """Return the run of a record, without its text.

    Raises:
        InputError: a field is missing or wrong.
    """
    outcome = next((one for one in get_args(Outcome) if one == record.text("outcome")), None)
    if outcome is None:
        raise record.wrong("outcome", f"one of {', '.join(get_args(Outcome))}")
    error = record.texts("error") if record.values.get("error") is not None else ()
    if error and len(error) != 3:
        raise record.wrong("error", "a list of name, message and traceback")
    return Run(
        source="",
        started=record.moment("started"),
        session=record.text("session"),
        number=record.integer("number", least=-(2**63)),
        outcome=outcome,
        seconds=record.maybe_number("seconds"),
        error=RunError(*error) if error else None,
        notebook=record.text("notebook"),
        cell_id=record.text("cell_id"),
        language=record.text("language"),
        environment=record.text("environment"),
        memory_id=_id(record, "memory"),
    )


def of_pictures(stored: Stored) -> Iterator[dict[str, Any]]:
    """Yield the records of the pictures that a memory shows."""
    for one in stored.thumbnails:
        yield {
            "memory": stored.memory.id,
            "media_type": one.media_type,
            "width": one.width,
            "height": one.height,
            "origin": one.origin,
            "image": b64encode(one.image).decode(),
        }


def to_picture(record: Fields) -> tuple[str, Thumbnail]:
    """Return a picture of a record with the id of its memory.

    Raises:
        InputError: a field is missing or wrong, or it is no thumbnail.
    """
    media_type, origin = record.text("media_type"), record.text("origin")
    begins = _IMAGES.get(media_type)
    if begins is None:
        raise record.wrong("media_type", f"one of {', '.join(_IMAGES)}")
    if not _ORIGIN.fullmatch(origin):
        raise record.wrong("origin", "a digest")
    try:
        image = b64decode(record.text("image"), validate=True)
    except ValueError:
        image = b""
    if not begins.match(image) or len(image) > LARGEST_THUMBNAIL:
        raise record.wrong("image", f"base64 of a picture of at most {LARGEST_THUMBNAIL:,} bytes")
    size = record.integer("width", least=1), record.integer("height", least=1)
    return _id(record, "memory"), Thumbnail(media_type, *size, image, origin)


def of_file(file: NotedFile) -> dict[str, Any]:
    """Return the record of an indexed file."""
    state = file.state
    return {
        "path": state.path,
        "space": file.space,
        "mtime_ns": state.mtime_ns,
        "size": state.size,
        "content_hash": state.content_hash,
        "indexed_at": state.indexed_at,
        "pictures": bool(state.pictures),
        "dated": bool(state.dated),
    }


def to_file(record: Fields) -> NotedFile:
    """Return the indexed file of a record.

    Raises:
        InputError: a field is missing or wrong.
    """
    return NotedFile(
        record.text("space"),
        FileState(
            record.path("path"),
            record.integer("mtime_ns", least=-(2**63)),
            record.integer("size"),
            record.text("content_hash"),
            record.maybe_integer("indexed_at"),
            record.flag("pictures"),
            record.flag("dated"),
        ),
    )


def of_folder(folder: NotedFolder) -> dict[str, Any]:
    """Return the record of a folder on the list."""
    return {**folder._asdict(), "indexed_at": _iso(folder.indexed_at)}


def to_folder(record: Fields) -> NotedFolder:
    """Return the folder of a record, not watched: an export may come from another person, or another machine.

    Raises:
        InputError: a field is missing or wrong.
    """
    record.flag("watched")
    return NotedFolder(record.path("path"), record.text("space"), False, record.maybe_moment("indexed_at"))


def of_feedback(said: Feedback) -> dict[str, Any]:
    """Return the record of what was said of a hit."""
    names = ("memory_id", "accepted", "query", "query_id", "profile", "rank")
    return {**{name: getattr(said, name) for name in names}, "at": _iso(said.at)}


def to_feedback(record: Fields) -> Feedback:
    """Return what was said of a hit.

    Raises:
        InputError: a field is missing or wrong.
    """
    return Feedback(
        memory_id=_id(record, "memory_id"),
        accepted=record.flag("accepted"),
        query=record.text("query"),
        query_id=record.text("query_id"),
        profile=record.text("profile"),
        rank=record.maybe_integer("rank"),
        at=record.moment("at"),
    )


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat()


def _id(record: Fields, name: str) -> str:
    if not _ID.fullmatch(found := record.text(name)):
        raise record.wrong(name, "an id of letters and digits")
    return found


def _chunks(record: Fields, length: int) -> tuple[Chunk, ...]:
    found = record.values.get("chunks", [])
    if not isinstance(found, list):
        raise record.wrong("chunks", "a list")
    return tuple(_chunk(record, one, length) for one in found)


def _chunk(record: Fields, value: Sequence[Any], length: int) -> Chunk:
    must = "a list of [start, end, line, prefix] within the text"
    if not isinstance(value, list) or len(value) != 4:
        raise record.wrong("chunks", must)
    one = Fields(dict(zip(("start", "end", "line", "context"), value, strict=True)), f"{record.where}, chunks")
    start, end = one.integer("start"), one.integer("end")
    if not start < end <= length:
        raise record.wrong("chunks", must)
    return Chunk(start, end, one.text("context"), one.maybe_integer("line"))
