"""BM25 word by word: FTS5's own numbers, whatever the columns."""

from __future__ import annotations

import pytest
from as_fts5 import scores_are_those_of_fts5

from jupyter_memory.storage.bm25 import Layout, score
from jupyter_memory.types import Draft

WORDS = ["prices", "λ", "Zürich", "df.groupby", "normalised"]


@pytest.mark.parametrize(
    "weights", [{"title": 5.0, "text": 1.0}, {"text": 0.3, "ident": 0.7, "tags": 2.0}, {"title": 1.0}]
)
@pytest.mark.parametrize(
    ("stem", "word"),
    [("price", "price"), ("λ", "λ"), ("zurich", "zurich"), ("groupbi", "groupby"), ("nowhere", "nowhere")],
)
def test_as_fts5(database, remember, weights, stem, word):
    """Each chunk has the score that bm25() gives it, to the last digits, and no other chunk has one."""
    opened = database()
    drafts = [
        Draft(text=" ".join(WORDS[j % 5] for j in range(i, i * 3)) or "—", title=WORDS[i % 5], tags=(WORDS[i % 3],))
        for i in range(60)
    ]
    remember(opened, *drafts)
    with opened.read() as connection:
        found = score(connection, stem, weights, Layout.read(connection)).scored
        some = scores_are_those_of_fts5(connection, found, word, weights)
    assert some == (word != "nowhere")


def test_no_chunks(database):
    """An empty index has no lengths and no scores."""
    with database().read() as connection:
        layout = Layout.read(connection)
        assert layout.chunks == 0
        assert score(connection, "price", {"text": 1.0}, layout).scored.chunks.size == 0
