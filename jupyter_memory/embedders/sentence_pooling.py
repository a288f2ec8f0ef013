"""One vector from the vectors of a text's tokens, in each way that sentence-transformers knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jupyter_memory.embedders.arrays import mx


def pool(hidden: mx.array, mask: mx.array, modes: Sequence[str]) -> mx.array:
    """Return float32 ``(rows, len(modes) * width)`` for ``hidden`` of ``(rows, tokens, width)``.

    ``mask``, float32 ``(rows, tokens)``, is 1 for tokens and 0 for the padding behind them. Source of the formulas:
    sentence_transformers' Pooling module.
    """
    hidden = hidden.astype(mx.float32)
    return mx.concatenate([_POOLS[mode](hidden, mask[:, :, None]) for mode in modes], axis=-1)


def _cls(hidden: mx.array, mask: mx.array) -> mx.array:
    return hidden[:, 0]


def _max(hidden: mx.array, mask: mx.array) -> mx.array:
    return mx.max(mx.where(mask > 0, hidden, -float("inf")), axis=1)


def _mean(hidden: mx.array, mask: mx.array) -> mx.array:
    return mx.sum(hidden * mask, axis=1) / mx.sum(mask, axis=1)


def _mean_sqrt(hidden: mx.array, mask: mx.array) -> mx.array:
    return mx.sum(hidden * mask, axis=1) / mx.sqrt(mx.sum(mask, axis=1))


def _weighted(hidden: mx.array, mask: mx.array) -> mx.array:
    """Return the mean in which the n-th token counts n times."""
    return _mean(hidden, mask * mx.arange(1, hidden.shape[1] + 1)[None, :, None])


def _last(hidden: mx.array, mask: mx.array) -> mx.array:
    last = mx.sum(mask, axis=1, keepdims=True).astype(mx.int32) - 1
    return mx.take_along_axis(hidden, last, axis=1)[:, 0]


_POOLS: dict[str, Callable[[mx.array, mx.array], mx.array]] = {
    "cls": _cls,
    "max": _max,
    "mean": _mean,
    "mean_sqrt": _mean_sqrt,
    "weighted": _weighted,
    "last": _last,
}
