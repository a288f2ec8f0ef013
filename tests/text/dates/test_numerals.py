"""Numbers in words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.text import CARDINAL, ORDINAL, cardinal, ordinal

TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SMALL_ONES = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
"""
SMALL = SMALL_ONES.split()


def spelled(number, joint="-"):
    """Return a number below 1,000 in words."""
    if number < 20:
        return SMALL[number]
    if number < 100:
        return TENS[number // 10] + (joint + SMALL[number % 10] if number % 10 else "")
    rest = f" and {spelled(number % 100, joint)}" if number % 100 else ""
    return f"{SMALL[number // 100]} hundred{rest}"


@given(number=st.integers(1, 999), joint=st.sampled_from(" -"))
def test_every_number_comes_back(number, joint):
    """A number is the same in digits and in words, and the pattern finds all of it."""
    for text in (str(number), spelled(number, joint)):
        assert cardinal(text) == number
        assert re.fullmatch(CARDINAL, text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("first", 1),
        ("second", 2),
        ("twelfth", 12),
        ("twentieth", 20),
        ("thirty-first", 31),
        ("22nd", 22),
        ("103rd", 103),
    ],
)
def test_places_in_a_row(text, number):
    """Ordinals are read in words and in digits."""
    assert ordinal(text) == number and re.fullmatch(ORDINAL, text)


@pytest.mark.parametrize("text", ["", "λ", "hundredweight", "twenty foo", "secondly", "-3"])
def test_what_is_no_number(text):
    """Other words are no numbers."""
    assert cardinal(text) is None and ordinal(text) is None
