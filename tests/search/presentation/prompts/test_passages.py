"""The part of a long text around a hit: at lines, within its tokens, with marks for what is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.search.prompt import passage
from jupyter_memory.text import estimated_tokens

LINES = [f"line {number}: prices of shop λ{number}" for number in range(200)]
LONG = "\n".join(LINES)


def span_of(line: str) -> tuple[int, int]:
    """Return where a line lies in the long text."""
    return LONG.index(line), LONG.index(line) + len(line)


def test_a_short_text_is_whole() -> None:
    found = passage("a\nb", 50)
    assert (found.text, found.first, found.last, found.whole) == ("a\nb", 1, 2, True)


@pytest.mark.parametrize("number", [0, 7, 120, 199])
def test_a_long_text_shows_whole_lines_around_the_span_and_says_what_is_left_out(number: int) -> None:
    found = passage(LONG, 150, span_of(LINES[number]))
    shown = [line for line in found.text.split("\n") if not line.startswith("[…")]
    assert shown == LINES[found.first - 1 : found.last]
    assert LINES[number] in shown
    assert len(shown) > 3
    above, below = found.first - 1, len(LINES) - found.last
    marks = [f"[… {count} line{'s' * (count > 1)} left out …]" for count in (above, below) if count]
    assert [line for line in found.text.split("\n") if line.startswith("[…")] == marks


def test_a_span_that_is_too_long_is_shown_from_its_beginning() -> None:
    found = passage(LONG, 100, (LONG.index(LINES[50]), len(LONG)))
    assert found.first == 51


def test_a_single_line_that_is_too_long_is_cut_at_the_span() -> None:
    line = "word " * 2000 + "the needle is here " + "word " * 2000
    found = passage(line, 80, (line.index("the needle"), line.index("the needle") + 8))
    assert "the needle is here" in found.text
    assert found.text.startswith("…") and found.text.endswith("…")
    assert estimated_tokens(found.text) <= 80


@given(
    st.lists(st.text(max_size=60), max_size=40).map("\n".join),
    st.integers(50, 300),
    st.tuples(st.integers(0, 2000), st.integers(0, 2000)).map(sorted),
)
def test_a_passage_never_has_more_tokens_than_it_may(text: str, most: int, span: list[int]) -> None:
    found = passage(text, most, (span[0], span[1]))
    assert estimated_tokens(found.text) <= most
    assert found.whole == (found.text == text)
