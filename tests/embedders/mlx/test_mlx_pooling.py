"""One vector of many, held against plain loops over the tokens of each text."""

from __future__ import annotations

import numpy as np
import pytest

from jupyter_memory.embedders.mlx.pooling import pool
from jupyter_memory.embedders.runtime.mlx import mx

LENGTHS = (5, 1, 3)
LOOPS = {
    "cls": lambda rows: rows[0],
    "max": lambda rows: rows.max(axis=0),
    "mean": lambda rows: rows.mean(axis=0),
    "mean_sqrt": lambda rows: rows.sum(axis=0) / np.sqrt(len(rows)),
    "weighted": lambda rows: np.average(rows, axis=0, weights=np.arange(1, len(rows) + 1)),
    "last": lambda rows: rows[-1],
}


@pytest.fixture
def hidden():
    """Token vectors of three texts, with large values where the padding is."""
    values = np.random.default_rng(2).normal(size=(3, 5, 8)).astype(np.float32)
    for row, length in enumerate(LENGTHS):
        values[row, length:] = 1e6
    return values


@pytest.mark.parametrize("mode", LOOPS)
def test_each_way(hidden, mode):
    """Every way of pooling is what its name says, and sees no padding."""
    mask = (np.arange(5) < np.array(LENGTHS)[:, None]).astype(np.float32)
    # What is masked is multiplied by zero: it must be a number.
    expected = [LOOPS[mode](text[:length]) for text, length in zip(hidden, LENGTHS, strict=True)]

    assert np.allclose(np.asarray(pool(mx.array(hidden), mx.array(mask), [mode])), expected, atol=1e-5)


def test_joined(hidden):
    """Several ways are joined in the order that is asked for."""
    found = np.asarray(pool(mx.array(hidden[:1]), mx.ones((1, 5)), ("max", "cls")))

    assert np.allclose(found[0], np.concatenate([hidden[0].max(axis=0), hidden[0, 0]]))
