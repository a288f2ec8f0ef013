"""A memory whose title holds every word of the query is probably the one that was meant."""

from __future__ import annotations

from datetime import UTC, datetime
from unicodedata import normalize

import pytest

from jupyter_memory.search.query.parser import parse
from jupyter_memory.search.signals import Title
from jupyter_memory.types import Candidate


@pytest.mark.parametrize(
    ("query", "title", "value"),
    [
        ("roadmap 1.4", "plans/v1.4-ROADMAP.md", 1.0),
        ("roadmap 1.5", "plans/v1.4-ROADMAP.md", 0.0),
        ("ROADMAP", "roadmap", 1.0),
        ('the "roadmap"?', "The roadmap", 1.0),
        ("the roadmap", "Roadmap", 0.0),
        ("preise (zürich)", "Preise in Zürich", 1.0),
        ("STRASSE", "Straße der Kühlung", 1.0),
        ("λ", "Poisson Λ", 1.0),
        ("正規化", "価格の正規化", 1.0),
        ("?!", "Anything?!", 0.0),
        ("prices", "", 0.0),
        (normalize("NFD", "zürich"), "Zürich", 1.0),
        ("zürich", normalize("NFD", "Zürich.ipynb"), 1.0),
    ],
)
def test_all_words_or_nothing(memory, query, title, value):
    """Each word of the query, whatever its case and the punctuation around it, has to be in the title."""
    pool = [Candidate(1, memory(1, title=title), 1)]

    assert Title()(parse(query, now=datetime.now(UTC)), pool) == {1: value}
