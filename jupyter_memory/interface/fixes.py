"""Fixes of errors in words, as a notebook and a terminal show them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from textwrap import indent

from jupyter_memory.text.layout import fit
from jupyter_memory.types import Fix, Run

NOTHING_ALIKE = "No earlier error is like this one."
_LONGEST = 3_000
_ERROR = 120


def headline(fixes: Sequence[Fix]) -> str:
    """Return a line above fixes that are shown: which error was like this one, when and where; and how many others."""
    others = len(fixes) - 1
    more = f" ({others} other {'fix' if others == 1 else 'fixes'} below)" if others else ""
    return f"{_found(fixes[0])}{more}:"


def all_in_words(fixes: Sequence[Fix]) -> str:
    """Return every fix in words, numbered."""
    return "\n\n".join(f"{rank}. {_told(fix)}" for rank, fix in enumerate(fixes, start=1))


def _told(fix: Fix) -> str:
    return f"{_found(fix)}:\n\n{_shown(fix.diff or fix.mended.source)}"


def _found(fix: Fix) -> str:
    # A colon follows the error.
    error = fit(fix.error, _ERROR).rstrip(" .:")
    if fix.kind == "note":
        return f"A note of {_day(fix.mended)} mentions {error}"
    return f"{error}: a similar error on {_day(fix.failed)}{_place(fix.failed)} was fixed like this"


def _shown(text: str) -> str:
    cut = text if len(text) <= _LONGEST else text[:_LONGEST] + "\n…"
    return indent(cut, "    ")


def _day(run: Run) -> str:
    return run.started.astimezone().strftime("%Y-%m-%d %H:%M")


def _place(run: Run) -> str:
    return f" in {PurePath(run.notebook).name}" if run.notebook else ""
