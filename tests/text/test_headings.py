"""Claims about reading headings."""

from __future__ import annotations

import time

import pytest

from jupyter_memory import text as room
from jupyter_memory.text import front_matter

# A module of the room is still called so, too.
headings = room.__getattr__("headings")


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
