"""The model's costly functions, from operations that MLX's CPU backend runs fast.

Where a compiler is at hand they are a few loops over whole arrays. Where none is, each operation is a loop of its own,
so arrays are worked through in slices that stay in the cache, one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from jupyter_memory.embedders.arrays import mx
from jupyter_memory.embedders.cpu_powers import (
    LOG2_E,
    SMALLEST,
    by_bits,
    compiles,
    exp2,
    fused,
    polynomial,
    root,
    squared,
)

# erfc(z) = exp(-z²) times a polynomial of 1 / (1 + 0.3275911 z): Abramowitz and Stegun, formula 7.1.26.
_ERROR = (0.0, 0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
# Values of a slice: half a megabyte, so that a few of them share a core's cache.
_SLICE = 131_072


def swiglu(gate: mx.array, up: mx.array) -> mx.array:
    """Return ``silu(gate) * up`` for ``(batch, tokens, width)``."""
    if compiles():
        return fused(_gated)(fused(_root_of_gate)(gate, mx.array(SMALLEST)), gate, up)
    shape = gate.shape
    gate, up = gate.reshape(-1, shape[-1]), up.reshape(-1, shape[-1])
    step = max(1, _SLICE // shape[-1])
    pieces = ((gate[start : start + step], up[start : start + step]) for start in range(0, gate.shape[0], step))
    return mx.concatenate(_in_turn(pieces, _swiglu)).reshape(shape)


def gelu(x: mx.array) -> mx.array:
    """Return ``x * Phi(x)``, Phi to 2e-7."""
    flat = x.reshape(-1, x.shape[-1])
    step = max(1, _SLICE // x.shape[-1])
    pieces = ((flat[start : start + step],) for start in range(0, flat.shape[0], step))
    return mx.concatenate(_in_turn(pieces, _gelu)).reshape(x.shape)


def attend(queries: mx.array, keys: mx.array, values: mx.array, mask: mx.array | None) -> mx.array:
    """Return ``softmax(queries @ keys.T / sqrt(width)) @ values``, all ``(batch, heads, tokens, width)``.

    ``mask``, ``(batch, tokens)``, is 1 for the keys that count and 0 for padding.
    """
    batch, heads, tokens, width = queries.shape
    shown = mx.ones((batch, 1, tokens, 1)) if mask is None else mask[:, None, :, None]
    if mask is not None:
        keys, values = _first_for_padding(keys, mask), values * shown
    queries = queries * (LOG2_E / math.sqrt(width))
    rows = max(1, _SLICE // (heads * tokens * tokens))
    some = max(1, min(heads, _SLICE // (tokens * tokens)))
    found: list[mx.array] = []
    for row in range(0, batch, rows):
        here = slice(row, row + rows)
        pieces = (
            (*(array[here, head : head + some] for array in (queries, keys, values)), shown[here])
            for head in range(0, heads, some)
        )
        # Token by token, as they are needed next: that saves a copy.
        by_token = [one.transpose(0, 2, 1, 3) for one in _in_turn(pieces, _attend, after=found[-1:])]
        found.append(mx.concatenate(by_token, axis=2))
    return mx.concatenate(found).transpose(0, 2, 1, 3)


def rotate(x: mx.array, heads: int, base: float) -> mx.array:
    """Return ``(batch, tokens, width)`` with the halves of each head turned by the position, as `mx.fast.rope` does.

    The other half, with its sign, comes from a product with a matrix of -1, 0 and 1, which is exact.
    """
    size = x.shape[-1] // heads
    other = (x.reshape(-1, size) @ _quarter_turn(size)).reshape(x.shape)
    return fused(_turned)(x, other, *_angles(*x.shape, size, base))


def layer_norm(x: mx.array, weight: mx.array, bias: mx.array, epsilon: float) -> mx.array:
    """Return the last axis with mean 0 and variance 1, times ``weight``, plus ``bias``; the means are products."""
    mean = mx.full((x.shape[-1], 1), 1 / x.shape[-1])
    x = x - x @ mean
    return x * mx.rsqrt(mx.square(x) @ mean + epsilon) * weight + bias


def _root_of_gate(gate: mx.array, smallest: mx.array) -> mx.array:
    return root(gate * -LOG2_E, smallest)


def _gated(root: mx.array, gate: mx.array, up: mx.array) -> mx.array:
    return gate * up / (1.0 + squared(root))


def _swiglu(gate: mx.array, up: mx.array) -> mx.array:
    return gate * up / (1.0 + by_bits(mx.minimum(gate * -LOG2_E, 126.0)))


def _gelu(x: mx.array) -> mx.array:
    return fused(_less)(x, fused(_error)(x), exp2(fused(_exponent)(x)))


def _exponent(x: mx.array) -> mx.array:
    size = mx.minimum(mx.abs(x), 20.0)
    return size * size * (-0.5 * LOG2_E)


def _error(x: mx.array) -> mx.array:
    return polynomial(1.0 / (1.0 + 0.3275911 * math.sqrt(0.5) * mx.abs(x)), _ERROR)


def _less(x: mx.array, error: mx.array, power: mx.array) -> mx.array:
    # Half of what lies beyond |x| on both sides.
    return mx.maximum(x, 0.0) - mx.abs(x) * (0.5 * error * power)


def _attend(queries: mx.array, keys: mx.array, values: mx.array, shown: mx.array) -> mx.array:
    # A row for each key: the largest of a column takes a fifth of the time of the largest of a row.
    scores = keys @ queries.swapaxes(-1, -2)
    weights = exp2(scores - mx.max(scores, axis=-2, keepdims=True)).swapaxes(-1, -2)
    # A product sums as fast as it multiplies, and leaves the padding out.
    return (weights @ values) / (weights @ shown)


def _first_for_padding(keys: mx.array, mask: mx.array) -> mx.array:
    """Return the keys, a padding's being that of the first token: it would count in the largest score."""
    batch, heads, tokens, width = keys.shape
    first = mx.arange(batch)[:, None] * tokens
    chosen = mx.where(mask > 0, first + mx.arange(tokens), first)
    by_token = keys.transpose(0, 2, 1, 3).reshape(batch * tokens, heads * width)[chosen]
    return by_token.reshape(batch, tokens, heads, width).transpose(0, 2, 1, 3)


def _turned(x: mx.array, other: mx.array, cosines: mx.array, sines: mx.array) -> mx.array:
    return x * cosines + other * sines


@lru_cache(maxsize=2)
def _angles(batch: int, tokens: int, width: int, size: int, base: float) -> tuple[mx.array, mx.array]:
    """Return the cosines and sines of every value's angle, ``(batch, tokens, width)``."""
    turns = np.arange(tokens)[:, None] * base ** (-np.arange(size // 2) / (size // 2))
    angles = np.tile(turns, (batch, 2 * width // size))
    found = tuple(mx.array(of(angles).astype(np.float32).reshape(batch, tokens, width)) for of in (np.cos, np.sin))
    return found[0], found[1]


@lru_cache(maxsize=2)
def _quarter_turn(size: int) -> mx.array:
    half = np.eye(size // 2, dtype=np.float32)
    none = np.zeros_like(half)
    return mx.array(np.block([[none, half], [-half, none]]))


def _in_turn(
    pieces: Iterator[tuple[mx.array, ...]], compute: Callable[..., mx.array], after: list[mx.array] | None = None
) -> list[mx.array]:
    """Compute each piece when the one before is done: side by side they would push each other out of the cache."""
    done = list(after or [])
    first = len(done)
    for piece in pieces:
        done.append(compute(*(mx.depends(list(piece), done[-1:]) if done else piece)))
    return done[first:]
