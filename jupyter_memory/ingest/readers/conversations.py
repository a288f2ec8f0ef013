"""Chats that Jupyter AI keeps in files, a part for each message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.text import read_text


@dataclass(frozen=True, slots=True)
class ChatReader:
    """Reads chats of Jupyter AI and of jupyter-chat."""

    suffixes: tuple[str, ...] = (".chat",)

    def read(self, path: Path, /) -> Document:
        text = read_text(path)
        try:
            chat = json.loads(text) if text.strip() else {"messages": []}
            users, messages = chat.get("users") or {}, chat["messages"]
            said = [one for one in messages if isinstance(one.get("body"), str) and not one.get("deleted")]
            names = {name: user.get("display_name") or user.get("name") or name for name, user in users.items()}
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            raise InputError("The file is no chat of Jupyter AI: it has no messages in JSON.") from None
        parts = []
        for number, one in enumerate(said):
            sender = one.get("sender")
            who = str(sender.get("name") if isinstance(sender, Mapping) else names.get(sender, sender) or "")
            begins = f"{who}: " if who else ""
            location = str(one.get("id") or f"#{number}")
            parts.append(
                Part(begins + one["body"], location, metadata={"index": number}, written=_moment(one.get("time")))
            )
        return Document(tuple(part for part in parts if part.text.strip()), "markdown")


def _moment(seconds: object) -> datetime | None:
    # Of this century, if it is a time at all.
    return datetime.fromtimestamp(seconds, UTC) if isinstance(seconds, int | float) and 0 < seconds < 4e9 else None
