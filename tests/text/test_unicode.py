"""Text as UTF-8 and SQLite can hold it."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.text import clean, encodable, fit, fit_end, html, json_text, marked, preview, storable, visible

ANY = st.text(st.characters())


@given(ANY)
def test_every_text_becomes_one_that_can_be_written(text):
    """Whatever was typed can be encoded, is as long as it was, and is the same where it was well."""
    sound = encodable(text)

    assert len(sound) == len(text)
    assert sound.encode().decode() == sound
    assert all(was == is_ or (is_ == "�" and "\ud800" <= was <= "\udfff") for was, is_ in zip(text, sound, strict=True))


def test_half_a_pair_and_nul():
    """Half a surrogate pair is shown as what it is, NUL goes, and the λ stays."""
    assert encodable("λ \ud83d\0") == "λ �\0"
    assert storable("λ \ud83d\0 ü") == "λ � ü"


def test_nul_bytes_go_and_lone_surrogates_are_replaced() -> None:
    """What UTF-8 or SQLite would refuse is taken out, the λ and the ü beside it stay."""
    assert clean("λ\0 = 3\ud83d ü") == "λ = 3\ufffd ü"


def test_lines_end_with_a_newline() -> None:
    """Windows' and old Mac's line ends become the usual one."""
    assert clean("eins\r\nzwei\rdrei\n") == "eins\nzwei\ndrei\n"


@given(ANY)
def test_whatever_comes_in_can_be_stored(text: str) -> None:
    """Every cleaned text can be written as UTF-8, has no NUL, and cleaning again changes nothing."""
    cleaned = clean(text)
    cleaned.encode("utf-8")

    assert "\0" not in cleaned
    assert clean(cleaned) == cleaned


# -- what is shown -----------------------------------------------------------------------------------------------------

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
    """JSON that is printed has nothing hidden in it, and says the same."""
    for indent in (None, 2):
        written = json_text(value, indent=indent)
        assert not set(written) & set(HIDDEN)
        assert json.loads(written) == value
