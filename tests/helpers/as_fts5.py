"""What FTS5 itself says of a word, which ours has to equal."""

from __future__ import annotations

from collections.abc import Mapping

import apsw
import pytest

from jupyter_memory.storage.expressions import listed
from jupyter_memory.storage.finds import Scored


def scores_are_those_of_fts5(
    connection: apsw.Connection, found: Scored, word: str, weights: Mapping[str, float]
) -> bool:
    """Return whether each chunk has the score that bm25() gives it for a word, to the last digits, and no other has."""
    expected = connection.execute(
        f"select rowid, -bm25(keyword, {listed(weights)}) from keyword where keyword match ? order by rowid",
        (f'{{{" ".join(weights)}}} : "{word}"',),
    ).fetchall()
    assert found.chunks.tolist() == [chunk for chunk, _ in expected]
    assert found.scores == pytest.approx([one for _, one in expected], rel=1e-12)
    return bool(expected)
