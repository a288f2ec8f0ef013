"""Claims about cutting a long text."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from jupyter_memory.embedders import tokens as tokens_of
from jupyter_memory.ingest.chunking import split


def tokens(text: str) -> int:
    return len(tokens_of([text]).ids)


SECTIONS = "".join(f"# Week {week}\n\n" + "The prices in Zürich rose by λ percent.\n" * 30 + "\n" for week in range(12))


def test_a_short_text_is_one_stretch() -> None:
    """Nothing is cut that fits, only the blank lines around it go."""
    assert list(split("\n  λ = 3\n\n", 512, 256)) == [(1, 8)]


def test_markdown_is_cut_before_its_headings() -> None:
    """Where a section ends within reach, the stretch ends there and the next heading begins another."""
    stretches = [SECTIONS[start:end] for start, end in split(SECTIONS, 512, 0, "markdown")]

    assert len(stretches) > 5
    assert all(stretch.startswith("# Week") for stretch in stretches)


def test_python_is_cut_before_its_definitions() -> None:
    """Where a function ends within reach, the next one begins another stretch."""
    source = "".join(
        f"def load_{n}():\n    # λ\n" + f"    prices = read({n})\n\n" * 40 + "    return 1\n\n\n" for n in range(9)
    )
    stretches = [source[start:end] for start, end in split(source, 512, 0, "python")]

    assert len(stretches) > 5
    assert all(stretch.startswith("def load_") for stretch in stretches)


def test_neighbours_overlap() -> None:
    """A stretch begins inside the one before it, by no more than the overlap, and never ends before it."""
    text = "Each paragraph on the prices has some words.\n\n" * 300
    stretches = list(split(text, 512, 256))

    assert len(stretches) > 5
    for (start, end), (next_start, next_end) in pairwise(stretches):
        assert start < next_start < end <= next_end
        assert 100 < tokens(text[next_start:end]) <= 256


def test_words_stay_whole() -> None:
    """A text without lines is cut between its sentences and words."""
    text = "Der Preis stieg um λ Prozent, überall in Zürich. " * 400
    stretches = [text[start:end] for start, end in split(text, 512, 256)]

    assert all(stretch.startswith("Der Preis") and stretch.endswith("Zürich.") for stretch in stretches)


def test_the_indentation_of_a_first_line_stays() -> None:
    """A stretch of code begins with its line, not with its first word."""
    source = "class Prices:\n" + "    def λ(self):\n        return self.x\n\n" * 200
    stretches = [source[start:end] for start, end in split(source, 512, 256, "python")]

    assert len(stretches) > 2
    assert all(stretch.startswith(("class", "    def", "        return")) for stretch in stretches)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "ü" * 200_000,
        "😀" * 60_000,
        "東京都の価格" * 30_000,
        "x\n" * 200_000,
        "0123456789abcdef" * 60_000,
    ],
    ids=["letter", "umlaut", "emoji", "cjk", "lines", "hex"],
)
def test_a_large_text_is_cut_in_linear_time(text: str) -> None:
    """A megabyte without a place to cut is sliced, not pondered, and no slice is too large."""
    begun = time.process_time()
    stretches = list(split(text, 512, 256))

    assert time.process_time() - begun < 20
    assert stretches[-1][1] == len(text.rstrip())
    assert max(tokens(text[start:end]) for start, end in stretches[:40] + stretches[-2:]) <= 512


@pytest.mark.parametrize("text", ["", " " * 100_000, "\n" * 50_000, "\t \n" * 20_000])
def test_a_blank_text_has_no_stretch(text: str) -> None:
    """Where nothing is said there is nothing to cut."""
    assert list(split(text, 512, 256)) == []
