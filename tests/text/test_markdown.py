"""Markdown: its headings, the prefix of a chunk, how it is read, and the whole text of a memory."""

import locale
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.lib.pretty import pretty
from zones import zone

from jupyter_memory import text as room
from jupyter_memory.text import (
    WholeText,
    context,
    day,
    first_words,
    front_matter,
    heading_of,
    headings_above,
    is_markdown,
    plain,
    under,
    with_outputs,
    words_above,
)

# A module of the room may be called like its function.
_found = room.headings
headings = getattr(_found, "headings", _found)


def seen(text: str, lang: str = "markdown") -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in headings(text, lang)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # Both ways to write a heading count, whatever decorates them.
        ("# Prices in Zürich #\n\nText\n\nThe λ\n=====", [(1, "Prices in Zürich"), (1, "The λ")]),
        ("## **Outliers** <a id='o'></a>\nEnd\n---\n", [(2, "Outliers"), (2, "End")]),
        # Links stand for their text, tags and emphasis go, names and comparisons stay.
        ("# See [the *docs*](http://x.y) on `price_eur` <br> if a < b", [(1, "See the docs on price_eur if a < b")]),
        # Comments in code, rules, lists and tables are not headings.
        *((text, []) for text in ("```python\n# a comment\n```", "~~~~\n# inside\n```\n# still inside\n~~~~")),
        *((text, []) for text in ("```\n# never closed", "#no space", "####### seven", "    # indented code")),
        *((text, []) for text in ("- item\n---", "| a | b |\n---", "text\n\n---\n", "* * *\n---", "#\n")),
        ("```\n# no\n```\n# Yes\n", [(1, "Yes")]),
        # The last key of a front matter is none; without a key behind it the first line is a rule.
        ("---\ntitle: Prices\ntags: [λ]\n---\n\n# Prices\n", [(1, "Prices")]),
        ("---\n\nHello\n\n# Prices\n\n---\n", [(1, "Prices")]),
    ],
)
def test_headings_of_markdown(text: str, found: list[tuple[int, str]]) -> None:
    assert seen(text) == found


def test_headings_of_other_languages() -> None:
    """In reStructuredText the first adornment is level one, over- and underlined ones apart; code has no headings."""
    text = "======\nGuide\n======\n\nPrices\n------\n\ntext\n\nOutliers\n~~~~~~~~\n\nTax\n---\n\nshort\n--\n"
    assert seen(text, "rst") == [(1, "Guide"), (2, "Prices"), (3, "Outliers"), (2, "Tax")]
    assert seen("# Prices\n", "python") == []
    assert front_matter("---\ntitle: Prices\n---\n\n# Prices\n") == "---\ntitle: Prices\n---\n"


@pytest.mark.parametrize(
    "piece", ["[", "[a](", "<a ", " #", "\\", "- ", "`" * 3 + "\n", "---\n", "a:\n---\n", "#\n", "=\n"]
)
@pytest.mark.parametrize("lang", ["markdown", "rst"])
def test_hostile_text_takes_no_time(piece: str, lang: str) -> None:
    text = "---\na: b\n" + piece * (200_000 // len(piece))
    begun = time.process_time()
    headings(text, lang)
    headings("# " + text.replace("\n", " "), lang)
    assert time.process_time() - begun < 20


WHEN = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def test_every_part_of_a_prefix_has_a_line() -> None:
    """Name, heading path, the Markdown above and the date come in this order; what is not known has no line."""
    made = context("02_prices.ipynb", ["Prices", "Zürich"], "We *drop* the λ outliers.", WHEN)
    assert made.split("\n") == ["02_prices.ipynb", "Prices > Zürich", "We drop the λ outliers.", day(WHEN)]
    assert context("notes.md", []) == "notes.md"
    # Of a long explanation only the first sixty words place a cell.
    words = [f"w{number}" for number in range(100)]
    assert context("a", [], " ".join(words)).split("\n")[1].split(" ") == words[:60]
    # A chunk's prefix is its document's with the heading path as the second line.
    assert under("notes.md\nSaturday", ["A", "B"]) == "notes.md\nA > B\nSaturday"
    assert (under("notes.md", ["A"]), under("notes.md\nSaturday", [])) == ("notes.md\nA", "notes.md\nSaturday")


def test_the_date_is_english_and_local() -> None:
    """Late on a Saturday in UTC is Sunday in Tokyo, and the weekday is English whatever the locale."""
    late = datetime(2026, 11, 21, 22, 30, tzinfo=UTC)
    assert day(late) == "Saturday 21 November 2026"
    try:
        locale.setlocale(locale.LC_TIME, "de_DE.UTF-8")
    except locale.Error:
        locale.setlocale(locale.LC_TIME, "")
    try:
        with zone("Asia/Tokyo"):
            assert day(late) == "Sunday 22 November 2026"
    finally:
        locale.setlocale(locale.LC_TIME, "C")


@pytest.mark.parametrize(
    ("headings", "above", "title", "kind", "path", "heading"),
    [
        (["Prices", "Zürich", "λ > 2"], "We drop it.", "n.ipynb – λ > 2", "cell", "Prices > Zürich", "λ > 2"),
        (["λ"], "We drop outliers.", "n.ipynb – λ", "cell", "", "λ"),
        ([], "We drop the λ outliers.", "n.ipynb", "cell", "", ""),
        ([], "", "n.ipynb", "cell", "", ""),
        (["Prices", "λ"], "", "The λ of Müller", "cell", "", ""),  # a person gave it a title
        (["Weekly log", "Zürich"], "", "notes.md", "file", "Weekly log > Zürich", "Zürich"),
        ([], "", "notes.md", "file", "", ""),
        ([], "", "The λ of Müller", "note", "", "The λ of Müller"),
    ],
)
def test_headings_and_words_above_are_read_out_of_a_prefix(headings, above, title, kind, path, heading) -> None:
    """A card shows the headings that the title does not have; its own heading and the words above are told apart."""
    prefix = context({"note": "", "file": "notes.md", "cell": "n.ipynb"}[kind], headings, above, WHEN)
    assert headings_above(prefix, title, kind) == path
    assert (heading_of(prefix, title, kind), words_above(prefix, title, kind)) == (heading, above)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("*k*-means, **not** _ridge_, ~~lasso~~", "k-means, not ridge, lasso"),
        ("***very*** sure (*λ*)", "very sure (λ)"),
        ("in [the docs](https://λ.example/a_(b)), and ![a chart](c.png)", "in the docs, and a chart"),
        ('with [a title](a.md "A title") <https://x.example>', "with a title https://x.example"),
        ("# Prices\n\n## Cleaning\nof March", "Prices\n\nCleaning\nof March"),
        ("call `clip(*λ, **more)` or ``a`b``", "call clip(*λ, **more) or a`b"),
        ("```python\nx = 1\n```", "\nx = 1\n"), ("> said he\n> twice", "said he\ntwice"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "| a | b |\n| 1 | 2 |"),
        ("above\n\n---\n\nbelow <b>here</b>", "above\n\n\n\nbelow here"),
        (r"\*not\* \# so", "*not* # so"),
        # A link or an emphasis that lost one of its ends is read all the same.
        ("as in [In…", "as in In…"), ("as in [the docs](https://λ.exam…", "as in the docs…"),
        ("…the table](a.md) of **March** and", "…the table of March and"),
        ("…boosted** trees", "…boosted trees"), ("the **boosted trees…", "the boosted trees…"),
        ("…## Cleaning the rates", "…Cleaning the rates"),
        # Names, products, formulas and indices are text.
        ("…of *args and **kwargs", None), ("def_old * 2 and a*b*c, 2 * 3 * 4", None),
        ("f(*args, **kwargs) in __init__.py, _private and snake_case_name", None),
        ("it costs $5 & $6, or $x_i * y_i * z$ and $$\\lambda_1 * \\lambda_2 * 3$$", None),
        ("prices[i](j) and rates[0], see [1]", None), ("issue #5 and C# and a < b > c", None),
        ("-- no rule, ~ about ~ this", None),
    ],
)  # fmt: skip
def test_marks_are_not_shown(written, read):
    """Emphasis, links, code, headings, quotes, rules and tags are read, not seen; what only looks like them stays."""
    assert plain(written)[0] == (written if read is None else read)


