"""Claims about text that a store can hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.text.unicode import clean


def test_nul_bytes_go_and_lone_surrogates_are_replaced() -> None:
    """What UTF-8 or SQLite would refuse is taken out, the λ and the ü beside it stay."""
    assert clean("λ\0 = 3\ud83d ü") == "λ = 3\ufffd ü"


def test_lines_end_with_a_newline() -> None:
    """Windows' and old Mac's line ends become the usual one."""
    assert clean("eins\r\nzwei\rdrei\n") == "eins\nzwei\ndrei\n"


@given(st.text(st.characters(), max_size=200))
def test_whatever_comes_in_can_be_stored(text: str) -> None:
    """Every cleaned text can be written as UTF-8, has no NUL, and cleaning again changes nothing."""
    cleaned = clean(text)
    cleaned.encode("utf-8")

    assert "\0" not in cleaned
    assert clean(cleaned) == cleaned
