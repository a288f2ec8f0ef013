"""A transformer's costly functions, from operations that MLX's CPU backend runs fast.

On Linux MLX computes ``exp`` one value at a time, about 27 ns each; sums and products take 0.3 ns while their arrays
stay in the cache. So powers of two are polynomials here: the 32nd power of a `root` where MLX finds a compiler (g++),
else `by_bits` in slices that stay in the cache. benchmarks/README.md has what that gains.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np

from jupyter_memory.embedders.lifecycle import computing
from jupyter_memory.embedders.mlx_runtime import mx

LOG2_E = math.log2(math.e)
# For smaller values `root` returns the power of this one; above 25 it returns too little, yet more than 2**25.
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
# Phi(x) = 0.5 + x times this quotient of polynomials of x², for x in -4.9..4.9: the least-squares fit of x * Phi(x),
# made even by weights. Beyond, x * Phi(x) is as good as x or 0.
_ABOVE = (0.398963573, 0.0291830194, 0.00427043907, 5.96408041e-05)
_BELOW = (1.0, 0.239982841, 0.0255282654, 0.00147158456, 3.44604578e-06)
_WIDEST = 4.9
# Values of a slice: half a megabyte, so that a few of them share a core's cache; attention is faster with twice that.
_SLICE = 131_072
_SCORES = 262_144


def swiglu(gate: mx.array, up: mx.array) -> mx.array:
    """Return ``silu(gate) * up``, each ``(batch, tokens, width)``."""
    if compiles():
        return fused(_gated)(fused(_root_of_gate)(gate, mx.array(SMALLEST)), gate, up)
    return _in_slices(lambda gate, up: gate * up / (1.0 + by_bits(mx.minimum(gate * -LOG2_E, 126.0))), gate, up)


def gelu(x: mx.array) -> mx.array:
    """Return ``x * Phi(x)`` to 3e-6."""
    widest = mx.array(_WIDEST)
    # Compiled it is one loop, so the array need not stay in the cache.
    return fused(_gelu)(x, widest) if compiles() else _in_slices(lambda some: _gelu(some, widest), x)


def _in_slices(compute: Callable[..., mx.array], *arrays: mx.array) -> mx.array:
    shape = arrays[0].shape
    rows = [array.reshape(-1, shape[-1]) for array in arrays]
    step = max(1, _SLICE // shape[-1])
    starts = range(0, rows[0].shape[0], step)
    pieces = (tuple(array[start : start + step] for array in rows) for start in starts)
    return mx.concatenate(in_turn(pieces, compute)).reshape(shape)


def attend(queries: mx.array, keys: mx.array, values: mx.array, mask: mx.array | None) -> mx.array:
    """Return the values of each head, weighted by 2**(queries @ keys.T), as ``(batch, tokens, heads * size)``.

    It is softmax's mean where `rotate` has scaled the queries by log2(e) / sqrt(size). All are ``(heads, size, batch,
    tokens)``, so that the heads of one text are matrices as they lie there; ``mask`` is 1 for keys and 0 for padding.
    """
    heads, size, batch, tokens = queries.shape
    shown = mx.ones((batch, 1, 1, tokens)) if mask is None else mask[:, None, None, :]
    if mask is not None:
        # Padding takes the key of the first token: its own key would count in the largest score.
        keys, values = keys * mask + keys[..., :1] * (1.0 - mask), values * mask
    queries, keys, values = (array.transpose(2, 0, 1, 3) for array in (queries, keys, values))

    def weighted(queries: mx.array, keys: mx.array, values: mx.array, shown: mx.array) -> mx.array:
        # A row for each key: the largest of a column takes a fifth of the time of the largest of a row.
        scores = keys.swapaxes(-1, -2) @ queries
        scores = scores - mx.max(scores, axis=-2, keepdims=True)
        # Two loops, without a look at the bits: 2**x to 1e-5 of its value for x from -40, and below at most 2**-40.
        weights = fused(squared)(fused(root)(scores, mx.array(SMALLEST))) if compiles() else by_bits(scores)
        # A product sums as fast as it multiplies, and leaves the padding out.
        return (values @ weights) / (shown @ weights)

    rows = max(1, _SCORES // (heads * tokens * tokens))
    some = max(1, min(heads, _SCORES // (tokens * tokens)))
    found: list[mx.array] = []
    for row in range(0, batch, rows):
        here = slice(row, row + rows)
        pieces = (
            (*(array[here, head : head + some] for array in (queries, keys, values)), shown[here])
            for head in range(0, heads, some)
        )
        found.append(mx.concatenate(in_turn(pieces, weighted, after=found[-1:]), axis=1))
    return mx.concatenate(found).transpose(0, 3, 1, 2).reshape(batch, tokens, heads * size)


def rotate(x: mx.array, base: float, scale: float = 1.0) -> mx.array:
    """Return ``(heads, size, batch, tokens)`` with the halves of each head turned by the position, and scaled."""
    heads, size, batch, tokens = x.shape
    other = x.reshape(2 * heads, -1)[mx.arange(2 * heads) ^ 1].reshape(x.shape)
    return fused(_turned)(x, other, *_angles(heads, size, batch, tokens, base, scale))


def layer_norm(x: mx.array, weight: mx.array, bias: mx.array, epsilon: float) -> mx.array:
    """Return the last axis with mean 0 and variance 1, times ``weight``, plus ``bias``; the means are products."""
    mean = mx.full((x.shape[-1], 1), 1 / x.shape[-1])
    x = x - x @ mean
    return x * mx.rsqrt(mx.square(x) @ mean + epsilon) * weight + bias


def _root_of_gate(gate: mx.array, smallest: mx.array) -> mx.array:
    return root(gate * -LOG2_E, smallest)


def _gated(root: mx.array, gate: mx.array, up: mx.array) -> mx.array:
    return gate * up / (1.0 + squared(root))


def _gelu(x: mx.array, widest: mx.array) -> mx.array:
    # As in `root`; beyond the bound it is x or 0, so that the error does not grow with x.
    inside = mx.minimum(mx.abs(x), widest)
    square = inside * inside
    fourth = square * square
    above = (_ABOVE[0] + _ABOVE[1] * square) + (_ABOVE[2] + _ABOVE[3] * square) * fourth
    below = (_BELOW[0] + _BELOW[1] * square) + (_BELOW[2] + _BELOW[3] * square) * fourth + _BELOW[4] * (fourth * fourth)
    return mx.maximum(x, 0.0) - inside * (0.5 - inside * above / below)


def _turned(x: mx.array, other: mx.array, cosines: mx.array, sines: mx.array) -> mx.array:
    return x * cosines + other * sines


# Megabytes for long texts, which go when the model goes.
@partial(computing.kept, most=4)
def _angles(heads: int, size: int, batch: int, tokens: int, base: float, scale: float) -> tuple[mx.array, mx.array]:
    angles = base ** (-np.arange(size // 2)[:, None] / (size // 2)) * np.arange(tokens)
    cosines, sines = scale * np.cos(angles), scale * np.sin(angles)
    of_head = np.concatenate([cosines, cosines]), np.concatenate([-sines, sines])
    found = [mx.array(np.tile(one.astype(np.float32)[:, None], (heads, 1, batch, 1))) for one in of_head]
    return found[0], found[1]


def in_turn(
    pieces: Iterator[tuple[mx.array, ...]], compute: Callable[..., mx.array], after: list[mx.array] | None = None
) -> list[mx.array]:
    """Compute each piece when the one before is done: side by side they would push each other out of the cache."""
    done = list(after or [])
    first = len(done)
    for piece in pieces:
        done.append(compute(*(mx.depends(list(piece), done[-1:]) if done else piece)))
    return done[first:]


def root(x: mx.array, smallest: mx.array) -> mx.array:
    """Return 2**(x / 32), at least 2**(smallest / 32); summed in pairs, as MLX fuses only 11 steps in a row."""
    # The bound is an argument: with a constant, the compiler would compute one value at a time.
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
    rest = x - (rounded - _ROUNDING)
    power = rest * _SHORT[-1] + _SHORT[-2]
    for coefficient in _SHORT[-3::-1]:
        power = power * rest + coefficient
    # Adding to the exponent's bits multiplies by a power of two.
    return (power.view(mx.int32) + (rounded.view(mx.int32) << 23)).view(mx.float32)


def fused(function: Callable[..., mx.array]) -> Callable[..., mx.array]:
    """Return a function of arrays of one shape, compiled to a few loops, or unchanged without a compiler."""
    # For arrays of several shapes, MLX makes a loop that computes one value at a time.
    return _compiled(function) if compiles() else function


@cache
def compiles() -> bool:
    """Return whether MLX can compile loops here and keep them in a folder of ours."""
    # It loads what it finds in a folder that every user of the machine could have made.
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
