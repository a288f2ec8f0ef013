"""In which language a memory is written."""

from __future__ import annotations

import pytest

from jupyter_memory.ranking.languages import language


@pytest.mark.parametrize(
    "code",
    [
        "def umsatz_in_zürich(λ=0.3):\n    return λ",
        "# Prices of the week\nimport pandas as pd\nprices = pd.read_csv('zürich.csv')",
        "from sklearn.linear_model import Ridge",
        "class Prices:\n    pass",
        "    async def fetch(self):\n        ...",
    ],
)
def test_a_note_of_code_is_known_by_its_look(memory, code):
    """What defines or imports something as Python does is Python, although nobody says so."""
    assert language(memory(text=code)) == "python"


@pytest.mark.parametrize(
    "text",
    [
        "Import duties rose in March, as the table from Zürich shows.",
        "import duties rose",
        "The class of λ: see below. We def do this from Monday on.",
        "from Monday on we import the prices",
        "",
    ],
)
def test_prose_is_no_code(memory, text):
    """Words of English that Python uses too make no code of a note."""
    assert language(memory(text=text)) == ""


def test_what_is_labelled_is_what_it_says(memory):
    """A cell is in the language of its kernel, whatever it looks like."""
    assert language(memory(text="def f(): pass", lang="markdown")) == "markdown"
    assert language(memory(text="plot(λ)", lang="R")) == "r"
