"""Shorten vectors: the first values carry the most, and each vector gets length 1 again."""

from __future__ import annotations

from jupyter_memory.embedders.checked import NO_DIRECTION
from jupyter_memory.embedders.runtime.mlx import mx
from jupyter_memory.errors import EmbedderError, InputError

# Below this the squares lose digits in float32, and the direction of a row is unreliable.
_SMALLEST_SQUARE = 1e-30


def shorten(vectors: mx.array, dimensions: int) -> mx.array:
    """Return the first ``dimensions`` values of each row, with length 1 (float32).

    Raises:
        InputError: the rows are shorter than ``dimensions``.
        EmbedderError: a row has no direction: zero, NaN or infinite.
    """
    return normalise(truncate(vectors, dimensions))


def truncate(vectors: mx.array, dimensions: int) -> mx.array:
    """Return the first ``dimensions`` values of each row; their length is no longer 1.

    Raises:
        InputError: the rows are shorter than ``dimensions``.
    """
    width = vectors.shape[-1]
    if not 1 <= dimensions <= width:
        raise InputError(f"Vectors of {width} dimensions cannot be cut to {dimensions}. Ask for fewer.")
    return vectors[..., :dimensions]


def normalise(vectors: mx.array) -> mx.array:
    """Return each row divided by its length, in float32.

    Raises:
        EmbedderError: a row has no direction: zero, NaN or infinite.
    """
    # In float32, as half precision overflows at the square of 256.
    vectors = vectors.astype(mx.float32)
    squares = mx.sum(mx.square(vectors), axis=-1, keepdims=True)
    # NaN fails these comparisons.
    sound = (squares >= _SMALLEST_SQUARE) & (squares < float("inf"))
    if not mx.all(sound).item():
        raise EmbedderError(NO_DIRECTION)
    return vectors / mx.sqrt(squares)
