"""The lines of code that are shown: whole, without the indentation that all have, with the query's words in them."""

from __future__ import annotations

import re
from os.path import commonprefix

import marks
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.search.presentation import LINES, WIDTH, code_snippet

CAPPING = '''import pandas as pd


def clip_outliers(frame):
    """Cap each reading at what the main fuse can pass."""

    limit = frame["fuse_a"] * 0.23
    for λ in frame:
        if λ > limit:
            frame[λ] = limit
    return frame.assign(kwh=frame["kwh"].clip(upper=limit))
'''
BREAKS = st.sampled_from(["\n", "\r\n", "\n\n", "\n \t\n", "\r", "\u2028", "\v"])
INDENTS = st.sampled_from(["", "    ", "        ", "\t", "  \t"])


@st.composite
def marked(draw):
    """Draw lines of words with any indentation between any breaks, and marks of one or more whole words in them."""
    text, edges = draw(BREAKS | st.just("")), []
    for names in draw(st.lists(st.lists(marks.WORDS, min_size=1, max_size=12), max_size=12)):
        text += draw(INDENTS)
        for name in names:
            edges.append((len(text), len(text) + len(name)))
            text += name + draw(st.sampled_from([" ", "  ", "\t"]))
        text += draw(BREAKS)
    return text, marks.some(draw, edges)


def lines_of(text):
    """Return the lines of a text that are not blank, without the blanks at their end."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@given(drawn=marked(), width=st.sampled_from([WIDTH, 40]))
def test_what_is_shown_is_in_the_text(drawn, width):
    """Some lines one after another, less one indentation; all but the first and the last, which may be cut, whole."""
    text, spans = drawn
    shown, _ = code_snippet(text, spans, width)
    lines = shown.removeprefix("…").removesuffix("…").split("\n")

    assert len(shown) <= width + 2
    assert len(lines) <= LINES
    whole = lines_of(text)
    if not whole:
        assert shown == ""
        return
    assert all(line.strip() for line in lines)
    assert len(shown.splitlines()) == len(lines)

    def fits(at):
        """Return whether these are the lines from there on."""
        there = whole[at : at + len(lines)]
        indent = len(commonprefix([line[: len(line) - len(line.lstrip())] for line in there]))  # noqa: RUF071  no paths
        *before, last = (line[indent:] for line in there)
        if lines == [*before, last]:
            return shown.startswith("…") == (at > 0)
        if len(lines) == 1:
            return last.find(lines[0]) >= (0 if at > 0 or not shown.startswith("…") else 1)
        cut = lines[:-1] == before and last.startswith(lines[-1]) and shown.endswith("…")
        return cut and shown.startswith("…") == (at > 0)

    assert any(map(fits, range(len(whole))))


@given(drawn=marked(), width=st.sampled_from([WIDTH, 40]))
def test_highlights_mark_the_same_words(drawn, width):
    """Every highlight lies in one line and marks what it marked in the text; none between is left out."""
    text, spans = drawn
    shown, marks = code_snippet(text, spans, width)
    words = [line.strip() for start, end in spans for line in lines_of(text[start:end])]

    assert all(0 <= start < end <= len(shown) for start, end in marks)
    assert list(marks) == sorted(marks)
    found = [shown[start:end] for start, end in marks]
    assert not any("\n" in word or word != word.strip() for word in found)
    assert found in [words[at : at + len(found)] for at in range(len(words) + 1)]
    if not re.search("^…|…$", shown):
        assert found == words


@given(drawn=marked())
def test_a_found_word_is_shown(drawn):
    """When a word of ordinary length was found, at least one highlight is in the snippet."""
    text, spans = drawn
    if any(len(line.strip()) <= 40 for start, end in spans for line in lines_of(text[start:end])):
        assert code_snippet(text, spans)[1]


def shown_for(text, *words, width=WIDTH):
    """Return what is shown where these words were found, and what is marked in it."""
    shown, marks = code_snippet(
        text, sorted(match.span() for word in words for match in re.finditer(re.escape(word), text)), width
    )
    return shown, [shown[start:end] for start, end in marks]


def test_lines_around_the_words():
    """The lines with most of the words, one before them and some after, without the indentation that all have."""
    assert shown_for(CAPPING, "λ", "limit", width=110) == (
        '…"""Cap each reading at what the main fuse can pass."""\nlimit = frame["fuse_a"] * 0.23\nfor λ in frame:…',
        ["limit", "λ"],
    )
    assert shown_for(CAPPING, "kwh")[0] == (
        "…for λ in frame:\n    if λ > limit:\n        frame[λ] = limit\n"
        'return frame.assign(kwh=frame["kwh"].clip(upper=limit))'
    )


def test_no_bracket_to_begin_with():
    """A line that only closes what was before says nothing of what comes."""
    shown, _ = shown_for("a = [\n    1,\n]\nfuse = a[0]\n", "fuse")

    assert shown == "…fuse = a[0]"


def test_without_words_the_beginning():
    """Code that was found by its meaning shows how it begins; blank lines take no room."""
    shown, marks = shown_for(CAPPING)

    assert shown.startswith("import pandas as pd\ndef clip_outliers(frame):\n    ")
    assert shown.endswith("…")
    assert marks == []


def test_a_short_text_is_shown_whole():
    """Up to four lines that fit are shown without an ellipsis; one line is as it was written."""
    assert code_snippet("\n  a = [λ]\n\n    b  =  3 \n", [(8, 9)]) == ("a = [λ]\n  b  =  3", ((5, 6),))
    assert code_snippet("🚚🚚 = late", [(5, 9)]) == ("🚚🚚 = late", ((5, 9),))
    assert code_snippet(" \n\t\n", ()) == ("", ())


def test_a_long_line_is_cut_around_its_words():
    """Of a line longer than a snippet the stretch with the words is shown, and of none that is near it anything."""
    text = "a = 1\ns = '" + "so it goes on " * 30 + "to the fuse of Zürich " + "and on " * 40 + "'\nb = 2\n"
    shown, marks = shown_for(text, "fuse", "Zürich")

    assert marks == ["fuse", "Zürich"]
    assert shown.startswith("…") and shown.endswith("…") and "\n" not in shown
    assert WIDTH - 20 < len(shown) <= WIDTH + 2


def test_the_last_line_is_cut_where_it_does_not_fit():
    """Rather than leaving half of the room empty, as much as fits of one more line is shown."""
    shown, marks = shown_for("x" * 60 + "\n    " + "prices = table.groupby(shop) " * 9, "x" * 60)

    assert shown == "x" * 60 + "\n    " + "prices = table.groupby(shop) " * 3 + "prices =…"
    assert marks == ["x" * 60]


def test_a_mark_across_lines_is_one_in_each():
    """A highlight that a line break parts marks its words in both lines, and no indentation."""
    assert code_snippet("a left\n    join b", [(2, 15)]) == ("a left\n    join b", ((2, 6), (11, 15)))


@pytest.mark.parametrize("text", ["\n" * 200_000 + "λ = 3", " " * 200_000 + "\nλ = 3", "λ = 3" + " " * 200_000])
def test_blanks_cost_nothing(text):
    """Hundreds of thousands of blanks are passed over at once."""
    at = text.index("λ")
    shown, marks = code_snippet(text, [(at, at + 1)])

    assert (shown, marks) == ("λ = 3", ((0, 1),))
