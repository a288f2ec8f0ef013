"""The stretch that is shown of a text: of prose one line, of code some whole lines, with the query's words in it."""

import re
from functools import partial
from os.path import commonprefix

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.search import snippet

code_snippet = partial(snippet, code=True)
# The characters of a snippet, and the lines of one of code.
WIDTH, LINES = 160, 4
BREAKS = st.sampled_from(["\n", "\r\n", "\n\n", "\n \t\n", "\r", "\u2028", "\v"])
INDENTS = st.sampled_from(["", "    ", "        ", "\t", "  \t"])
WIDTHS = st.sampled_from([WIDTH, 40])
CAPPING = '''import pandas as pd


def clip_outliers(frame):
    """Cap each reading at what the main fuse can pass."""

    limit = frame["fuse_a"] * 0.23
    for λ in frame:
        if λ > limit:
            frame[λ] = limit
    return frame.assign(kwh=frame["kwh"].clip(upper=limit))
'''


WORDS = st.text(st.sampled_from("abλüŁ東🚚"), min_size=1, max_size=12) | st.text(
    st.sampled_from("xy"), min_size=150, max_size=400
)


@st.composite
def texts(draw):
    """Draw lines of words with any indentation between any breaks, and marks of one or more whole words in them."""
    text, edges = draw(BREAKS | st.just("")), []
    for names in draw(st.lists(st.lists(WORDS, min_size=1, max_size=12), max_size=12)):
        text += draw(INDENTS)
        for name in names:
            edges.append((len(text), len(text) + len(name)))
            text += name + draw(st.sampled_from([" ", "  ", "\t"]))
        text += draw(BREAKS)
    spans, after = [], 0
    for first in draw(st.lists(st.integers(0, max(0, len(edges) - 1)), unique=True, max_size=12).map(sorted)):
        last = min(first + draw(st.integers(0, 2)), len(edges) - 1)
        if edges and edges[first][0] >= after:
            spans.append((edges[first][0], edges[last][1]))
            after = edges[last][1]
    return text, spans


def flat(text):
    return re.sub(r"\s+", " ", text).strip()


def lines_of(text):
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def shown_for(text, *words, show=snippet, width=WIDTH):
    """Return what is shown where these words were found, and what is marked in it."""
    spans = sorted(match.span() for word in words for match in re.finditer(re.escape(word), text))
    shown, marked = show(text, spans, width)
    return shown, [shown[start:end] for start, end in marked]


@given(drawn=texts(), width=WIDTHS)
def test_any_prose(drawn, width):
    """A snippet is a stretch of the text, white space folded, with an ellipsis where something is left out."""
    text, spans = drawn
    shown, marked = snippet(text, spans, width)
    body = shown.removeprefix("…").removesuffix("…")
    assert len(shown) <= width + 2 and not re.search(r"[\n\t]|  ", shown)
    assert body in flat(text) and bool(flat(text)) == bool(body)
    assert shown.startswith("…") or flat(text).startswith(body)
    assert shown.endswith("…") or flat(text).endswith(body)

    words, found, at = [flat(text[start:end]) for start, end in spans], [shown[start:end] for start, end in marked], 0
    assert all(0 <= start < end <= len(shown) for start, end in marked) and list(marked) == sorted(marked)
    for word in found:
        at = words.index(word, at) + 1
    assert found == words or len(flat(text)) > width
    assert snippet(text, spans)[1] or all(len(word) > 40 for word in words)


@given(drawn=texts(), width=WIDTHS)
def test_any_code(drawn, width):
    """Some lines one after another, less one indentation; all but the first and the last, which may be cut, whole."""
    text, spans = drawn
    shown, marked = code_snippet(text, spans, width)
    lines, whole = shown.removeprefix("…").removesuffix("…").split("\n"), lines_of(text)

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

    assert len(shown) <= width + 2 and len(lines) <= LINES and bool(shown) == bool(whole)
    if whole:
        assert all(line.strip() for line in lines) and len(shown.splitlines()) == len(lines)
        assert any(map(fits, range(len(whole))))

    words = [line.strip() for start, end in spans for line in lines_of(text[start:end])]
    found = [shown[start:end] for start, end in marked]
    assert all(0 <= start < end <= len(shown) for start, end in marked) and list(marked) == sorted(marked)
    assert not any("\n" in word or word != word.strip() for word in found)
    assert found in [words[at : at + len(found)] for at in range(len(words) + 1)]
    assert found == words or re.search("^…|…$", shown)
    assert code_snippet(text, spans)[1] or all(len(word) > 40 for word in words)


