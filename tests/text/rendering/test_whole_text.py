"""The whole text of a memory: a string as any other, shown as what it is."""

from __future__ import annotations

from IPython.lib.pretty import pretty

from jupyter_memory.text import WholeText, with_outputs

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
