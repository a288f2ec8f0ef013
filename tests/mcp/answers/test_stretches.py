"""The stretches of a long text that have some words."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.mcp.reading import GAP, has_any, stretches
from jupyter_memory.mcp.results import text_tokens

FILLER = "The shops open at nine and close in the evening, as they always did.\n" * 120


def told(text: str, words: str, tokens: int) -> str:
    """Return what is told of a text."""
    return GAP.join(text[start:end] for start, end in stretches(text, words, tokens, str))


def test_an_answer_in_two_places_is_told_from_both() -> None:
    """Two passages far apart that share the words of a question are both there, with a mark between."""
    text = f"{FILLER}A refund is booked within a week.\n{FILLER}Refunds above 90 need a booking by hand.\n{FILLER}"
    found = told(text, "how are refunds booked?", 600)

    assert "within a week" in found and "by hand" in found and "[…]" in found


def test_words_as_they_are_written_win() -> None:
    """A snippet leads to its own place, though other places have its words as well."""
    text = f"{FILLER}prices fell, prices rose, shops closed\n{FILLER}the prices of the shops fell at night\n{FILLER}"

    assert "fell at night" in told(text, "…the prices of the shops fell…", 200)


def test_rare_words_tell_more_than_frequent_ones() -> None:
    """Of a question's words, the one that the text has once leads to the part."""
    text = f"{FILLER}{FILLER}The shops of Zugspitze are closed.\n{FILLER}"

    assert "Zugspitze" in told(text, "when do shops open and close on Zugspitze in the evening", 300)


def test_a_language_without_blanks_is_looked_through_too() -> None:
    """Pairs of characters stand for words."""
    text = "店は九時に開きます。\n" * 200 + "価格の平均は三十円です。\n" + "店は夜に閉まります。\n" * 200

    assert "三十円" in told(text, "平均の価格はいくらですか", 300)


@given(st.text(max_size=3_000), st.text(max_size=40), st.integers(20, 400))
def test_no_more_than_the_tokens_are_told(text: str, words: str, tokens: int) -> None:
    """Whatever the text, its stretches are in order, apart, and within the tokens."""
    found = stretches(text, words, tokens, str)

    assert all(start < end for start, end in found)
    assert all(one[1] < other[0] for one, other in pairwise(found))
    assert sum(text_tokens(text[start:end]) for start, end in found) <= tokens


@pytest.mark.parametrize(("words", "there"), [("SECONDS", True), ("λλ", False), ("", False), ("the of", True)])
def test_whether_a_text_has_any_of_the_words(words: str, there: bool) -> None:
    """Words count by their beginnings; filler counts only where there is nothing else."""
    assert has_any("The first line of many\nsecond line", words) == there
