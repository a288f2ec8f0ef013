"""Sums of token vectors, held against a plain loop."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from jupyter_memory.embedders import pooling
from jupyter_memory.embedders.pooling import sum_tokens, with_padding


@pytest.fixture
def table():
    return np.random.default_rng(5).normal(size=(100, 16)).astype(np.float16)


def test_as_a_loop_does_it(table):
    """Texts of 1 to 3,000 tokens, in no order, each get the sum of their own rows."""
    random = np.random.default_rng(6)
    token_ids = [random.integers(0, 100, random.integers(1, 60)).tolist() for _ in range(500)]
    token_ids[17] = random.integers(0, 100, 3000).tolist()
    expected = [table[ids].astype(np.float64).sum(axis=0) for ids in token_ids]

    assert np.allclose(sum_tokens(with_padding(mx.array(table)), token_ids), expected, atol=1e-3)


def test_neighbours_do_not_matter(table):
    """A text has the same sum to the last bit alone, and padded beside a longer one."""
    padded = with_padding(mx.array(table))
    alone = sum_tokens(padded, [[3, 1, 4, 1, 5]])

    together = sum_tokens(padded, [list(range(90)), [3, 1, 4, 1, 5], [9]])

    assert np.array_equal(together[1], alone[0])


def test_no_texts(table):
    """No texts have no sums, in the right shape."""
    assert sum_tokens(with_padding(mx.array(table)), []).shape == (0, 16)


def test_groups_are_bounded(monkeypatch):
    """However many texts, no group takes more slots than allowed, unless one text alone does."""
    monkeypatch.setattr(pooling, "_SLOTS", 100)
    token_ids = [[0] * length for length in (7, 300, 20, 20, 1, 20, 20, 20, 50, 50)]

    groups = [[len(token_ids[row]) for row in group] for group in pooling._alike(token_ids)]

    assert groups == [[1, 7, 20, 20, 20], [20, 20], [50, 50], [300]]
