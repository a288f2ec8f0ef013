"""Powers of two on the CPU, held against NumPy in double precision."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from jupyter_memory.embedders.runtime.cpu_math import by_bits, by_squares, exp2
from jupyter_memory.embedders.runtime.mlx import mx


def test_by_bits():
    """Powers of two are right to 3e-7 of their value, from the smallest normal number on."""
    x = np.linspace(-126, 126, 100_001, dtype=np.float32)

    assert np.allclose(np.asarray(by_bits(mx.array(x))), np.exp2(x.astype(np.float64)), rtol=3e-7, atol=0)


def test_by_squares():
    """As a 32nd power they are right to 1e-5 of their value, from -40 to 25."""
    x = np.linspace(-40, 25, 100_001, dtype=np.float32)

    assert np.allclose(np.asarray(by_squares(mx.array(x))), np.exp2(x.astype(np.float64)), rtol=1e-5, atol=0)


def test_far_below():
    """What is too small becomes a number that vanishes beside 1, not one of another sign."""
    x = mx.array([-41.0, -127.0, -1e4, -1e30, -np.inf])

    for found in (np.asarray(by_bits(x)), np.asarray(by_squares(x)), np.asarray(exp2(x))):
        assert (found > 0).all()
        assert (found <= 1e-12).all()


def test_far_above():
    """Beyond 25 the 32nd power goes on growing, so that one divided by it is nothing."""
    found = np.asarray(by_squares(mx.array([26.0, 40.0, 1e3, 1e6, 1e30])))

    assert (found > 2.0**25).all()
    assert (np.diff(found[:3]) > 0).all()


@pytest.mark.parametrize("compiler", [True, False], ids=["compiler", "no compiler"])
def test_with_or_without_a_compiler(tmp_path, compiler):
    """Both ways give the same numbers, and without a compiler nothing is compiled."""
    code = (
        "import shutil\n"
        f"{'' if compiler else 'shutil.which = lambda name: None'}\n"
        "from jupyter_memory.embedders.runtime.mlx import mx\n"
        "from jupyter_memory.embedders.runtime import cpu_math\n"
        "found = cpu_math.swiglu(mx.array([[[1.0, -2.0]]]), mx.array([[[3.0, 4.0]]]))\n"
        "print(mx.allclose(found, mx.array([[[2.19317573, -0.95362338]]])).item(), "
        "mx.allclose(cpu_math.gelu(mx.array([1.0, -2.0])), mx.array([0.84134475, -0.04550026])).item(), "
        "cpu_math.fused(cpu_math.squared) is cpu_math.squared)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )

    compiles = compiler and sys.platform == "linux" and shutil.which("g++") is not None
    assert done.stdout.split() == ["True", "True", str(not compiles)]
    assert any(tmp_path.rglob("*.so")) == compiles