@pytest.mark.parametrize(
    ("show", "text", "spans", "shown"),
    [
        # What fits is shown whole, without an ellipsis, and places are counted in code points.
        (snippet, "  The λ is\n\t3.2  ", [(6, 7)], ("The λ is 3.2", ((4, 5),))),
        (snippet, "ü" * WIDTH, (), ("ü" * WIDTH, ())), (snippet, "🚚🚚 late", [(3, 7)], ("🚚🚚 late", ((3, 7),))),
        (code_snippet, "\n  a = [λ]\n\n    b  =  3 \n", [(8, 9)], ("a = [λ]\n  b  =  3", ((5, 6),))),
        (code_snippet, "🚚🚚 = late", [(5, 9)], ("🚚🚚 = late", ((5, 9),))),
        (code_snippet, " \n\t\n", (), ("", ())),
        # A phrase that the text breaks is marked as one in prose, in both lines of code.
        (snippet, "a left\n    join b", [(2, 15)], ("a left join b", ((2, 11),))),
        (code_snippet, "a left\n    join b", [(2, 15)], ("a left\n    join b", ((2, 6), (11, 15)))),
        # Hundreds of thousands of blanks are passed over at once.
        *[(code_snippet, text, [(at := text.index("λ"), at + 1)], ("λ = 3", ((0, 1),)))
          for text in ("\n" * 200_000 + "λ = 3", " " * 200_000 + "\nλ = 3", "λ = 3" + " " * 200_000)],
    ],
)  # fmt: skip
def test_a_short_text_is_shown_whole(show, text, spans, shown):
    assert show(text, spans) == shown


def test_the_window_with_most_different_words():
    """The window with most different words, the earlier of equals, cut between words; else the beginning."""
    text = "prices " * 5 + "and much else besides. " * 20 + "The prices in Zürich fell. " + "More of it. " * 30
    shown, marked = shown_for(text, "prices", "Zürich")
    assert "The prices in Zürich fell." in shown and marked == ["prices", "Zürich"]
    assert shown.startswith("…") and shown.endswith("…")
    text = "In March λ was 3.2. " + "Nothing here. " * 40 + "In April λ was 4.1. " + "Nothing here. " * 40
    assert shown_for(text, "λ")[0].startswith("In March λ was 3.2.")
    text = "Deliveries to Malmö were late. " * 30 + "The carrier blames snow. " + "Deliveries to Malmö were late. " * 30
    shown, _ = shown_for(text, "snow")
    assert set(shown.strip("…").split()) <= set(text.split()) and not shown.startswith("… ")
    shown, marked = shown_for("We scaled the prices to zero mean. " * 20)
    assert shown.startswith("We scaled the prices") and shown.endswith("…") and not shown.endswith(" …")
    assert marked == []
    shown, marked = shown_for(CAPPING, show=code_snippet)
    assert shown.startswith("import pandas as pd\ndef clip_outliers(frame):\n    ") and shown.endswith("…")
    assert marked == []


@pytest.mark.parametrize("word", ["x" * 5000, "東京都の電力価格を正規化した" * 60, "🚚" * 900])
def test_a_long_word_is_cut(word):
    shown, marked = shown_for(word + "λλ" + word, "λλ")
    assert len(shown) <= WIDTH + 2 and marked == ["λλ"]


def test_pairs_of_a_script_without_spaces_are_marked_as_one_stretch(store):
    """Overlapping pairs become one mark, beside the marks of other words."""
    memory = store(embedder=None)
    memory.add("the price of 東京塔 and 東京")
    [hit] = memory.hits("price 東京塔").hits
    assert [hit.snippet[start:end] for start, end in hit.highlights] == ["price", "東京塔", "東京"]


def test_lines_around_the_words():
    """The lines with most of the words and some around, without their common indentation; long ones are cut."""
    assert shown_for(CAPPING, "λ", "limit", show=code_snippet, width=110) == (
        '…"""Cap each reading at what the main fuse can pass."""\nlimit = frame["fuse_a"] * 0.23\nfor λ in frame:…',
        ["limit", "λ"],
    )
    assert shown_for(CAPPING, "kwh", show=code_snippet)[0] == (
        "…for λ in frame:\n    if λ > limit:\n        frame[λ] = limit\n"
        'return frame.assign(kwh=frame["kwh"].clip(upper=limit))'
    )
    # A line that only closes what was before says nothing of what comes.
    assert shown_for("a = [\n    1,\n]\nfuse = a[0]\n", "fuse", show=code_snippet)[0] == "…fuse = a[0]"
    text = "a = 1\ns = '" + "so it goes on " * 30 + "to the fuse of Zürich " + "and on " * 40 + "'\nb = 2\n"
    shown, marked = shown_for(text, "fuse", "Zürich", show=code_snippet)
    assert marked == ["fuse", "Zürich"] and WIDTH - 20 < len(shown) <= WIDTH + 2
    assert shown.startswith("…") and shown.endswith("…") and "\n" not in shown
    first = "x" * 60
    shown, marked = shown_for(f"{first}\n    " + "prices = table.groupby(shop) " * 9, first, show=code_snippet)
    assert shown == f"{first}\n    " + "prices = table.groupby(shop) " * 3 + "prices =…" and marked == [first]
