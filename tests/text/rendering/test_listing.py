"""Hits in the lines of a terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.text import Entry, coloured, listing, width

ENTRY = Entry("1", "Prices", "the price of λ was net of tax", ((4, 9),), "KW+SEM", ("83%", "3 weeks ago"), "a.ipynb")

FOUND = "1;31"


def unpainted(text):
    """Return a text without its colours."""
    return re.sub(r"\x1b\[[\d;]*m", "", text)


@given(
    st.lists(st.text("ab λ東京\u0301\x1b\t", max_size=80), min_size=1, max_size=3),
    st.integers(40, 100),
    st.integers(0, 20),
)
def test_no_line_is_too_wide(texts, cells, start):
    """Whatever a text holds, its lines fit; colours take no room."""
    entries = [
        Entry(str(rank), one, one[::-1], ((start, start + 4),) if len(one) > start + 4 else (), "KW", ("9%",), one)
        for rank, one in enumerate(texts, 1)
    ]
    plain, painted = listing(entries, cells), listing(entries, cells, coloured)

    assert all(width(line) <= cells for line in plain.splitlines())
    assert unpainted(painted) == plain
    assert "\x1b" not in plain


def test_columns_stand_below_each_other():
    """Badges, strength and age are columns at the right end, whatever their length."""
    other = Entry("12", "東京都の価格", "x", (), "SEM", ("7%", "yesterday"), "")
    first, _, _, _, second, _ = listing([ENTRY, other], 60).splitlines()

    assert first == " 1  Prices                           KW+SEM  83%  3 weeks ago"[:60] or width(first) == 60
    assert width(second) == 60 and second.endswith("SEM   7%    yesterday")


def test_what_matched_is_in_colour():
    """The words that matched are marked where they are, also in a title that is the first words of the text."""
    shown = listing([ENTRY], 60, coloured)
    assert f"    the {coloured('price', FOUND)} of λ was net of tax" in shown

    first_words = Entry("1", "the price of λ was…", ENTRY.snippet, ENTRY.marks)
    title, rest = listing([first_words], 60, coloured).splitlines()
    assert coloured("price", FOUND) in title and unpainted(title) == " 1  the price of λ was…"
    assert rest == "    net of tax"


def test_a_title_in_code_is_no_beginning():
    """Where code begins with the word of its title, none of it is left out."""
    assert "    totals = df.sum()" in listing([Entry("1", "totals", "totals = df.sum()")], 60)


def test_a_text_is_wrapped_between_words():
    """What is too long for its lines ends with an ellipsis; a word without blanks is parted where the line ends."""
    below = [listing([Entry("1", "λ", text)], 15).splitlines()[1:] for text in ("net of tax " * 2, "net of tax " * 9)]
    assert below[0] == ["    net of tax"] * 2
    assert set(below[1][:-1]) == {"    net of tax"} and below[1][-1] == "    net of tax…"
    assert listing([Entry("1", "λ", "東京都の価格を")], 10).splitlines()[1:] == ["    東京都", "    の価格", "    を"]


@pytest.mark.parametrize(
    ("title", "cells", "shown"),
    [
        ("2026-03_ridge_models_for_frau_müller.ipynb – Choosing λ", 24, "2026-0… – Choosing λ"[:0] or None),
        ("project/archive/reports/spring/müller.md", 16, "…pring/müller.md"),
        ("Choosing λ for the ridge models", 16, "Choosing λ for…"),
    ],
)
def test_a_title_keeps_what_tells_most(title, cells, shown):
    """Of a heading the beginning is kept, of a path the end, of a notebook's name as much as there is room for."""
    fitted = listing([Entry("1", title, "λ")], cells + 4).splitlines()[0].removeprefix(" 1  ")

    assert width(fitted) <= cells
    assert fitted == shown if shown else fitted.endswith("… – Choosing λ")
