"""A sentence that the panel translates, and so cannot take from an answer."""

from pathlib import Path

from jupyter_memory.types import UNANSWERED

VERDICT = Path(__file__).parents[2] / "labextension/src/components/header/verdict.tsx"


def test_the_panel_says_what_python_says() -> None:
    """That nothing answers the query has the same words in the panel, in a notebook and in a terminal."""
    assert f"trans.__('{UNANSWERED}')" in VERDICT.read_text(encoding="utf-8")
