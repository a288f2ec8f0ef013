"""The model's two costly functions, from operations that MLX's CPU backend runs fast.

On Linux MLX computes ``exp`` one value at a time, about 27 ns each, and softmax, sigmoid and silu with it; sums,
products and shifts take 0.3 ns as long as they stay in the cache. So ``exp`` is a polynomial here, arrays are worked
through in slices, one after the other, and softmax divides after the product with the values.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from jupyter_memory.embedders.arrays import mx

LOG2_E = math.log2(math.e)

# 2**x for x in -0.5..0.5 to 4e-6 of its value: the least-squares fit of the relative error at Chebyshev nodes.
_COEFFICIENTS = (1.00000007, 0.693146949, 0.240221218, 0.0555074262, 0.00967545975, 0.00132669704)
# erfc(z) = exp(-z²) times a polynomial of 1 / (1 + 0.3275911 z), without its constant.
_ERROR = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
# Added to a float32 it leaves the nearest integer in the lowest bits of the sum.
_ROUNDING = 12_582_912.0
# Powers of two beyond these are no normal float32.
_LARGEST = 126.0
# Values of a slice: half a megabyte, so that a few of them share a core's cache.
_SLICE = 131_072


def exp2(x: mx.array) -> mx.array:
    """Return 2**x for float32 ``x`` below 127; where that would be less than 2**-126, 2**-126."""
    x = mx.maximum(x, -_LARGEST)
    rounded = x + _ROUNDING
    rest = x - (rounded - _ROUNDING)
    power = rest * _COEFFICIENTS[-1] + _COEFFICIENTS[-2]
    for coefficient in _COEFFICIENTS[-3::-1]:
        power = power * rest + coefficient
    # Adding to the exponent's bits multiplies by a power of two.
    return (power.view(mx.int32) + (rounded.view(mx.int32) << 23)).view(mx.float32)


def swiglu(gate: mx.array, up: mx.array) -> mx.array:
    """Return ``silu(gate) * up`` for ``(batch, tokens, width)``."""
    shape = gate.shape
    gate, up = gate.reshape(-1, shape[-1]), up.reshape(-1, shape[-1])
    step = max(1, _SLICE // shape[-1])
    pieces = ((gate[start : start + step], up[start : start + step]) for start in range(0, gate.shape[0], step))
    return mx.concatenate(_in_turn(pieces, fused(_swiglu, 2))).reshape(shape)


def gelu(x: mx.array) -> mx.array:
    """Return ``x * Phi(x)``, Phi to 2e-7: Abramowitz and Stegun, formula 7.1.26."""
    flat = x.reshape(-1, x.shape[-1])
    step = max(1, _SLICE // x.shape[-1])
    pieces = ((flat[start : start + step],) for start in range(0, flat.shape[0], step))
    return mx.concatenate(_in_turn(pieces, fused(_gelu, 1))).reshape(x.shape)


def attend(queries: mx.array, keys: mx.array, values: mx.array, mask: mx.array | None) -> mx.array:
    """Return ``softmax(queries @ keys.T) @ values``, all ``(batch, heads, tokens, width)``.

    ``mask``, ``(batch, tokens)``, is 1 for the keys that count and 0 for padding.
    """
    batch, heads, tokens, _ = queries.shape
    shown = mx.ones((batch, 1, tokens, 1)) if mask is None else mask[:, None, :, None]
    if mask is not None:
        # A padding's key would count in the largest score: it is that of the first token.
        keys = mx.where(shown > 0, keys, keys[:, :, :1])
        values = values * shown
    queries = queries * LOG2_E
    rows = max(1, _SLICE // (heads * tokens * tokens))
    some = max(1, min(heads, _SLICE // (tokens * tokens)))
    found: list[mx.array] = []
    for row in range(0, batch, rows):
        here = slice(row, row + rows)
        pieces = (
            (*(array[here, head : head + some] for array in (queries, keys, values)), shown[here])
            for head in range(0, heads, some)
        )
        found.append(mx.concatenate(_in_turn(pieces, _attend, after=found[-1:]), axis=1))
    return mx.concatenate(found)


@cache
def fused(function: Callable[..., mx.array], inputs: int) -> Callable[..., mx.array]:
    """Return a function of so many arrays as few loops of machine code, twice as fast, or as it is without a compiler.

    MLX keeps what it has compiled in a folder that all users of a machine may write to, and loads whatever lies
    there: it is used only if it is ours.
    """
    folder = Path(tempfile.gettempdir()) / "mlx"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        ours = sys.platform == "linux" and folder.stat().st_uid == os.getuid()
    except OSError:
        return function
    if not ours or shutil.which("g++") is None:
        return function
    compiled: Callable[..., mx.array] = mx.compile(function)
    try:
        mx.eval(compiled(*[mx.ones((2, 2))] * inputs))
    except RuntimeError:
        return function
    return compiled


def _swiglu(gate: mx.array, up: mx.array) -> mx.array:
    return gate * up / (1.0 + exp2(mx.minimum(gate * -LOG2_E, _LARGEST)))


def _gelu(x: mx.array) -> mx.array:
    size = mx.abs(x) * math.sqrt(0.5)
    part = 1.0 / (1.0 + 0.3275911 * size)
    tail = part * _ERROR[-1] + _ERROR[-2]
    for coefficient in _ERROR[-3::-1]:
        tail = tail * part + coefficient
    # Half of what lies beyond |x| on both sides.
    beyond = 0.5 * part * tail * exp2(mx.minimum(size, 20.0) * mx.minimum(size, 20.0) * -LOG2_E)
    return mx.maximum(x, 0.0) - mx.abs(x) * beyond


def _attend(queries: mx.array, keys: mx.array, values: mx.array, shown: mx.array) -> mx.array:
    scores = queries @ keys.swapaxes(-1, -2)
    weights = fused(exp2, 1)(scores - mx.max(scores, axis=-1, keepdims=True))
    # A product sums as fast as it multiplies, and leaves the padding out.
    return (weights @ values) / (weights @ shown)


def _in_turn(
    pieces: Iterator[tuple[mx.array, ...]], compute: Callable[..., mx.array], after: list[mx.array] | None = None
) -> list[mx.array]:
    """Compute each piece when the one before is done: side by side they would push each other out of the cache."""
    done = list(after or [])
    first = len(done)
    for piece in pieces:
        done.append(compute(*(mx.depends(list(piece), done[-1:]) if done else piece)))
    return done[first:]
