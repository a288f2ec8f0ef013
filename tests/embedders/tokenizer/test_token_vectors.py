"""Tests of the vectors of single tokens."""

import numpy as np

from jupyter_memory.embedders.tokenizer.token_vectors import DIMENSIONS, TokenVectors


def test_halves_become_the_numbers_that_they_are():
    """Every finite number of 16 bits, the smallest and negative zero too, is converted as NumPy does."""
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    halves = np.resize(every[np.isfinite(every)], (500, DIMENSIONS))
    wide = halves.astype(np.float32)

    expected = wide / np.maximum(np.sqrt(np.einsum("ij,ij->i", wide, wide)), 1e-9)[:, None]

    assert np.array_equal(TokenVectors(halves)[np.arange(500)], expected)


def test_a_token_without_a_direction_is_all_zeros():
    """A vector of length 0 stays 0 and is no division by 0."""
    halves = np.zeros((2, DIMENSIONS), np.float16)
    halves[1, 0] = -2

    assert TokenVectors(halves)[np.array([1, 0])][:, 0].tolist() == [-1.0, 0.0]


def test_a_sum_keeps_the_lengths_of_its_tokens():
    """A row adds up what the table holds of its tokens, whether they were asked for before or not; -1 adds nothing."""
    halves = np.random.default_rng(5).normal(size=(9, DIMENSIONS)).astype(np.float16)
    halves[4] = 0
    vectors = TokenVectors(halves)
    _ = vectors[np.array([1, 2])]
    rows = np.random.default_rng(6).integers(-1, 9, (150, 3))

    expected = np.vstack([halves.astype(np.float32), np.zeros((1, DIMENSIONS), np.float32)])[rows].sum(axis=1)

    assert np.allclose(vectors.sums(rows), expected, rtol=1e-5, atol=1e-5)
    assert not vectors.sums(np.empty((1, 0), np.int64)).any()


def test_a_token_is_the_same_whenever_it_is_asked_for():
    """New tokens among known ones, the same twice, none: each row is its token's, and what is changed is a copy."""
    halves = np.random.default_rng(3).normal(size=(40, DIMENSIONS)).astype(np.float16)
    vectors, expected = TokenVectors(halves), TokenVectors(halves)[np.arange(40)]

    for ids in ([3, 1, 3], [1, 2, 3, 39], [], list(range(40))):
        rows = vectors[np.array(ids, np.int64)]
        assert np.array_equal(rows, expected[ids].reshape(-1, DIMENSIONS))
        rows[:] = 0