@given(st.text("ab *_`[]()!#$~\\\n…λ<>|-", min_size=1, max_size=60), st.data())
def test_places_go_with_their_words(text, data):
    """A place of the text has what it had but for marks; nothing is added, and the order stays."""
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    shown, spans = plain(text, [(start, end)])
    letters = [one for one in text[start:end] if one in "abλ"]
    assert iter_contains(text, shown)
    if spans:
        [(a, b)] = spans
        assert 0 <= a < b <= len(shown)
        assert iter_contains(text[start:end], shown[a:b])
        assert [one for one in shown[a:b] if one in "abλ"] == letters or "<" in text or "](" in text or "`" in text


def iter_contains(whole, part):
    left = iter(whole)
    return all(one in left for one in part)


def test_first_words():
    """The first line that says something, cut between words; cells and files say whether they are Markdown."""
    assert first_words("\n\n## The *rates* of March\n\nand more") == "The rates of March"
    assert first_words("Zürich " * 20) == "Zürich " * 8 + "…"
    assert first_words("# load\nλ = 3", markdown=False) == "# load"
    assert first_words("  \n") == ""
    assert is_markdown("cell", "markdown") and is_markdown("file", "MD") and is_markdown("note", "")
    assert not is_markdown("cell", "python") and not is_markdown("file", "") and not is_markdown("note", "python")


PROSE = "## Rates\n\n| shop | λ |\n|---|---|\n| a | $\\lambda_1$ |\n\nsee [the *docs*](a.md)"


def test_a_whole_text():
    """A notebook gets Markdown and blocks of code, a terminal plain text; several stand below their headings."""
    whole = WholeText.of(PROSE, "cell", "markdown")
    assert whole._repr_markdown_() == whole == PROSE and whole.split("\n")[0] == "## Rates"
    assert pretty(whole) == repr(whole) == "Rates\n\n| shop | λ |\n| a | $\\lambda_1$ |\n\nsee the docs"
    # Shown, controls are marks; the string keeps them.
    hidden = WholeText.of("λ \x1b[2J", "note", "")
    assert "\x1b" not in hidden._repr_markdown_() + pretty(hidden) and "\x1b" in hidden
    whole = WholeText.of(with_outputs("print('```')  # *λ*", "<b>```</b>"), "cell", "python")
    assert whole._repr_markdown_() == "````python\nprint('```')  # *λ*\n````\n\n````\n<b>```</b>\n````"
    assert pretty(whole) == str(whole)
    joined = WholeText.joined([("1 a", WholeText.of("*λ*", "note", "")), ("2 b", WholeText.of("x * y", "cell", "r"))])
    assert joined == "1 a\n*λ*\n\n2 b\nx * y"
    assert joined._repr_markdown_() == "```\n1 a\n```\n\n*λ*\n\n```\n2 b\n```\n\n```r\nx * y\n```"
