"""The CPU's own gated unit, attention, rotation and norm, held against NumPy in double precision."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jupyter_memory.embedders.runtime.cpu_math import attend, gelu, layer_norm, rotate, swiglu
from jupyter_memory.embedders.runtime.mlx import mx


def test_swiglu():
    """silu(gate) * up, also where the gate is far out, and for more rows than one slice holds."""
    rng = np.random.default_rng(8)
    gate = rng.normal(scale=20, size=(2, 40, 3072)).astype(np.float32)
    gate[0, 0, :6] = [0, 90, -90, 1e4, -1e4, -500]
    up = rng.normal(size=gate.shape).astype(np.float32)
    expected = gate / (1 + np.exp(-gate.astype(np.float64).clip(-700, None))) * up

    assert np.allclose(np.asarray(swiglu(mx.array(gate), mx.array(up))), expected, rtol=6e-6, atol=1e-6)


def test_gelu():
    """x * Phi(x), also where x is far out, and for more rows than one slice holds."""
    x = np.random.default_rng(9).normal(scale=3, size=(3, 70, 1536)).astype(np.float32)
    x[0, 0, :6] = [0, 30, -30, 1e4, -1e4, -1e30]
    expected = np.array([one * 0.5 * math.erfc(-one / math.sqrt(2)) for one in x.ravel().tolist()]).reshape(x.shape)

    assert np.allclose(np.asarray(gelu(mx.array(x))), expected, rtol=1e-6, atol=3e-6)


def test_nan_stays():
    """A value that is not a number is not turned into one."""
    bad = mx.array([[[float("nan")] * 8]])

    assert np.isnan(np.asarray(swiglu(bad, mx.ones((1, 1, 8))))).all()


@pytest.mark.parametrize("scale", [1.0, 30.0], ids=["flat", "steep"])
@pytest.mark.parametrize("lengths", [[1], [3, 7], [400], [5] * 40], ids=["one", "padded", "long", "many"])
def test_attend(lengths, scale):
    """softmax(q k / sqrt(width)) v in slices of heads and texts, also where one key takes all, without the padding."""
    rng = np.random.default_rng(10)
    heads, tokens, width = 3, max(lengths), 8
    queries, keys, values = (rng.normal(size=(len(lengths), heads, tokens, width)) for _ in range(3))
    queries *= scale
    mask = (np.arange(tokens) < np.array(lengths)[:, None]).astype(np.float32)
    padded = None if mask.all() else mx.array(mask)
    # A padding's key that would outshine all others.
    keys += 1e3 * (1 - mask[:, None, :, None])

    columns = [mx.array(one.transpose(1, 3, 0, 2).astype(np.float32)) for one in (queries, keys, values)]
    found = np.asarray(attend(columns[0] * (math.log2(math.e) / math.sqrt(width)), *columns[1:], padded))

    scores = queries @ keys.swapaxes(-1, -2) / math.sqrt(width)
    scores = np.where(mask[:, None, None, :] > 0, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    expected = weights / weights.sum(axis=-1, keepdims=True) @ values
    assert np.allclose(found, expected.transpose(0, 2, 1, 3).reshape(found.shape), atol=2e-5)


def test_rotate():
    """Each head's halves are turned by position times a power of the base, as MLX's own rotation does, and scaled."""
    x = np.random.default_rng(11).normal(size=(2, 3, 70, 8)).astype(np.float32)

    found = np.asarray(rotate(mx.array(x.transpose(1, 3, 0, 2)), 1_000.0, 0.25)).transpose(2, 0, 3, 1)

    angles = np.arange(70)[:, None] * 1_000.0 ** (-np.arange(4) / 4)
    first, second = np.split(x.astype(np.float64), 2, axis=-1)
    cosines, sines = np.cos(angles), np.sin(angles)
    expected = np.concatenate([first * cosines - second * sines, second * cosines + first * sines], axis=-1)
    assert np.allclose(found, expected / 4, atol=1e-6)
    theirs = mx.fast.rope(mx.array(x), 8, traditional=False, base=1_000.0, scale=1.0, offset=0)
    assert np.allclose(4 * found, np.asarray(theirs), atol=1e-4)


def test_layer_norm():
    """The last axis has mean 0 and variance 1 before weight and bias, also where it is far from 0."""
    rng = np.random.default_rng(12)
    x, weight, bias = rng.normal(50, 3, size=(2, 5, 768)), rng.normal(size=768), rng.normal(size=768)

    found = np.asarray(layer_norm(*(mx.array(one.astype(np.float32)) for one in (x, weight, bias)), 1e-12))

    normal = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-12)
    assert np.allclose(found, normal * weight + bias, atol=2e-5)
