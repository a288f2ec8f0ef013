"""Shorter vectors from longer ones, held against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from jupyter_memory import EmbedderError, InputError
from jupyter_memory.embedders.matryoshka import normalise, shorten, truncate
from jupyter_memory.embedders.runtime.mlx import mx


@pytest.fixture
def vectors():
    return np.random.default_rng(4).normal(size=(50, 768)).astype(np.float32)


@pytest.mark.parametrize("dimensions", [256, 128, 64])
def test_as_numpy_does_it(vectors, dimensions):
    """The first values, divided by the root of the sum of their squares."""
    kept = vectors[:, :dimensions].astype(np.float64)
    expected = kept / np.sqrt((kept**2).sum(axis=1, keepdims=True))

    assert np.allclose(np.asarray(shorten(mx.array(vectors), dimensions)), expected, atol=1e-6)


@pytest.mark.parametrize("dimensions", [256, 128, 64])
def test_unit_length(vectors, dimensions):
    """Every row has length 1, whatever its length was."""
    scaled = vectors * np.logspace(-10, 10, len(vectors), dtype=np.float32)[:, None]

    lengths = np.linalg.norm(np.asarray(shorten(mx.array(scaled), dimensions)), axis=1)

    assert np.allclose(lengths, 1, atol=1e-6)


def test_truncate_only_cuts(vectors):
    """Truncation leaves the values that it keeps as they are."""
    assert np.array_equal(np.asarray(truncate(mx.array(vectors), 64)), vectors[:, :64])


def test_one_vector(vectors):
    """A vector alone, without a row around it, is shortened like a row."""
    alone = np.asarray(shorten(mx.array(vectors[7]), 128))

    assert alone.shape == (128,)
    assert np.allclose(alone, np.asarray(shorten(mx.array(vectors), 128))[7], atol=1e-7)


def test_half_precision_does_not_overflow():
    """Half-precision values whose squares it could not hold come out as float32 of length 1."""
    unit = normalise(mx.array([[300.0, 400.0]], dtype=mx.float16))

    assert unit.dtype == mx.float32
    assert np.allclose(np.asarray(unit), [[0.6, 0.8]], atol=1e-6)


@pytest.mark.parametrize(
    "bad",
    [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0], [1e-30, 1e-30], [1e30, 1e30]],
    ids=["zero", "nan", "infinite", "underflow", "overflow"],
)
def test_no_direction(bad):
    """One row without a direction among good ones is refused, with a word on the cause."""
    with pytest.raises(EmbedderError, match="no direction"):
        normalise(mx.array([[3.0, 4.0], bad]))


def test_zero_after_the_cut():
    """A row that is zero in the part that is kept is refused too."""
    with pytest.raises(EmbedderError, match="no direction"):
        shorten(mx.array([[0.0, 0.0, 1.0]]), 2)


@pytest.mark.parametrize("dimensions", [0, -1, 769])
def test_not_longer_than_it_was(vectors, dimensions):
    """Dimensions that the vectors do not have are refused, with both numbers."""
    with pytest.raises(InputError, match=rf"768 dimensions .* {dimensions}"):
        truncate(mx.array(vectors), dimensions)
