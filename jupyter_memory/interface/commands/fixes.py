"""The command about errors: fix; and fixes in words, as it and a notebook show them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path, PurePath
from textwrap import indent

from jupyter_memory.errors import InputError
from jupyter_memory.interface.commands.command import Call, Front
from jupyter_memory.text.display import fit
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types import Fix, Run

NOTHING_ALIKE = "No earlier error is like this one."
_LONGEST_SHOWN = 3_000
# What a terminal pastes or a log holds; the reader looks at both ends of longer texts.
_MOST_READ = 10_000_000


def fix(front: Front, call: Call) -> None:
    """Show how an error was mended before: the one of a traceback in a file, or on standard input with - or nothing."""
    name = call.words[0] if call.words else "-"
    if name == "-":
        text = sys.stdin.read(_MOST_READ)
    else:
        try:
            with Path(name).expanduser().open(encoding="utf-8", errors="replace") as file:
                text = file.read(_MOST_READ)
        except OSError as error:
            raise InputError(f"{name} cannot be read: {error.strerror}. Name a file that holds a traceback.") from None
    fixes = front.store.fixes
    run = fixes.run_of(text)
    found = fixes.of_run(run, limit=call.values["limit"] or 3)
    if call.values["json"]:
        front.say(json_text([one.to_json() for one in found], indent=2))
    elif found:
        said = []
        for rank, one in enumerate(found, start=1):
            code = one.diff or one.mended.source
            cut = code if len(code) <= _LONGEST_SHOWN else code[:_LONGEST_SHOWN] + "\n…"
            said.append(f"{rank}. {_found(one)}:\n\n{indent(cut, '    ')}")
        front.say("\n\n".join(said))
    else:
        front.note(nothing_found(run, fixes.similar(run)))


def nothing_found(run: Run, similar: Sequence[Run]) -> str:
    """Return why no fix is shown for a run: it was interrupted, nothing is like its error, or what is had no fix."""
    if run.error is not None and run.error.is_interruption:
        how = "it ended itself" if run.error.name == "SystemExit" else "it was interrupted"
        return f"This run did not fail: {how} ({run.error.name}), so there is nothing to fix."
    if not similar:
        return NOTHING_ALIKE
    met = similar[0]
    return (
        f"No fix was found. A similar error happened on {_day(met)}{_place(met)}, and nothing that ran later fixed it."
    )


def headline(fixes: Sequence[Fix]) -> str:
    """Return a line above fixes that are shown: which error was like this one, when and where; and how many others."""
    others = len(fixes) - 1
    more = f" ({others} other {'fix' if others == 1 else 'fixes'} below)" if others else ""
    return f"{_found(fixes[0])}{more}:"


def _found(fix: Fix) -> str:
    # A colon follows the error.
    error = fit(fix.error, 120).rstrip(" .:")
    if fix.kind == "note":
        return f"A note of {_day(fix.mended)} mentions {error}"
    return f"{error}: a similar error on {_day(fix.failed)}{_place(fix.failed)} was fixed like this"


def _day(run: Run) -> str:
    return run.started.astimezone().strftime("%Y-%m-%d %H:%M")


def _place(run: Run) -> str:
    return f" in {PurePath(run.notebook).name}" if run.notebook else ""
