"""The CPU's own exponential and gated unit, held against NumPy in double precision."""

from __future__ import annotations

import numpy as np

from jupyter_memory.embedders.arrays import mx
from jupyter_memory.embedders.cpu_math import exp2, swiglu


def test_exp2():
    """Powers of two are right to 3e-7 of their value, from the smallest normal number on."""
    x = np.linspace(-126, 126, 100_001, dtype=np.float32)

    assert np.allclose(np.asarray(exp2(mx.array(x))), np.exp2(x.astype(np.float64)), rtol=3e-7, atol=0)


def test_far_below():
    """What is too small for a float32 becomes the smallest one, not a number of another sign."""
    assert np.allclose(np.asarray(exp2(mx.array([-127.0, -1e4, -1e30, -np.inf]))), 2.0**-126, rtol=3e-7, atol=0)


def test_swiglu():
    """silu(gate) * up, also where the gate is far out, and for more rows than one slice holds."""
    rng = np.random.default_rng(8)
    gate = rng.normal(scale=20, size=(2, 40, 3072)).astype(np.float32)
    gate[0, 0, :6] = [0, 90, -90, 1e4, -1e4, -500]
    up = rng.normal(size=gate.shape).astype(np.float32)
    expected = gate / (1 + np.exp(-gate.astype(np.float64).clip(-700, None))) * up

    assert np.allclose(np.asarray(swiglu(mx.array(gate), mx.array(up))), expected, rtol=2e-6, atol=1e-6)


def test_nan_stays():
    """A value that is not a number is not turned into one."""
    bad = mx.array([[[float("nan")] * 8]])

    assert np.isnan(np.asarray(swiglu(bad, mx.ones((1, 1, 8))))).all()
