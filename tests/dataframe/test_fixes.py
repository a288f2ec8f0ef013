"""Fixes as a DataFrame: what a notebook shows of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pages import Tables

from jupyter_memory.dataframe import fixes_frame
from jupyter_memory.types import Fix, Run, RunError

FAILED = Run(
    source='rate = rates["Genève"]\nprint(rate < 4)',
    started=datetime(2026, 3, 6, 9, 0, tzinfo=UTC),
    session="monday",
    number=1,
    outcome="error",
    error=RunError("KeyError", "'Genève'\nand more"),
    notebook="/week/λ & co.ipynb",
)
MENDED = replace(
    FAILED,
    source='rate = rates.get("Genève", 0)\nprint(rate < 4)',
    started=FAILED.started + timedelta(minutes=3),
    outcome="ok",
    error=None,
    memory_id="aa01",
)


def test_a_fix_is_shown_with_its_difference_and_a_button():
    """The page has the error, where and when it was mended, the changed lines, and the mended code in the button."""
    page = Tables(fixes_frame([Fix(FAILED, MENDED, 0.9)], "/store.sqlite")._repr_html_())
    [[rank, error, change]] = page.rows

    assert (rank, error[:18]) == ("1", "KeyError: 'Genève'") and "λ & co.ipynb" in error
    assert change.split("\n") == [
        '-rate = rates["Genève"]',
        '+rate = rates.get("Genève", 0)',
        " print(rate < 4)Insert as a new cell",
    ]
    [button] = [attributes for tag, attributes in page.tags if tag == "button"]
    assert (button["value"], button["data-memory"]) == (MENDED.source, "aa01")


def test_a_note_is_text_and_no_code():
    """A note that tells of an error is shown whole, without a button."""
    note = Fix(replace(FAILED, source=""), replace(MENDED, source="Ask <Łukasz> for the key."), 0.8, "note")
    page = Tables(fixes_frame([note], "/store.sqlite")._repr_html_())

    assert page.rows[0][2] == "Ask <Łukasz> for the key."
    assert "button" not in {tag for tag, _ in page.tags}


def test_a_part_of_the_columns_is_shown_like_any_frame():
    """Other columns, none at all, and no fix at all are shown by pandas."""
    frame = fixes_frame([Fix(FAILED, MENDED, 0.9)], "/store.sqlite")

    assert "Insert" not in frame[["error", "strength"]]._repr_html_()
    assert fixes_frame([], "/store.sqlite")._repr_html_().count("<tr") == 0
    assert list(frame.index) == [1] and frame.attrs["memfix"]["fixes"][0]["fix"] == MENDED.source
