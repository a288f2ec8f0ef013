"""BERT and nomic-bert as one would write them down: plain NumPy in double precision, one text at a time."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

erfc = np.vectorize(math.erfc, otypes=[float])


def vector(kind: str, weights: Mapping[str, Any], ids: Sequence[int], heads: int) -> Any:
    named = {name: np.asarray(value, np.float64) for name, value in weights.items()}
    hidden = (_nomic if kind == "nomic" else _bert)(named, ids, heads)
    mean = hidden.mean(axis=0)
    if kind == "nomic":
        mean = (mean - mean.mean()) / np.sqrt(mean.var() + 1e-5)
    return mean / np.linalg.norm(mean)


def _norm(x, weights, name):
    normal = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-12)
    return normal * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _linear(x, weights, name):
    return x @ weights[f"{name}.weight"].T + weights.get(f"{name}.bias", 0)


def _attend(queries, keys, values, heads):
    queries, keys, values = (one.reshape(len(one), heads, -1).swapaxes(0, 1) for one in (queries, keys, values))
    scores = queries @ keys.swapaxes(1, 2) / np.sqrt(queries.shape[-1])
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    found = shares / shares.sum(axis=-1, keepdims=True) @ values
    return found.swapaxes(0, 1).reshape(found.shape[1], -1)


def _turned(x, heads):
    """Turn each head's halves by the position times a power of the base."""
    first, second = np.split(x.reshape(len(x), heads, -1), 2, axis=-1)
    half = first.shape[-1]
    angles = (np.arange(len(x))[:, None] * 1_000.0 ** (-np.arange(half) / half))[:, None]
    turned = (first * np.cos(angles) - second * np.sin(angles), second * np.cos(angles) + first * np.sin(angles))
    return np.concatenate(turned, axis=-1).reshape(x.shape)


def _nomic(weights, ids, heads):
    x = weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.token_type_embeddings.weight"][0]
    x = _norm(x, weights, "emb_ln")
    for layer in (f"encoder.layers.{number}" for number in range(_count(weights, "encoder.layers."))):
        queries, keys, values = np.split(_linear(x, weights, f"{layer}.attn.Wqkv"), 3, axis=-1)
        seen = _attend(_turned(queries, heads), _turned(keys, heads), values, heads)
        x = _norm(x + _linear(seen, weights, f"{layer}.attn.out_proj"), weights, f"{layer}.norm1")
        gate = _linear(x, weights, f"{layer}.mlp.fc12")
        gate = gate / (1 + np.exp(-gate.clip(-700, None))) * _linear(x, weights, f"{layer}.mlp.fc11")
        x = _norm(x + _linear(gate, weights, f"{layer}.mlp.fc2"), weights, f"{layer}.norm2")
    return x


def _bert(weights, ids, heads):
    x = weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.token_type_embeddings.weight"][0]
    x = _norm(x + weights["embeddings.position_embeddings.weight"][: len(ids)], weights, "embeddings.LayerNorm")
    for layer in (f"encoder.layer.{number}" for number in range(_count(weights, "encoder.layer."))):
        seen = _attend(
            *(_linear(x, weights, f"{layer}.attention.self.{one}") for one in ("query", "key", "value")), heads
        )
        x = _norm(
            x + _linear(seen, weights, f"{layer}.attention.output.dense"),
            weights,
            f"{layer}.attention.output.LayerNorm",
        )
        inner = _linear(x, weights, f"{layer}.intermediate.dense")
        inner = inner * 0.5 * erfc(-inner / math.sqrt(2))
        x = _norm(x + _linear(inner, weights, f"{layer}.output.dense"), weights, f"{layer}.output.LayerNorm")
    return x


def _count(weights, prefix):
    return 1 + max(int(name.removeprefix(prefix).split(".")[0]) for name in weights if name.startswith(prefix))
