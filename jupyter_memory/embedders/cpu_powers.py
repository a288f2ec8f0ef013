"""Powers of two on the CPU: one way for loops that a compiler makes, one for MLX's own operations.

On Linux MLX computes ``exp`` one value at a time, about 27 ns each, and softmax, sigmoid and silu with it. Sums and
products take 0.3 ns as long as they stay in the cache, and a loop of many of them, compiled, hardly more.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from jupyter_memory.embedders.arrays import mx

LOG2_E = math.log2(math.e)
# Below it `by_squares` returns the power of this; above 25 it returns too little, yet more than 2**25.
SMALLEST = -40.0

# 2**x for x in -0.5..0.5 to 4e-6 of its value, and 2**(x / 32) for x in -40..25 to 1.2e-8 of it: the least-squares fits
# of the relative error at Chebyshev nodes.
_SHORT = (1.00000007, 0.693146949, 0.240221218, 0.0555074262, 0.00967545975, 0.00132669704)
_ROOT = (
    *(1.00000001, 0.0216608513, 0.000234595955, 1.69382635e-06),
    *(9.17331285e-09, 3.98166602e-11, 1.43560462e-13, 3.71545678e-16),
)
_SQUARES = 5
# Added to a float32 it leaves the nearest integer in the lowest bits of the sum.
_ROUNDING = 12_582_912.0
# Powers of two beyond these are no normal float32.
_NORMAL = 126.0


def exp2(x: mx.array) -> mx.array:
    """Return 2**x to 1e-5 of its value for float32 ``x`` from -40 to 25; below, a value of at most 2**-40."""
    return by_squares(x) if compiles() else by_bits(x)


def by_squares(x: mx.array) -> mx.array:
    """Return ``exp2`` as the 32nd power of a polynomial: two loops once compiled, without a look at the bits."""
    # The bound is an argument: with a constant, the compiler would prepare a path for values at the bound, and
    # then compute one value at a time.
    return fused(squared)(fused(root)(x, mx.array(SMALLEST)))


def root(x: mx.array, smallest: mx.array) -> mx.array:
    """Return 2**(x / 32), or that of ``smallest`` if it is larger; summed pairwise, as MLX fuses 11 steps in a row."""
    x = mx.maximum(x, smallest)
    square = x * x
    first, second, third, fourth = (_ROOT[one] + _ROOT[one + 1] * x for one in range(0, 8, 2))
    return (first + second * square) + (third + fourth * square) * (square * square)


def squared(root: mx.array) -> mx.array:
    """Return the 32nd power."""
    for _ in range(_SQUARES):
        root = root * root
    return root


def by_bits(x: mx.array) -> mx.array:
    """Return 2**x to 3e-7 of its value for float32 ``x`` below 127; where that would be less than 2**-126, 2**-126."""
    x = mx.maximum(x, -_NORMAL)
    rounded = x + _ROUNDING
    power = polynomial(x - (rounded - _ROUNDING), _SHORT)
    # Adding to the exponent's bits multiplies by a power of two.
    return (power.view(mx.int32) + (rounded.view(mx.int32) << 23)).view(mx.float32)


def polynomial(x: mx.array, coefficients: Sequence[float]) -> mx.array:
    """Return the sum of ``coefficients[i] * x**i``, of at least two."""
    found = x * coefficients[-1] + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        found = found * x + coefficient
    return found


def fused(function: Callable[..., mx.array]) -> Callable[..., mx.array]:
    """Return a function of arrays as few loops of machine code, or as it is where there is no compiler.

    Its arrays should have one shape, or MLX makes a loop that computes one value at a time.
    """
    return _compiled(function) if compiles() else function


@cache
def compiles() -> bool:
    """Return whether MLX can compile loops here and keep them in a folder of ours.

    It keeps them in one that all users of a machine may write to, and loads whatever lies there: it is used only if
    it is ours.
    """
    folder = Path(tempfile.gettempdir()) / "mlx"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        ours = sys.platform == "linux" and folder.stat().st_uid == os.getuid()
    except OSError:
        return False
    if not ours or shutil.which("g++") is None:
        return False
    try:
        mx.eval(_compiled(squared)(mx.ones((2, 2))))
    except RuntimeError:
        return False
    return True


@cache
def _compiled(function: Callable[..., mx.array]) -> Callable[..., mx.array]:
    compiled: Callable[..., mx.array] = mx.compile(function)
    return compiled
