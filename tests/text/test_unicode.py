"""Text as UTF-8 and SQLite can hold it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.text.unicode import encodable, storable

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
