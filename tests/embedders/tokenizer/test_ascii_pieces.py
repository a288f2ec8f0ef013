"""Pieces found by arithmetic on bytes: those that the pattern finds."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_memory.embedders.tokenizer import ascii_pieces, pieces
from jupyter_memory.embedders.tokenizer.ascii_pieces import Slots

STRETCHES = (
    " ", "  ", "        ", "\n", "\t", "\r\n", "7", "2026", "_", "</", ">", "/", "<", "->", "();", "price", "Umsatz",
    "a_rather_long_name_of_a_column", "==================================", "x>y", "</b", "b",
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(st.sampled_from(STRETCHES), max_size=25).map("".join),
    st.text(st.characters(max_codepoint=127), max_size=40),
)


class Numbered:
    """Numbers strings in the order in which they come, and counts how many were asked for."""

    def __init__(self):
        self.strings = {}
        self.asked = 0

    def __call__(self, strings):
        self.asked += len(strings)
        return np.array([self.strings.setdefault(string, len(self.strings)) for string in strings], np.int64)


@given(texts=st.lists(TEXTS, min_size=1, max_size=5))
@example(texts=["p>q r</b>s t/u\n", "    self.price = 3\n", "x" * 16 + " " + "x" * 17 + " " + "x" * 18 + "\n"])
def test_as_the_pattern(texts):
    """Whatever the texts, their pieces have the numbers of what the pattern finds, met before or not."""
    slots, numbered = Slots(), Numbered()
    for text in (*texts, *texts):
        found = slots.numbers(text, numbered)
        expected = pieces._PIECE.findall(text)
        if found is None:
            assert not text or any(ord(c) in (*range(9), 11, 12, *range(14, 32), 127) for c in text)
        else:
            assert found.tolist() == numbered(expected).tolist()


def test_met_before():
    """A short piece is looked up once, a long one each time."""
    slots, numbered = Slots(), Numbered()
    slots.numbers("mean price, mean_price_of_all_goods\n", numbered)
    numbered.asked = 0

    slots.numbers("mean price\n", numbered)
    assert numbered.asked == 0
    slots.numbers("incomprehensibilities\n" * 2, numbered)
    slots.numbers("incomprehensibilities\n", numbered)
    assert numbered.asked == 3


def test_a_slot_for_two(monkeypatch):
    """Pieces that fall into one slot are never taken for one another."""
    monkeypatch.setattr(ascii_pieces, "_SHIFT", np.uint64(63))
    slots, numbered = Slots(), Numbered()
    text = "the price of wheat in each week of the year and its price\n"

    for _ in range(3):
        assert slots.numbers(text, numbered).tolist() == numbered(pieces._PIECE.findall(text)).tolist()
