"""Fixes in words: the line above them, and all of them as a terminal shows them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from jupyter_memory.interface import headline
from jupyter_memory.interface.commands.fixes import all_in_words
from jupyter_memory.types import Fix, Run, RunError

NOON = datetime(2026, 3, 6, 12).astimezone()
ERROR = RunError("KeyError", "'Genève'", "")
FAILED = Run('rates["Genève"]', NOON, "k1", 1, "error", error=ERROR, notebook="/n/λ.ipynb")
MENDED = Run('rates.get("Genève")', NOON, "k1", 2, "ok")
FIX = Fix(FAILED, MENDED, 0.9)
NOTE = Fix(replace(FAILED, source=""), replace(MENDED, source="Ask Łukasz for the rate."), 0.8, "note")


def test_headline_says_which_error_when_and_where():
    """The line reads on into the fix below it, also where the cell belongs to no notebook."""
    assert headline([FIX]) == (
        "KeyError: 'Genève': a similar error on 2026-03-06 12:00 in λ.ipynb was fixed like this:"
    )
    console = replace(FIX, failed=replace(FAILED, notebook=""))
    assert headline([console]) == "KeyError: 'Genève': a similar error on 2026-03-06 12:00 was fixed like this:"


def test_headline_counts_the_other_fixes():
    """How many others there are stands before the colon."""
    assert headline([FIX, NOTE]).endswith(" was fixed like this (1 other fix below):")
    assert headline([FIX, NOTE, FIX]).endswith(" was fixed like this (2 other fixes below):")


def test_headline_of_a_note():
    """A note mentions an error; nobody says that its text fixed it."""
    assert headline([NOTE]) == "A note of 2026-03-06 12:00 mentions KeyError: 'Genève':"


def test_a_message_that_ends_with_a_full_stop():
    """The colon of the line follows no other mark."""
    ambiguous = replace(FAILED, error=RunError("ValueError", "The truth value is ambiguous. Use a.any().", ""))

    assert headline([replace(FIX, failed=ambiguous)]).startswith(
        "ValueError: The truth value is ambiguous. Use a.any(): a similar error on "
    )


def test_all_in_words():
    """Each fix has its number, its error and the lines that changed, or the text of the note."""
    first, note = all_in_words([FIX, NOTE]).split("\n\n2. ")

    assert first.startswith("1. KeyError: 'Genève': a similar error on ")
    assert '\n    -rates["Genève"]\n    +rates.get("Genève")' in first
    assert note == "A note of 2026-03-06 12:00 mentions KeyError: 'Genève':\n\n    Ask Łukasz for the rate."
