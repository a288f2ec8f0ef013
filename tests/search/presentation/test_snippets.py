"""The stretch that is shown: short, in one line, with the query's words in it."""

from __future__ import annotations

import re

import marks
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.search.presentation import WIDTH, snippet, with_literal

SPACES = st.text(st.sampled_from(" \n\t"), min_size=1, max_size=4)


@st.composite
def marked(draw):
    """Draw a text of words and any white space, and marks of one or more whole words in it."""
    text, edges = draw(SPACES | st.just("")), []
    for word in draw(st.lists(marks.WORDS, max_size=80)):
        edges.append((len(text), len(text) + len(word)))
        text += word + draw(SPACES)
    return text, marks.some(draw, edges)


def flat(text):
    """Return a text in one line."""
    return re.sub(r"\s+", " ", text).strip()


@given(drawn=marked(), width=st.sampled_from([WIDTH, 40]))
def test_what_is_shown_is_in_the_text(drawn, width):
    """A snippet is a stretch of the text, white space folded; an ellipsis stands where something is left out."""
    text, spans = drawn
    shown, _ = snippet(text, spans, width)
    body = shown.removeprefix("…").removesuffix("…")

    assert len(shown) <= width + 2
    assert not re.search(r"[\n\t]|  ", shown)
    assert body in flat(text)
    assert shown.startswith("…") or flat(text).startswith(body)
    assert shown.endswith("…") or flat(text).endswith(body)
    assert bool(flat(text)) == bool(body)


@given(drawn=marked(), width=st.sampled_from([WIDTH, 40]))
def test_highlights_mark_the_same_words(drawn, width):
    """Every highlight lies inside the snippet and marks what it marked in the text; they keep their order."""
    text, spans = drawn
    shown, marks = snippet(text, spans, width)
    words = [flat(text[start:end]) for start, end in spans]

    assert all(0 <= start < end <= len(shown) for start, end in marks)
    assert list(marks) == sorted(marks)
    found = [shown[start:end] for start, end in marks]
    at = 0
    for word in found:
        at = words.index(word, at) + 1
    if len(flat(text)) <= width:
        assert found == words


@given(drawn=marked())
def test_a_found_word_is_shown(drawn):
    """When a word of ordinary length was found, at least one highlight is in the snippet."""
    text, spans = drawn
    if any(len(flat(text[start:end])) <= 40 for start, end in spans):
        assert snippet(text, spans)[1]


def spans_of(text, *words):
    """Return where these words stand in a text."""
    return sorted(match.span() for word in words for match in re.finditer(re.escape(word), text))


def test_without_words_the_beginning():
    """A hit by meaning shows how its text begins."""
    text = "We scaled the prices to zero mean. " * 20
    shown, marks = snippet(text, ())

    assert shown.startswith("We scaled the prices")
    assert shown.endswith("…") and not shown.endswith(" …")
    assert marks == ()


def test_short_text_is_shown_whole():
    """Up to its width a text is shown whole, without an ellipsis."""
    assert snippet("  The λ is\n\t3.2  ", [(6, 7)]) == ("The λ is 3.2", ((4, 5),))
    assert snippet("ü" * WIDTH, ()) == ("ü" * WIDTH, ())


def test_the_window_with_most_different_words():
    """Two words of the query near each other win over one that is repeated earlier."""
    text = "prices " * 5 + "and much else besides. " * 20 + "The prices in Zürich fell. " + "More of it. " * 30
    shown, marks = snippet(text, spans_of(text, "prices", "Zürich"))

    assert "The prices in Zürich fell." in shown
    assert [shown[a:b] for a, b in marks] == ["prices", "Zürich"]
    assert shown.startswith("…") and shown.endswith("…")


def test_the_first_of_equal_windows():
    """Of two places that are as good the earlier is shown."""
    text = "In March λ was 3.2. " + "Nothing here. " * 40 + "In April λ was 4.1. " + "Nothing here. " * 40

    assert snippet(text, spans_of(text, "λ"))[0].startswith("In March λ was 3.2.")


def test_cut_between_words():
    """The cuts fall between words where there are spaces near."""
    text = "Deliveries to Malmö were late. " * 30 + "The carrier blames snow. " + "Deliveries to Malmö were late. " * 30
    shown, _ = snippet(text, spans_of(text, "snow"))

    assert set(shown.strip("…").split()) <= set(text.split())
    assert not shown.startswith("… ")


@pytest.mark.parametrize("word", ["x" * 5000, "東京都の電力価格を正規化した" * 60, "🚚" * 900])
def test_a_long_word_is_cut(word):
    """A text without spaces is cut anyway, and what was found in its middle is shown."""
    text = word + "λλ" + word
    shown, marks = snippet(text, [(len(word), len(word) + 2)])

    assert len(shown) <= WIDTH + 2
    assert [shown[a:b] for a, b in marks] == ["λλ"]


def test_highlights_count_code_points():
    """An emoji is one place, as in Python: what follows is marked where it stands."""
    assert snippet("🚚🚚 late", [(3, 7)]) == ("🚚🚚 late", ((3, 7),))


def test_a_phrase_over_a_line_break():
    """A phrase that the text breaks is marked as one."""
    assert snippet("a left\n    join b", [(2, 15)]) == ("a left join b", ((2, 11),))


def test_literal_pairs_are_marked_as_one_stretch():
    """Overlapping CJK pairs become one mark, beside the marks that the index gave."""
    assert with_literal("the 東京塔 and 東京", [(0, 3)], ["東京", "京塔"]) == [(0, 3), (4, 7), (12, 14)]
