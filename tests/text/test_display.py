"""Text that is shown: what can be stored, what nobody sees, what fits, and hits in the lines of a terminal."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.text import (
    Entry,
    clean,
    coloured,
    columns,
    encodable,
    fit,
    fit_end,
    html,
    json_text,
    listing,
    marked,
    preview,
    size,
    storable,
    visible,
    width,
)

ANY = st.text(st.characters())


@given(ANY)
def test_every_text_becomes_one_that_can_be_written(text):
    """Whatever was typed can be encoded and stored, stays the same where it was well, and is cleaned once."""
    sound = encodable(text)
    assert len(sound) == len(text) and sound.encode().decode() == sound
    assert all(was == is_ or (is_ == "�" and "\ud800" <= was <= "\udfff") for was, is_ in zip(text, sound, strict=True))
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert "\0" not in cleaned and clean(cleaned) == cleaned


def test_what_cannot_be_stored():
    """Half a surrogate pair is shown as what it is, NUL goes, line ends are the usual ones, and the λ stays."""
    assert encodable("λ \ud83d\0") == "λ �\0"
    assert storable("λ \ud83d\0 ü") == "λ � ü"
    assert clean("λ\0 = 3\ud83d ü\r\nzwei\rdrei\n") == "λ = 3\ufffd ü\nzwei\ndrei\n"


# Written anew here, so that a range that is lost in the package is missed.
HIDDEN = [
    *(chr(code) for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"),
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
]
LYING = st.text(st.sampled_from([*HIDDEN, *"λ< \nש"]), max_size=40)


@pytest.mark.parametrize("character", HIDDEN, ids=ascii)
def test_what_nobody_sees_has_a_mark(character):
    """Each control of a terminal and of the direction of writing is shown, and no two look the same."""
    shown = marked(f"a{character}b")
    assert character not in shown and len(shown) > 2
    assert sum(marked(other) == marked(character) for other in HIDDEN) == 1


@given(LYING)
def test_no_way_of_showing_lets_it_through(text):
    """Whole, cut, on one line or as HTML: nothing hidden is left, and what can be seen stays."""
    for shown in (marked(text), visible(text), html(text), fit(text, 20), fit_end(text, 20), preview(text)):
        assert not set(shown) & set(HIDDEN)
    assert marked("λ\tשלום\n<b> 👩‍👩‍👧") == "λ\tשלום\n<b> 👩‍👩‍👧"
    assert re.fullmatch(r"[^<]*", html(text).replace("&lt;", ""))


@given(st.dictionaries(LYING, st.lists(LYING)))
def test_json_is_read_back_as_it_was(value):
    for written in (json_text(value), json_text(value, indent=2)):
        assert not set(written) & set(HIDDEN) and json.loads(written) == value


@given(st.text(max_size=60), st.integers(1, 40))
def test_what_is_cut_fits(text: str, cells: int) -> None:
    assert width(fit(text, cells)) <= cells and width(fit_end(text, cells)) <= cells


def test_nothing_that_was_stored_moves_a_cursor() -> None:
    """What would move a cursor is a mark; what fits stays whole, wide characters count double, and columns line up."""
    hostile = "λ\x1b[2J \x1b]0;pwned\x07\x9b31mü\nend\x85"
    for line in (fit(hostile, 60), fit_end(hostile, 60), columns([(hostile, hostile), ("a", "b")])):
        assert all(one.isprintable() for one in line.splitlines())
    assert fit(hostile, 60) == "λ␛[2J ␛]0;pwned␇[U+009B]31mü end"
    assert (fit("λ and ü", 7), fit("東京都", 6), fit("東京都", 5)) == ("λ and ü", "東京都", "東京…")
    assert fit_end("/a/b.md", 7) == "/a/b.md"
    assert columns([("a", "b", "c"), ("東京", "λλλ", "")]) == "a     b    c\n東京  λλλ" and columns([]) == ""
    # Bytes are told in the largest unit that they fill.
    assert [*map(size, (0, 999, 1000, 5 * 10**12))] == ["0 bytes", "999 bytes", "1.0 kB", "5.0 TB"]


ENTRY = Entry("1", "Prices", "the price of λ was net of tax", ((4, 9),), "KW+SEM", ("83%", "3 weeks ago"), "a.ipynb")
FOUND = "1;31"


def unpainted(text):
    return re.sub(r"\x1b\[[\d;]*m", "", text)


@given(
    st.lists(st.text("ab λ東京\u0301\x1b\t", max_size=80), min_size=1, max_size=3),
    st.integers(40, 100),
    st.integers(0, 20),
)
def test_no_line_is_too_wide(texts, cells, start):
    entries = [
        Entry(str(rank), one, one[::-1], ((start, start + 4),) if len(one) > start + 4 else (), "KW", ("9%",), one)
        for rank, one in enumerate(texts, 1)
    ]
    plain, painted = listing(entries, cells), listing(entries, cells, coloured)
    assert all(width(line) <= cells for line in plain.splitlines())
    assert unpainted(painted) == plain and "\x1b" not in plain


def test_badges_strength_and_age_are_columns():
    """Badges, strength and age are columns at the right end; words that matched are coloured where they are."""
    other = Entry("12", "東京都の価格", "x", (), "SEM", ("7%", "yesterday"), "")
    first, _, _, _, second, _ = listing([ENTRY, other], 60).splitlines()
    assert (
        width(first) == width(second) == 60
        and first.endswith("KW+SEM  83%  3 weeks ago")
        and second.endswith("SEM   7%    yesterday")
    )
    shown = listing([ENTRY], 60, coloured)
    assert f"    the {coloured('price', FOUND)} of λ was net of tax" in shown
    first_words = Entry("1", "the price of λ was…", ENTRY.snippet, ENTRY.marks)
    title, rest = listing([first_words], 60, coloured).splitlines()
    assert coloured("price", FOUND) in title and unpainted(title) == " 1  the price of λ was…"
    assert rest == "    net of tax"
    # That there is more above stands left of code, whose lines are cut where the terminal ends.
    code = Entry("1", "cap.py", f"…λ = 3\n    return {'prices, ' * 9}")
    assert listing([code], 24).splitlines()[1:] == ["   …λ = 3", "        return prices,…"]
    # Where code begins with the word of its title, none of it is left out.
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
        ("2026-03_ridge_models_for_frau_müller.ipynb – Choosing λ", 24, None),
        ("project/archive/reports/spring/müller.md", 16, "…pring/müller.md"),
        ("Choosing λ for the ridge models", 16, "Choosing λ for…"),
    ],
)
def test_a_title_keeps_what_tells_most(title, cells, shown):
    """Of a heading the beginning is kept, of a path the end, of a notebook's name as much as there is room for."""
    fitted = listing([Entry("1", title, "λ")], cells + 4).splitlines()[0].removeprefix(" 1  ")
    assert width(fitted) <= cells
    assert fitted == shown if shown else fitted.endswith("… – Choosing λ")
