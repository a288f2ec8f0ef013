"""The CPU's own exponential and gated unit, held against NumPy in double precision."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from jupyter_memory.embedders.arrays import mx
from jupyter_memory.embedders.cpu_math import exp2, gelu, swiglu


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


def test_gelu():
    """x * Phi(x), also where x is far out, and for more rows than one slice holds."""
    x = np.random.default_rng(9).normal(scale=3, size=(3, 70, 1536)).astype(np.float32)
    x[0, 0, :6] = [0, 30, -30, 1e4, -1e4, -1e30]
    expected = np.array([one * 0.5 * math.erfc(-one / math.sqrt(2)) for one in x.ravel().tolist()]).reshape(x.shape)

    assert np.allclose(np.asarray(gelu(mx.array(x))), expected, rtol=2e-6, atol=1e-6)


def test_nan_stays():
    """A value that is not a number is not turned into one."""
    bad = mx.array([[[float("nan")] * 8]])

    assert np.isnan(np.asarray(swiglu(bad, mx.ones((1, 1, 8))))).all()


@pytest.mark.parametrize("compiler", [True, False], ids=["compiler", "no compiler"])
def test_with_or_without_a_compiler(tmp_path, compiler):
    """Both ways give the same numbers, and without a compiler nothing is compiled."""
    code = (
        "import shutil\n"
        f"{'' if compiler else 'shutil.which = lambda name: None'}\n"
        "from jupyter_memory.embedders.arrays import mx\n"
        "from jupyter_memory.embedders import cpu_math\n"
        "found = cpu_math.swiglu(mx.array([[[1.0, -2.0]]]), mx.array([[[3.0, 4.0]]]))\n"
        "print(mx.allclose(found, mx.array([[[2.19317573, -0.95362338]]])).item(), "
        "cpu_math.fused(cpu_math.exp2, 1) is cpu_math.exp2)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )

    compiles = compiler and sys.platform == "linux" and shutil.which("g++") is not None
    assert done.stdout.split() == ["True", str(not compiles)]
    assert any(tmp_path.rglob("*.so")) == compiles
