"""In which language a memory is written."""

from __future__ import annotations

import pytest

from jupyter_memory.text.code.languages import language


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
