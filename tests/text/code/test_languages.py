"""In which language a memory is written."""

from __future__ import annotations

import pytest

from jupyter_memory.text import cell_language, language


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("def umsatz_in_zürich(λ=0.3):\n    return λ", "python"),
        ("# Prices of the week\nimport pandas as pd\nprices = pd.read_csv('zürich.csv')", "python"),
        ("from sklearn.linear_model import Ridge", "python"),
        ("class Prices:\n    pass", "python"),
        ("    async def fetch(self):\n        ...", "python"),
        ("Import duties rose in March, as the table from Zürich shows.", ""),
        ("import duties rose", ""),
        ("The class of λ: see below. We def do this from Monday on.", ""),
        ("from Monday on we import the prices", ""),
        ("", ""),
    ],
)
def test_a_note_is_known_by_its_look(text, known):
    """What defines or imports as Python does is Python; words of English that Python uses too are no code."""
    assert language("", text) == known


def test_what_is_labelled_is_what_it_says():
    """A cell is in the language of its kernel, whatever it looks like."""
    assert language("markdown", "def f(): pass") == "markdown"
    assert language("R", "plot(λ)") == "r"


@pytest.mark.parametrize(
    ("source", "known"),
    [
        ("%%bash\nls zürich", "bash"),
        ("%%sh -e\nls", "bash"),
        ("%%R -i rates\nplot(rates)", "r"),
        ("%%script --bg ruby\nputs 1", "ruby"),
        ("\n%%script /usr/bin/bash\nls", "bash"),
        ("%%capture out\n%%time\n%%sql\nselect 1", "sql"),
        ("%%time\nrates.mean()", "python"),
        ("%%our_own_magic\nrates.mean()", "python"),
        ("rates = 3\n%%bash", "python"),
        ("%bash", "python"),
        ("", "python"),
    ],
)
def test_a_cell_magic_names_the_language(source, known):
    """A cell is in the language of its magic, below those that only measure or capture; else in the kernel's."""
    assert cell_language("python", source) == known
