"""The notes that somebody wrote, as Markdown with front matter, for other programs to read."""

from __future__ import annotations

import json
import re

from jupyter_memory.types import Memory

_NO_NAME = re.compile(r"[^\w]+")
_LONGEST = 60


def file_name(memory: Memory) -> str:
    """Return the name of a note's file: its title and its id."""
    words = _NO_NAME.sub("-", memory.title)[:_LONGEST].strip("-_").lower()
    # A name counts in bytes, of which a character may take four.
    name = words.encode()[: 2 * _LONGEST].decode(errors="ignore")
    return f"{name}-{memory.id}.md" if name else f"{memory.id}.md"


def markdown(memory: Memory) -> str:
    """Return a note as Markdown; a JSON string is one of YAML, too."""
    fields = {"id": memory.id, "title": memory.title, "tags": list(memory.tags), "date": memory.event_at.isoformat()}
    front = "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items() if value)
    return f"---\n{front}\n---\n\n{memory.text}\n"
