"""Conversations, a part for each message: chats of Jupyter AI and transcripts of agents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.dates import stated
from jupyter_memory.ingest.readers.base import Document, Part, note
from jupyter_memory.ingest.readers.text import tidied


def chat(text: str, path: Path) -> Document:
    """Return a chat of Jupyter AI or jupyter-chat."""
    try:
        read = json.loads(text) if text.strip() else {"messages": []}
        users, messages = read.get("users") or {}, read["messages"]
        said = [one for one in messages if isinstance(one.get("body"), str) and not one.get("deleted")]
        names = {name: user.get("display_name") or user.get("name") or name for name, user in users.items()}
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise InputError("The file is no chat of Jupyter AI: it has no messages in JSON.") from None
    told = []
    for one in said:
        sender = one.get("sender")
        who = sender.get("name") if isinstance(sender, Mapping) else names.get(str(sender or ""), sender)
        told.append((who, one["body"], one.get("id"), one.get("time")))
    return _document(told)


# Ids as these programs write them: numbers, and hexadecimal digits in groups. A token of a service is none of them.
_ID = re.compile(r"\d{1,20}|[0-9a-f]{1,32}(?:-[0-9a-f]{1,16}){0,5}", re.IGNORECASE)


def _document(messages: Iterable[tuple[object, str, object, object]]) -> Document:
    # Of each message who says what, its id, and its time in seconds or ISO 8601.
    now, parts, seen = datetime.now(UTC), list[Part](), set[str]()
    for number, (who, text, id_, time) in enumerate(messages):
        location = str(id_ or "")
        location = location if _ID.fullmatch(location) and location not in seen else f"#{number}"
        seen.add(location)
        when = stated(time, now) if isinstance(time, str) else None
        if isinstance(time, int | float) and 0 < time < 4e9:  # of this century, if it is a time at all
            when = datetime.fromtimestamp(time, UTC)
        if text.strip():
            told = f"{who}: {text}" if who else text
            parts.append(Part(tidied(told), location, metadata={"index": number}, written=when))
    return Document(tuple(parts), "markdown")


# Under which key records of these types have a message: those of Claude Code, of Pi and the traces of Hugging Face, of
# Codex, and of Copilot.
_MESSAGES = {
    "user": "message", "assistant": "message", "message": "message", "response_item": "payload",
    "user.message": "data", "assistant.message": "data",
}  # fmt: skip
# With what a file begins in which messages may come late; those of Pi come in no other.
_SESSION = "session"
_BEGINS = {_SESSION, "session_meta", "session.start", "file-history-snapshot", "queue-operation", "summary"}
_TEXTS = ("text", "input_text", "output_text")
# What a program says in the place of a person: `<environment_context>…</environment_context>`. HTML has no such tags.
_BY_PROGRAM = re.compile(r"\s*<[^\W_]+[_-][\w-]+>")
# Bytes that are read of a transcript, and of one of its lines.
_MOST, _LONGEST = 50_000_000, 5_000_000


def is_transcript(records: Sequence[Any]) -> bool:
    """Return whether the first records of a file may be those of an agent's transcript."""
    if not records or not all(isinstance(one, dict) and isinstance(one.get("type"), str) for one in records):
        return False
    first, messages = records[0]["type"], [one for one in records if one["type"] in _MESSAGES]
    if any(one["type"] == "message" for one in messages) and first != _SESSION:
        return False
    shaped = all(isinstance(one.get(_MESSAGES[one["type"]]), dict) for one in messages)
    return shaped and (bool(messages) or first in _BEGINS)


def _said(record: Any) -> tuple[str, str] | None:
    # Who says what in a record; None in one of a program, of a tool, or of another kind.
    kind = str(record.get("type")) if isinstance(record, dict) else ""
    message = record.get(_MESSAGES[kind]) if kind in _MESSAGES else None
    if not isinstance(message, dict) or (kind == "response_item" and message.get("type") != "message"):
        return None
    who, content = message.get("role") or kind.partition(".")[0], message.get("content")
    if who not in ("user", "assistant") or record.get("isMeta"):
        return None
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [one.get("text") for one in blocks if isinstance(one, dict) and one.get("type") in _TEXTS]
    told = [text.strip() for text in texts if isinstance(text, str) and not _BY_PROGRAM.match(text)]
    return (who, "\n\n".join(told)) if any(told) else None


def transcript(path: Path) -> Document:
    """Return what people and agents say in a transcript, without the input and output of tools."""
    told, size = [], 0
    with path.open("rb") as opened:
        while line := opened.readline(_LONGEST):
            size += len(line)
            if size > _MOST:
                note(f"it is longer than {_MOST // 1_000_000} MB, and its beginning is read")
                break
            # A line that is being written, or the rest of one that is too long, is not JSON.
            with suppress(ValueError, RecursionError):
                record = json.loads(line)
                if (said := _said(record)) is not None:
                    told.append((*said, record.get("uuid") or record.get("id"), record.get("timestamp")))
    return _document(told)
