"""Markdown: its headings, the prefix of a chunk, how it is read, and the whole text of a memory."""

from __future__ import annotations

import locale
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.lib.pretty import pretty

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


def test_atx_and_setext_headings_are_read() -> None:
    """Both ways to write a Markdown heading count, whatever decorates them."""
    text = (
        "# Prices in Zürich #\n\nText\n\nCleaning the λ\n==============\n\n## **Outliers** <a id='o'></a>\nEnd\n---\n"
    )
    assert seen(text) == [(1, "Prices in Zürich"), (1, "Cleaning the λ"), (2, "Outliers"), (2, "End")]


@pytest.mark.parametrize(
    "text",
    [
        "```python\n# a comment\n```",
        "~~~~\n# inside\n```\n# still inside\n~~~~",
        "```\n# never closed",
        "#no space",
        "####### seven",
        "    # indented code",
        "- item\n---",
        "| a | b |\n---",
        "text\n\n---\n",
        "* * *\n---",
        "#\n",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    """Comments in code, rules, lists and tables are not headings."""
    assert seen(text) == []


def test_a_heading_after_a_fence_counts_again() -> None:
    """A closed code block ends."""
    assert seen("```\n# no\n```\n# Yes\n") == [(1, "Yes")]


def test_front_matter_is_no_heading() -> None:
    """The last key of a front matter is not the text of a heading, though a line of hyphens follows."""
    text = "---\ntitle: Prices\ntags: [λ]\n---\n\n# Prices\n"
    assert front_matter(text) == "---\ntitle: Prices\ntags: [λ]\n---\n"
    assert seen(text) == [(1, "Prices")]


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    """Without a key behind it the first line is a rule, and the headings after it count."""
    assert seen("---\n\nHello\n\n# Prices\n\n---\n") == [(1, "Prices")]


def test_restructured_text_orders_its_adornments_by_first_use() -> None:
    """In reStructuredText the first adornment seen is level one, over- and underlined ones apart."""
    text = "======\nGuide\n======\n\nPrices\n------\n\ntext\n\nOutliers\n~~~~~~~~\n\nTax\n---\n\nshort\n--\n"
    assert seen(text, "rst") == [(1, "Guide"), (2, "Prices"), (3, "Outliers"), (2, "Tax")]


def test_other_languages_have_no_headings() -> None:
    """A Python comment is no heading."""
    assert seen("# Prices\n", "python") == []


def test_plain_text_of_markdown() -> None:
    """In a heading, links stand for their text, tags and emphasis go, names and comparisons stay."""
    text = "# See [the *docs*](http://x.y/z) on `price_eur` <br> if a < b > c"
    assert seen(text) == [(1, "See the docs on price_eur if a < b > c")]


@pytest.mark.parametrize(
    "piece", ["[", "[a](", "<a ", " #", "\\", "- ", "`" * 3 + "\n", "---\n", "a:\n---\n", "#\n", "=\n"]
)
@pytest.mark.parametrize("lang", ["markdown", "rst"])
def test_hostile_text_takes_no_time(piece: str, lang: str) -> None:
    """A long run of half-begun markup is read in linear time."""
    text = "---\na: b\n" + piece * (200_000 // len(piece))
    begun = time.process_time()
    headings(text, lang)
    headings("# " + text.replace("\n", " "), lang)
    assert time.process_time() - begun < 20


@pytest.fixture
def when() -> datetime:
    return datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    yield monkeypatch
    monkeypatch.undo()
    time.tzset()


def test_every_part_has_a_line(when: datetime) -> None:
    """Name, heading path, the Markdown above and the date come in this order."""
    made = context("02_prices.ipynb", ["Prices", "Zürich"], "We *drop* the λ outliers.", when)
    assert made.split("\n") == ["02_prices.ipynb", "Prices > Zürich", "We drop the λ outliers.", day(when)]


def test_empty_parts_are_left_out() -> None:
    """There is no line for what is not known."""
    assert context("notes.md", []) == "notes.md"


def test_sixty_words_of_the_markdown_above() -> None:
    """Of a long explanation only the first sixty words place a cell."""
    above = " ".join(f"w{number}" for number in range(100))
    assert context("a", [], above).split("\n")[1].split(" ") == [f"w{number}" for number in range(60)]


def test_the_date_is_english_and_local(zone: pytest.MonkeyPatch) -> None:
    """Late on a Saturday in UTC is Sunday in Tokyo, and the weekday is English whatever the locale."""
    late = datetime(2026, 11, 21, 22, 30, tzinfo=UTC)
    zone.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        locale.setlocale(locale.LC_TIME, "de_DE.UTF-8")
    except locale.Error:
        locale.setlocale(locale.LC_TIME, "")
    try:
        assert day(late) == "Sunday 22 November 2026"
    finally:
        locale.setlocale(locale.LC_TIME, "C")
    zone.setenv("TZ", "UTC")
    time.tzset()
    assert day(late) == "Saturday 21 November 2026"


def test_headings_go_behind_the_name() -> None:
    """A chunk's prefix is its document's with the heading path as the second line."""
    assert under("notes.md\nSaturday 21 November 2026", ["A", "B"]) == "notes.md\nA > B\nSaturday 21 November 2026"
    assert under("notes.md", ["A"]) == "notes.md\nA"
    assert under("notes.md\nSaturday", []) == "notes.md\nSaturday"


@pytest.mark.parametrize(
    ("headings", "above", "title", "kind", "found"),
    [
        (["Prices", "Zürich", "λ"], "We drop outliers.", "02_prices.ipynb – λ", "cell", "Prices > Zürich"),
        (["λ"], "We drop outliers.", "02_prices.ipynb – λ", "cell", ""),
        ([], "We drop the λ outliers.", "02_prices.ipynb", "cell", ""),
        (["Prices", "λ"], "", "The λ of Müller", "cell", ""),  # a person gave it a title
        (["Weekly log", "Zürich"], "", "notes.md", "file", "Weekly log > Zürich"),
        ([], "", "notes.md", "file", ""),
        ([], "", "The λ of Müller", "note", ""),
    ],
)
def test_headings_are_read_out_of_a_prefix(
    headings: list[str], above: str, title: str, kind: str, found: str, when: datetime
) -> None:
    """What a card shows below its title are the headings that the title does not have, and never other words."""
    name = "" if kind == "note" else "notes.md" if kind == "file" else "02_prices.ipynb"
    assert headings_above(context(name, headings, above, when), title, kind) == found


@pytest.mark.parametrize(
    ("headings", "above", "title", "kind", "found"),
    [
        (["Prices", "λ > 2"], "We drop outliers.", "02_prices.ipynb – λ > 2", "cell", ("λ > 2", "We drop outliers.")),
        (["λ"], "", "02_prices.ipynb – λ", "cell", ("λ", "")),
        ([], "We drop the λ outliers.", "02_prices.ipynb", "cell", ("", "We drop the λ outliers.")),
        ([], "", "02_prices.ipynb", "cell", ("", "")),
        (["Prices", "λ"], "We drop outliers.", "The λ of Müller", "cell", ("", "")),  # a person gave it a title
        (["Weekly log", "Zürich"], "", "notes.md", "file", ("Zürich", "")),
        ([], "", "notes.md", "file", ("", "")),
        ([], "", "The λ of Müller", "note", ("The λ of Müller", "")),
    ],
)
def test_heading_and_words_above_are_read_out_of_a_prefix(
    headings: list[str], above: str, title: str, kind: str, found: tuple[str, str], when: datetime
) -> None:
    """A chunk's own heading and the Markdown above it are told apart from name, other headings and day."""
    name = "" if kind == "note" else "notes.md" if kind == "file" else "02_prices.ipynb"
    prefix = context(name, headings, above, when)
    assert (heading_of(prefix, title, kind), words_above(prefix, title, kind)) == found


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("*k*-means, **not** _ridge_, ~~lasso~~", "k-means, not ridge, lasso"),
        ("***very*** sure (*λ*)", "very sure (λ)"),
        ("in [the docs](https://λ.example/a_(b)), and ![a chart](c.png)", "in the docs, and a chart"),
        ('with [a title](a.md "A title") <https://x.example>', "with a title https://x.example"),
        ("# Prices\n\n## Cleaning\nof March", "Prices\n\nCleaning\nof March"),
        ("call `clip(*λ, **more)` or ``a`b``", "call clip(*λ, **more) or a`b"),
        ("```python\nx = 1\n```", "\nx = 1\n"),
        ("> said he\n> twice", "said he\ntwice"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "| a | b |\n| 1 | 2 |"),
        ("above\n\n---\n\nbelow <b>here</b>", "above\n\n\n\nbelow here"),
        (r"\*not\* \# so", "*not* # so"),
    ],
)
def test_marks_are_not_shown(written, read):
    """Emphasis, links, code, headings, quotes, rules and tags are read, not seen."""
    assert plain(written)[0] == read


@pytest.mark.parametrize(
    "text",
    [
        "def_old * 2 and a*b*c, 2 * 3 * 4",
        "f(*args, **kwargs) in __init__.py, _private and snake_case_name",
        "it costs $5 & $6, or $x_i * y_i * z$ and $$\\lambda_1 * \\lambda_2 * 3$$",
        "prices[i](j) and rates[0], see [1]",
        "issue #5 and C# and a < b > c",
        "-- no rule, ~ about ~ this",
    ],
)
def test_what_only_looks_like_a_mark_stays(text):
    """Names, products, formulas and indices are text."""
    assert plain(text)[0] == text


@pytest.mark.parametrize(
    ("cut", "read"),
    [
        ("as in [In…", "as in In…"),
        ("as in [the docs](https://λ.exam…", "as in the docs…"),
        ("…the table](a.md) of **March** and", "…the table of March and"),
        ("…boosted** trees", "…boosted trees"),
        ("the **boosted trees…", "the boosted trees…"),
        ("…## Cleaning the rates", "…Cleaning the rates"),
        ("…of *args and **kwargs", "…of *args and **kwargs"),
    ],
)
def test_what_was_cut_leaves_no_half_marks(cut, read):
    """A link or an emphasis that lost one of its ends is read all the same."""
    assert plain(cut)[0] == read


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
    """Return whether the characters of a part are in the whole, in order."""
    left = iter(whole)
    return all(one in left for one in part)


def test_first_words():
    """The first line that says something, without its marks, cut between words; of code as it is written."""
    assert first_words("\n\n## The *rates* of March\n\nand more") == "The rates of March"
    assert first_words("Zürich " * 20) == "Zürich " * 8 + "…"
    assert first_words("# load\nλ = 3", markdown=False) == "# load"
    assert first_words("  \n") == ""


def test_which_memories_are_markdown():
    """Cells and files say so; a note that says nothing may be."""
    assert is_markdown("cell", "markdown") and is_markdown("file", "MD") and is_markdown("note", "")
    assert not is_markdown("cell", "python") and not is_markdown("file", "") and not is_markdown("note", "python")


PROSE = "## Rates\n\n| shop | λ |\n|---|---|\n| a | $\\lambda_1$ |\n\nsee [the *docs*](a.md)"


def test_it_is_the_text():
    """Compared, cut or written, it is what is stored."""
    whole = WholeText.of(PROSE, "note", "")
    assert whole == PROSE and isinstance(whole, str) and whole.split("\n")[0] == "## Rates"


def test_markdown_is_left_to_the_notebook():
    """A notebook gets Markdown with its formulas and tables; a terminal gets it without its marks."""
    whole = WholeText.of(PROSE, "cell", "markdown")
    assert whole._repr_markdown_() == PROSE
    assert pretty(whole) == repr(whole) == "Rates\n\n| shop | λ |\n| a | $\\lambda_1$ |\n\nsee the docs"


def test_code_is_a_block():
    """Code and its outputs are blocks of their own, whatever backticks they hold, and never Markdown."""
    whole = WholeText.of(with_outputs("print('```')  # *λ*", "<b>```</b>"), "cell", "python")
    assert whole._repr_markdown_() == "````python\nprint('```')  # *λ*\n````\n\n````\n<b>```</b>\n````"
    assert pretty(whole) == str(whole)


def test_what_nobody_sees_is_marked():
    """Shown, controls are marks; the string keeps them."""
    whole = WholeText.of("λ \x1b[2J", "note", "")
    assert "\x1b" not in whole._repr_markdown_() + pretty(whole) and "\x1b" in whole


def test_several_texts_stand_below_their_headings():
    """Together they are one string; each is shown as what it is."""
    joined = WholeText.joined([("1 a", WholeText.of("*λ*", "note", "")), ("2 b", WholeText.of("x * y", "cell", "r"))])
    assert joined == "1 a\n*λ*\n\n2 b\nx * y"
    assert joined._repr_markdown_() == "```\n1 a\n```\n\n*λ*\n\n```\n2 b\n```\n\n```r\nx * y\n```"
