"""The command about errors: fix."""

from __future__ import annotations

import sys
from pathlib import Path

from jupyter_memory.interface.commands.command import Call
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.interface.fixes import NOTHING_ALIKE, all_in_words
from jupyter_memory.text.unicode import json_text

_LIMIT = 3
# What a terminal pastes or a log holds; the reader looks at both ends of longer texts.
_LONGEST = 10_000_000


def fix(front: Front, call: Call) -> None:
    """Show how an error was mended before: the one of a traceback in a file, or on standard input with - or nothing."""
    text = _traceback(call.words[0] if call.words else "-")
    found = front.store.fixes.of_traceback(text, call.values["limit"] or _LIMIT)
    if call.values["json"]:
        front.say(json_text([one.to_json() for one in found], indent=2))
    elif found:
        front.say(all_in_words(found))
    else:
        front.note(NOTHING_ALIKE)


def _traceback(name: str) -> str:
    if name == "-":
        return sys.stdin.read(_LONGEST)
    with Path(name).expanduser().open(encoding="utf-8", errors="replace") as file:
        return file.read(_LONGEST)
