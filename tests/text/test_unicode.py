"""Text as UTF-8 and SQLite can hold it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.text.unicode import clean, encodable, storable

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
