"""Sums of token vectors, held against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest

from jupyter_memory import EmbedderError
from jupyter_memory.embedders.runtime import token_table
from jupyter_memory.embedders.runtime.arithmetic import NumpyTable
from jupyter_memory.embedders.runtime.mlx import mx
from jupyter_memory.embedders.runtime.mlx_table import MlxTable
from jupyter_memory.embedders.runtime.token_table import Pooling, sum_tokens

RANDOM = np.random.default_rng(5)


@pytest.fixture(scope="module")
def table():
    return RANDOM.normal(size=(100, 16)).astype(np.float16).astype(np.float32)


@pytest.fixture(params=[MlxTable, NumpyTable], ids=["MLX", "NumPy"])
def loaded(request, table, tmp_path):
    """The table, read from a file of half precision by each arithmetic."""
    file = tmp_path / "table.safetensors"
    mx.save_safetensors(str(file), {"embedding.weight": mx.array(table).astype(mx.float16)})
    return request.param(file)


def sums(loaded, token_ids):
    ids = np.array([id_ for of_text in token_ids for id_ in of_text], dtype=np.int32)
    ends = np.cumsum([len(of_text) for of_text in token_ids], dtype=np.int64)
    return loaded.run(lambda: sum_tokens(loaded, ids, ends))


def test_as_a_loop_does_it(loaded, table):
    """Texts of no to 9,000 tokens, in no order, each get the sum of their own rows."""
    random = np.random.default_rng(6)
    token_ids = [random.integers(0, 100, random.integers(0, 60)).tolist() for _ in range(500)]
    token_ids[17] = random.integers(0, 100, 9000).tolist()
    expected = [table[ids].astype(np.float64).sum(axis=0) for ids in token_ids]

    assert np.allclose(sums(loaded, token_ids), expected, atol=1e-3)


def test_a_token_counts_less_the_more_of_a_text_it_is(loaded, table):
    """As a loop does it, alone and beside others: a token that is as much of a text as the saturation counts half."""
    ids, ends = np.array([3, 3, 3, 1, 7, 8, 9, 9], np.int32), np.array([4, 6, 6, 8])
    counted = [{3: 3, 1: 1}, {7: 1, 8: 1}, {}, {9: 2}]
    expected = np.zeros((4, table.shape[1]))
    for row, counts in enumerate(counted):
        for id_, count in counts.items():
            expected[row] += table[id_] * count * 0.5 / (count / sum(counts.values()) + 0.5)

    together = loaded.run(lambda: sum_tokens(loaded, ids, ends, Pooling(saturation=0.5)))
    alone = loaded.run(lambda: sum_tokens(loaded, ids[:4], ends[:1], Pooling(saturation=0.5)))

    assert np.allclose(together, expected, atol=1e-4)
    assert np.allclose(alone[0], expected[0], atol=1e-4)


def test_the_first_tokens_of_a_text_count_more(loaded, table):
    """The first counts double; after as many tokens as the lead, the excess is a third (1/e)."""
    ids, ends = np.array([3, 4, 3, 7], np.int32), np.array([3, 3, 4])

    found = loaded.run(lambda: sum_tokens(loaded, ids, ends, Pooling(lead=2)))

    first = (2 + 1 + np.exp(-1)) * table[3] + (1 + np.exp(-0.5)) * table[4]
    assert np.allclose(found, [first, np.zeros(table.shape[1]), 2 * table[7]], atol=1e-4)


def test_neighbours_do_not_matter(loaded):
    """A text has the same sum alone and beside others, to the rounding of float32."""
    together = sums(loaded, [list(range(90)), [3, 1, 4, 1, 5], [9]])

    assert np.allclose(together[1], sums(loaded, [[3, 1, 4, 1, 5]])[0], atol=1e-5)


def test_no_texts(loaded):
    """No texts have no sums, in the right shape."""
    assert sums(loaded, []).shape == (0, 16)


def test_groups_are_bounded(monkeypatch):
    """However many texts, no group has more rows or tokens than allowed, unless one text alone does."""
    monkeypatch.setattr(token_table, "_GROUP_TOKENS", 100)
    monkeypatch.setattr(token_table, "_GROUP_ROWS", 3)
    ends = np.cumsum([7, 300, 20, 20, 1, 20, 20, 20, 50, 50])

    assert list(token_table._groups(ends)) == [(0, 1), (1, 2), (2, 5), (5, 8), (8, 10)]


@pytest.mark.parametrize("length", [0.0, np.inf, np.nan])
def test_no_direction(loaded, length):
    """Sums without a direction are refused by both: a damaged table makes no vectors."""
    with pytest.raises(EmbedderError, match="no direction"):
        loaded.run(lambda: loaded.means(np.full((1, 16), length, np.float32), np.ones((1, 1), np.float32), 8))
