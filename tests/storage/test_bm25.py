"""BM25 word by word: FTS5's own numbers, whatever the columns, and SQLite's integers read back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.storage.bm25 import Lengths, listed, score, varints
from jupyter_memory.types import Draft

WORDS = ["prices", "λ", "Zürich", "df.groupby", "normalised"]


@pytest.mark.parametrize(
    "weights", [{"title": 5.0, "text": 1.0}, {"text": 0.3, "ident": 0.7, "tags": 2.0}, {"title": 1.0}]
)
@pytest.mark.parametrize("stem", ["price", "λ", "zurich", "groupbi", "nowhere"])
def test_as_fts5(database, remember, weights, stem):
    """Each chunk has the score that bm25() gives it, to the last digits, and no other chunk has one."""
    opened = database()
    drafts = [
        Draft(text=" ".join(WORDS[j % 5] for j in range(i, i * 3)) or "—", title=WORDS[i % 5], tags=(WORDS[i % 3],))
        for i in range(60)
    ]
    remember(opened, *drafts)
    with opened.read() as connection:
        found = score(connection, stem, weights, Lengths.read(connection)).scored
        expected = connection.execute(
            f"select rowid, -bm25(keyword, {listed(weights)}) from keyword where keyword match ? order by rowid",
            (f'{{{" ".join(weights)}}} : "{stem.replace("groupbi", "groupby")}"',),
        ).fetchall()
    assert found.chunks.tolist() == [chunk for chunk, _ in expected]
    assert found.scores == pytest.approx([one for _, one in expected], rel=1e-12)


def test_no_chunks(database):
    """An empty index has no lengths and no scores."""
    with database().read() as connection:
        lengths = Lengths.read(connection)
        assert lengths.chunks == 0
        assert score(connection, "price", {"text": 1.0}, lengths).scored.chunks.size == 0


@given(st.lists(st.integers(0, 2**40)))
def test_varints(numbers):
    """Integers come back as they were written: seven bits to a byte, the highest first."""

    def written(number):
        pieces = [number & 0x7F]
        while number := number >> 7:
            pieces.append(number & 0x7F | 0x80)
        return bytes(reversed(pieces))

    assert np.array_equal(varints(b"".join(map(written, numbers))), numbers)
