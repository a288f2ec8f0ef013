"""The architecture of all-MiniLM-L6-v2: BERT as it was published, with learnt positions, biases and GELU."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_memory.embedders.bert.layers import Attention, Layer, Norm
from jupyter_memory.embedders.runtime import cpu_math
from jupyter_memory.embedders.runtime.mlx import mx, nn, on_cpu


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a model; the defaults are the sizes of all-MiniLM-L6-v2."""

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

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(shape.vocabulary, shape.width)
        self.positions = nn.Embedding(shape.positions, shape.width)
        self.types = nn.Embedding(shape.token_types, shape.width)
        self.norm = Norm(shape.width, eps=shape.epsilon)
        self.layers = [
            Layer(Attention(shape.width, shape.heads, bias=True), Mlp(shape), shape.width, shape.epsilon)
            for _ in range(shape.layers)
        ]

    def __call__(self, ids: mx.array, mask: mx.array | None = None) -> mx.array:
        """Return ``(batch, tokens, width)`` for int ``ids`` of ``(batch, tokens)``.

        ``mask`` is 1 for tokens and 0 for padding, of the same shape; leave it out where nothing is padding.
        """
        # Every token is of the first type: a text, not the second half of a pair.
        places = self.positions.weight[: ids.shape[1]] + self.types.weight[0]
        hidden: mx.array = self.norm(self.words(ids) + places)
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return hidden


class Mlp(nn.Module):  # type: ignore[misc]
    """``down(gelu(up))``."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.up = nn.Linear(shape.width, shape.inner)
        self.down = nn.Linear(shape.inner, shape.width)

    def __call__(self, hidden: mx.array) -> mx.array:
        up = self.up(hidden)
        down: mx.array = self.down(cpu_math.gelu(up) if on_cpu() else nn.gelu(up))
        return down
