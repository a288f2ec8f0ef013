"""Texts of similar length together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.embedders.runtime.batching import batches, shape_of


def padding(lengths, budget=2048):
    made = list(batches(lengths, budget))
    return 1 - sum(lengths) / sum(batch.tokens * len(batch.rows) for batch in made)


@given(st.lists(st.integers(1, 2048), max_size=80), st.sampled_from([64, 2048, 8192]))
def test_every_row_once(lengths, budget):
    """Every text is in one batch that is long enough, of a power of two of rows, within the budget."""
    made = list(batches(lengths, budget))

    assert sorted(row for batch in made for row in batch.rows) == list(range(len(lengths)))
    for batch in made:
        assert all(lengths[row] <= batch.tokens for row in batch.rows)
        assert len(batch.rows) & (len(batch.rows) - 1) == 0
        assert batch.tokens * len(batch.rows) <= budget or len(batch.rows) == 1


@given(st.lists(st.integers(1, 2048), min_size=1, max_size=80))
def test_little_padding(lengths):
    """Whatever the lengths, less than 15 % of what is computed is padding."""
    assert padding(lengths) < 0.15


def test_padding_of_notebook_chunks():
    """For chunks of the lengths that notebooks have, it is less than a tenth."""
    lengths = np.random.default_rng(1).lognormal(4.3, 0.8, 500).clip(6, 512).astype(int).tolist()

    assert padding(lengths) < 0.1


def test_few_shapes():
    """All lengths up to 2,048 come in at most 80 shapes."""
    assert len({shape_of(length) for length in range(1, 2049)}) <= 80


@pytest.mark.parametrize("lengths", [[], [3]], ids=["none", "one"])
def test_ends(lengths):
    """No text makes no batch, one text makes one."""
    assert len(list(batches(lengths, 64))) == len(lengths)
