"""Sums of token vectors, held against a plain loop."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from jupyter_memory.embedders import static
from jupyter_memory.embedders.static import sum_tokens


@pytest.fixture
def table():
    return np.random.default_rng(5).normal(size=(100, 16)).astype(np.float32)


def sums(table, token_ids):
    ids = np.array([id_ for of_text in token_ids for id_ in of_text], dtype=np.int32)
    return sum_tokens(mx.array(table), ids, np.cumsum([len(of_text) for of_text in token_ids], dtype=np.int64))


def test_as_a_loop_does_it(table):
    """Texts of no to 9,000 tokens, in no order, each get the sum of their own rows."""
    random = np.random.default_rng(6)
    token_ids = [random.integers(0, 100, random.integers(0, 60)).tolist() for _ in range(500)]
    token_ids[17] = random.integers(0, 100, 9000).tolist()
    expected = [table[ids].astype(np.float64).sum(axis=0) for ids in token_ids]

    assert np.allclose(sums(table, token_ids), expected, atol=1e-3)


def test_neighbours_do_not_matter(table):
    """A text has the same sum alone and beside others, to the rounding of float32."""
    together = sums(table, [list(range(90)), [3, 1, 4, 1, 5], [9]])

    assert np.allclose(together[1], sums(table, [[3, 1, 4, 1, 5]])[0], atol=1e-5)


def test_no_texts(table):
    """No texts have no sums, in the right shape."""
    assert sums(table, []).shape == (0, 16)


def test_groups_are_bounded(monkeypatch):
    """However many texts, no group has more rows or tokens than allowed, unless one text alone does."""
    monkeypatch.setattr(static, "_GROUP_TOKENS", 100)
    monkeypatch.setattr(static, "_GROUP_ROWS", 3)
    ends = np.cumsum([7, 300, 20, 20, 1, 20, 20, 20, 50, 50])

    assert list(static._groups(ends)) == [(0, 1), (1, 2), (2, 5), (5, 8), (8, 10)]
