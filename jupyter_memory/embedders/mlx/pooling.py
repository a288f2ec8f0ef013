"""Make one vector from the vectors of a text's tokens: pooling as in sentence-transformers, then dense layers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from jupyter_memory.embedders.mlx.sentence_recipe import UNREADABLE, first_line
from jupyter_memory.embedders.runtime.mlx import mx, nn
from jupyter_memory.embedders.runtime.safetensors import read_tensors
from jupyter_memory.errors import EmbedderUnavailable


def pool(hidden: mx.array, mask: mx.array, modes: Sequence[str]) -> mx.array:
    """Return float32 ``(rows, len(modes) * width)`` for ``hidden`` of ``(rows, tokens, width)``.

    ``mask``, float32 ``(rows, tokens)``, is 1 for tokens and 0 for the padding behind them. Source of the formulas:
    sentence_transformers' Pooling module.
    """
    hidden = hidden.astype(mx.float32)
    return mx.concatenate([_POOLS[mode](hidden, mask[:, :, None]) for mode in modes], axis=-1)


def dense_layer(folder: Path) -> Callable[[mx.array], mx.array]:
    """Return the layer of a Dense module.

    Raises:
        EmbedderUnavailable: its files are missing or damaged.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = read_tensors(folder / "model.safetensors")
        values = [(name.removeprefix("linear."), value.astype(mx.float32)) for name, value in weights.items()]
        layer = nn.Linear(config["in_features"], config["out_features"], bias=bool(config.get("bias", True)))
        layer.load_weights(values)
        activation = _ACTIVATIONS[str(config.get("activation_function", "Tanh")).rpartition(".")[2]]
    except UNREADABLE as broken:
        raise EmbedderUnavailable(
            f"The dense layer in {folder} cannot be read: {first_line(broken)}. Fetch it again, with its "
            "model.safetensors."
        ) from broken
    mx.eval(layer.parameters())
    return lambda vectors: activation(layer(vectors))


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
_ACTIVATIONS: dict[str, Callable[[mx.array], mx.array]] = {
    "Identity": lambda x: x,
    "Tanh": mx.tanh,
    "ReLU": lambda x: mx.maximum(x, 0),
    "Sigmoid": mx.sigmoid,
}
