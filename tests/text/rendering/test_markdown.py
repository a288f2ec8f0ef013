"""Markdown as its reader sees it, also where a snippet was cut out of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.text import first_words, is_markdown, plain


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
