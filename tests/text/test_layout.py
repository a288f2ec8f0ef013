"""Plain text that fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.text import columns, fit, fit_end, size, width


@given(st.text(max_size=60), st.integers(1, 40))
def test_what_is_cut_fits(text: str, cells: int) -> None:
    """Cut at its end or at its beginning, a text takes no more cells than it may."""
    assert width(fit(text, cells)) <= cells
    assert width(fit_end(text, cells)) <= cells


def test_nothing_that_was_stored_moves_a_cursor() -> None:
    """What would tell a terminal to do something is a mark in a line, and a line break is a space."""
    hostile = "λ\x1b[2J \x1b]0;pwned\x07\x9b31mü\nend\x85"

    for line in (fit(hostile, 60), fit_end(hostile, 60), columns([(hostile, hostile), ("a", "b")])):
        assert all(one.isprintable() for one in line.splitlines())
    assert fit(hostile, 60) == "λ␛[2J ␛]0;pwned␇[U+009B]31mü end"


def test_only_what_is_too_long_is_cut() -> None:
    """A text that fits stays; wide characters count double."""
    assert fit("λ and ü", 7) == "λ and ü"
    assert fit("東京都", 6) == "東京都"
    assert fit("東京都", 5) == "東京…"
    assert fit_end("/a/b.md", 7) == "/a/b.md"


def test_columns_stand_below_each_other() -> None:
    """Columns begin at the same cell, whatever the characters, and no line ends in spaces."""
    assert columns([("a", "b", "c"), ("東京", "λλλ", "")]) == "a     b    c\n東京  λλλ"
    assert columns([]) == ""


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (5 * 10**12, "5.0 TB")]
)
def test_sizes(count: int, text: str) -> None:
    """Bytes are told in the largest unit that they fill."""
    assert size(count) == text
