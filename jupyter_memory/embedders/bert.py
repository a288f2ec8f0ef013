"""BERT in MLX, in the two shapes of nomic and MiniLM."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jupyter_memory.embedders import cpu_math
from jupyter_memory.embedders.cpu_math import LOG2_E
from jupyter_memory.embedders.mlx_runtime import mx, nn, on_cpu

# From this many tokens on, the CPU computes the attention of each text by itself: products of this width are fast.
_LONG = 256


@dataclass(frozen=True, slots=True)
class NomicShape:
    """BERT with rotary positions, a gated MLP and no biases; the defaults are the sizes of nomic-embed-text-v1.5."""

    vocabulary: int = 30_528
    width: int = 768
    layers: int = 12
    heads: int = 12
    inner: int = 3_072
    token_types: int = 2
    rotary_base: float = 1_000.0
    epsilon: float = 1e-12


@dataclass(frozen=True, slots=True)
class BertShape:
    """BERT as it was published, with learnt positions, biases and GELU; the defaults are those of all-MiniLM-L6-v2."""

    vocabulary: int = 30_522
    width: int = 384
    layers: int = 6
    heads: int = 12
    inner: int = 1_536
    positions: int = 512
    token_types: int = 2
    epsilon: float = 1e-12


class Bert(nn.Module):  # type: ignore[misc]
    """Token ids to token vectors."""

    def __init__(self, shape: NomicShape | BertShape) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(shape.vocabulary, shape.width)
        if isinstance(shape, BertShape):
            self.positions = nn.Embedding(shape.positions, shape.width)
        self.types = nn.Embedding(shape.token_types, shape.width)
        self.norm = _Norm(shape.width, eps=shape.epsilon)
        self.layers = [_Layer(shape) for _ in range(shape.layers)]

    def __call__(self, ids: mx.array, mask: mx.array | None = None) -> mx.array:
        """Return ``(batch, tokens, width)`` for ``(batch, tokens)``; ``mask`` is 1 for tokens and 0 for padding."""
        # Every token is of the first type: a text, not the second half of a pair.
        places = self.types(mx.zeros((1,), mx.int32))
        if "positions" in self:
            places = self.positions.weight[: ids.shape[1]] + places
        hidden: mx.array = self.norm(self.words(ids) + places)
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return hidden


class _Norm(nn.LayerNorm):  # type: ignore[misc]
    def __call__(self, hidden: mx.array) -> mx.array:
        if on_cpu():
            return cpu_math.layer_norm(hidden, self.weight, self.bias, self.eps)
        normal: mx.array = super().__call__(hidden)
        return normal


class _Layer(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: NomicShape | BertShape) -> None:
        super().__init__()
        self.attention = _Attention(shape)
        self.attention_norm = _Norm(shape.width, eps=shape.epsilon)
        self.mlp = _Mlp(shape)
        self.mlp_norm = _Norm(shape.width, eps=shape.epsilon)

    def __call__(self, hidden: mx.array, mask: mx.array | None) -> mx.array:
        hidden = self.attention_norm(hidden + self.attention(hidden, mask))
        output: mx.array = self.mlp_norm(hidden + self.mlp(hidden))
        return output


class _Mlp(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: NomicShape | BertShape) -> None:
        super().__init__()
        gated = isinstance(shape, NomicShape)
        if gated:
            self.gate = nn.Linear(shape.width, shape.inner, bias=False)
        self.up = nn.Linear(shape.width, shape.inner, bias=not gated)
        self.down = nn.Linear(shape.inner, shape.width, bias=not gated)

    def __call__(self, hidden: mx.array) -> mx.array:
        if "gate" in self:
            gate, up = self.gate(hidden), self.up(hidden)
            inner = cpu_math.swiglu(gate, up) if on_cpu() else nn.silu(gate) * up
        else:
            up = self.up(hidden)
            inner = cpu_math.gelu(up) if on_cpu() else nn.gelu(up)
        down: mx.array = self.down(inner)
        return down


class _Attention(nn.Module):  # type: ignore[misc]
    # With a base, positions rotate the halves of queries and keys.

    def __init__(self, shape: NomicShape | BertShape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.base = shape.rotary_base if isinstance(shape, NomicShape) else None
        self.query, self.key, self.value, self.out = (
            nn.Linear(shape.width, shape.width, bias=self.base is None) for _ in range(4)
        )

    def __call__(self, hidden: mx.array, mask: mx.array | None) -> mx.array:
        if on_cpu():
            return self._on_cpu(hidden, mask)
        batch, tokens, width = hidden.shape
        queries, keys, values = (
            project(hidden).reshape(batch, tokens, self.heads, -1).transpose(0, 2, 1, 3)
            for project in (self.query, self.key, self.value)
        )
        if self.base is not None:
            queries, keys = _turned(queries, self.base), _turned(keys, self.base)
        allowed = None if mask is None else mask[:, None, None, :].astype(mx.bool_)
        scale = queries.shape[-1] ** -0.5
        found = mx.fast.scaled_dot_product_attention(queries, keys, values, scale=scale, mask=allowed)
        joined: mx.array = self.out(found.transpose(0, 2, 1, 3).reshape(batch, tokens, width))
        return joined

    def _on_cpu(self, hidden: mx.array, mask: mx.array | None = None) -> mx.array:
        batch, tokens, width = hidden.shape
        if batch > 1 and tokens >= _LONG:
            both = (hidden,) if mask is None else (hidden, mask)
            texts = (tuple(array[row : row + 1] for array in both) for row in range(batch))
            return mx.concatenate(cpu_math.in_turn(texts, self._on_cpu))
        columns = hidden.reshape(-1, width).T
        size = width // self.heads
        queries, keys, values = (
            (mx.addmm(one.bias[:, None], one.weight, columns) if "bias" in one else one.weight @ columns).reshape(
                self.heads, size, batch, tokens
            )
            for one in (self.query, self.key, self.value)
        )
        scale = LOG2_E / math.sqrt(size)
        if self.base is None:
            queries = queries * scale
        else:
            queries, keys = cpu_math.rotate(queries, self.base, scale), cpu_math.rotate(keys, self.base)
        joined: mx.array = self.out(cpu_math.attend(queries, keys, values, mask))
        return joined


def _turned(heads: mx.array, base: float) -> mx.array:
    return mx.fast.rope(heads, heads.shape[-1], traditional=False, base=base, scale=1.0, offset=0)
