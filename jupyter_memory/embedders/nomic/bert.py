"""The nomic-bert architecture: BERT with rotary positions, a gated MLP and no biases."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_memory.embedders.bert.layers import Attention, Layer, Norm
from jupyter_memory.embedders.runtime import cpu_math
from jupyter_memory.embedders.runtime.mlx import mx, nn, on_cpu


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a model; the defaults are the sizes of nomic-embed-text-v1.5."""

    vocabulary: int = 30_528
    width: int = 768
    layers: int = 12
    heads: int = 12
    inner: int = 3_072
    token_types: int = 2
    rotary_base: float = 1_000.0
    epsilon: float = 1e-12


class NomicBert(nn.Module):  # type: ignore[misc]
    """Token ids to token vectors.

    On the CPU the most expensive functions come from `cpu_math`; on a GPU MLX's own kernels are faster.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(shape.vocabulary, shape.width)
        self.types = nn.Embedding(shape.token_types, shape.width)
        self.norm = Norm(shape.width, eps=shape.epsilon)
        self.layers = [
            Layer(
                Attention(shape.width, shape.heads, bias=False, rotary_base=shape.rotary_base),
                Mlp(shape),
                shape.width,
                shape.epsilon,
            )
            for _ in range(shape.layers)
        ]

    def __call__(self, ids: mx.array, mask: mx.array | None = None) -> mx.array:
        """Return ``(batch, tokens, width)`` for int ``ids`` of ``(batch, tokens)``.

        ``mask`` is 1 for tokens and 0 for padding, of the same shape; leave it out where nothing is padding.
        """
        # Every token is of the first type: a text, not the second half of a pair.
        hidden: mx.array = self.norm(self.words(ids) + self.types(mx.zeros((1,), mx.int32)))
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return hidden


class Mlp(nn.Module):  # type: ignore[misc]
    """A gated MLP: ``down(silu(gate) * up)``."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate = nn.Linear(shape.width, shape.inner, bias=False)
        self.up = nn.Linear(shape.width, shape.inner, bias=False)
        self.down = nn.Linear(shape.inner, shape.width, bias=False)

    def __call__(self, hidden: mx.array) -> mx.array:
        gate, up = self.gate(hidden), self.up(hidden)
        down: mx.array = self.down(cpu_math.swiglu(gate, up) if on_cpu() else nn.silu(gate) * up)
        return down
