"""The layers of BERT, for models with biases and positions of their own and for those whose positions rotate."""

from __future__ import annotations

import math

from jupyter_memory.embedders.runtime import cpu_math
from jupyter_memory.embedders.runtime.cpu_math import LOG2_E
from jupyter_memory.embedders.runtime.mlx import mx, nn, on_cpu

# From this many tokens on, the CPU computes the attention of each text by itself: products of this width are fast.
_LONG = 256


class Norm(nn.LayerNorm):  # type: ignore[misc]
    """Layer norm; on the CPU its means are matrix products."""

    def __call__(self, hidden: mx.array) -> mx.array:
        if on_cpu():
            return cpu_math.layer_norm(hidden, self.weight, self.bias, self.eps)
        normal: mx.array = super().__call__(hidden)
        return normal


class Layer(nn.Module):  # type: ignore[misc]
    """Attention, then the MLP; each is added to its input, and the sum is normalised."""

    def __init__(self, attention: Attention, mlp: nn.Module, width: int, epsilon: float) -> None:
        super().__init__()
        self.attention = attention
        self.attention_norm = Norm(width, eps=epsilon)
        self.mlp = mlp
        self.mlp_norm = Norm(width, eps=epsilon)

    def __call__(self, hidden: mx.array, mask: mx.array | None) -> mx.array:
        hidden = self.attention_norm(hidden + self.attention(hidden, mask))
        output: mx.array = self.mlp_norm(hidden + self.mlp(hidden))
        return output


class Attention(nn.Module):  # type: ignore[misc]
    """Self-attention; with a ``rotary_base``, positions rotate the halves of queries and keys."""

    def __init__(self, width: int, heads: int, *, bias: bool, rotary_base: float | None = None) -> None:
        super().__init__()
        self.heads = heads
        self.base = rotary_base
        self.query = nn.Linear(width, width, bias=bias)
        self.key = nn.Linear(width, width, bias=bias)
        self.value = nn.Linear(width, width, bias=bias)
        self.out = nn.Linear(width, width, bias=bias)

    def __call__(self, hidden: mx.array, mask: mx.array | None) -> mx.array:
        if on_cpu():
            return self._on_cpu(hidden, mask)
        batch, tokens, width = hidden.shape

        def by_head(projected: mx.array) -> mx.array:
            return projected.reshape(batch, tokens, self.heads, -1).transpose(0, 2, 1, 3)

        queries, keys, values = (by_head(project(hidden)) for project in (self.query, self.key, self.value))
        if self.base is not None:
            queries, keys = _turned(queries, self.base), _turned(keys, self.base)
        joined: mx.array = self.out(
            attend(queries, keys, values, mask).transpose(0, 2, 1, 3).reshape(batch, tokens, width)
        )
        return joined

    def _on_cpu(self, hidden: mx.array, mask: mx.array | None = None) -> mx.array:
        """Project each token to a column, not a row, so that a head's values need not be copied."""
        batch, tokens, width = hidden.shape
        if batch > 1 and tokens >= _LONG:
            both = (hidden,) if mask is None else (hidden, mask)
            texts = (tuple(array[row : row + 1] for array in both) for row in range(batch))
            return mx.concatenate(cpu_math.in_turn(texts, self._on_cpu))
        columns = hidden.reshape(-1, width).T
        size = width // self.heads
        queries, keys, values = (
            _columns(project, columns).reshape(self.heads, size, batch, tokens)
            for project in (self.query, self.key, self.value)
        )
        scale = LOG2_E / math.sqrt(size)
        if self.base is None:
            queries = queries * scale
        else:
            queries, keys = cpu_math.rotate(queries, self.base, scale), cpu_math.rotate(keys, self.base)
        joined: mx.array = self.out(cpu_math.attend(queries, keys, values, mask))
        return joined


def attend(queries: mx.array, keys: mx.array, values: mx.array, mask: mx.array | None) -> mx.array:
    """Return ``softmax(queries @ keys.T / sqrt(width)) @ values``, all ``(batch, heads, tokens, width)``."""
    scale = queries.shape[-1] ** -0.5
    allowed = None if mask is None else mask[:, None, None, :].astype(mx.bool_)
    return mx.fast.scaled_dot_product_attention(queries, keys, values, scale=scale, mask=allowed)


def _columns(project: nn.Linear, columns: mx.array) -> mx.array:
    return mx.addmm(project.bias[:, None], project.weight, columns) if "bias" in project else project.weight @ columns


def _turned(heads: mx.array, base: float) -> mx.array:
    return mx.fast.rope(heads, heads.shape[-1], traditional=False, base=base, scale=1.0, offset=0)
