"""The embedded model: a table of token vectors, averaged over a text; no download, no network, no wait."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import ClassVar, cast

import numpy as np

from jupyter_memory.bundled import bundled_file
from jupyter_memory.embedders.arrays import mx, own_stream
from jupyter_memory.embedders.matryoshka import shorten
from jupyter_memory.embedders.pooling import sum_tokens
from jupyter_memory.embedders.readable import NOTHING, readable
from jupyter_memory.errors import InputError
from jupyter_memory.pieces import Tokens, tokens
from jupyter_memory.protocols import Vectors

# Measured by benchmarks/threshold.py: on no judged set (conversations, abstracts, code, documentation) do these lose
# more relevant pairs than 0.3 loses with MiniLM: 11.4, 5.3, 0.4 and 6.8 % there; here 11.1, 1.8, 0.0 and 5.2 % at 256,
# 11.4, 2.1, 0.2 and 5.2 % at 128, 11.4, 1.2, 0.2 and 3.6 % at 64. At 0.3, a quarter of the conversations' would go.
THRESHOLDS = {256: 0.21, 128: 0.24, 64: 0.25}

# The first digits of the weights' sha256, which `bundled` checks.
_WEIGHTS = "64b47a2d"
# Counts up when the text that is handed to an embedder is put together in another way.
_RECIPE = "ctx1"

# Characters tokenised as one piece, and in one call: that needs about 100 bytes for each.
_PIECE = 8_192
_CALL = 131_072
# Texts whose sums are held at once.
_BLOCK = 4_096

_loading = Lock()


@dataclass(frozen=True)
class StaticEmbedder:
    """Embeds a text as the mean of its tokens' vectors, cut to 256, 128 or 64 dimensions.

    The model's files are read by the first text, and once for all embedders of a process.

    >>> StaticEmbedder(128).embed_query("monthly sales in Zürich").shape
    (128,)

    Raises:
        InputError: the model cannot be cut to these dimensions.
    """

    dimensions: int = 256
    # A question takes less time than looking up its vector in a store.
    quick: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.dimensions not in THRESHOLDS:
            allowed = ", ".join(map(str, THRESHOLDS))
            raise InputError(f"The static model has {allowed} dimensions, not {self.dimensions}.")

    @property
    def name(self) -> str:
        return "static"

    @property
    def fingerprint(self) -> str:
        """Return what decides a vector: model, weights, dimensions, pooling, recipe of the text."""
        return f"static-l2-supercat-{_WEIGHTS}/d{self.dimensions}/mean/{_RECIPE}"

    @property
    def threshold(self) -> float:
        """Return the cosine below which a find is noise."""
        return THRESHOLDS[self.dimensions]

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """Return float32 ``(len(texts), dimensions)``, each row of length 1; even an empty text has one.

        Raises:
            EmbedderUnavailable: the model's files are missing or damaged.
        """
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _BLOCK):
            block = texts[start : start + _BLOCK]
            vectors[start : start + len(block)] = np.asarray(shorten(_means(block), self.dimensions))
        return vectors

    def embed_tokens(self, found: Tokens, /) -> Vectors:
        """Return what ``embed_documents`` does, for the tokens of texts, of which each has one at least.

        Raises:
            EmbedderUnavailable: the model's files are missing or damaged.
        """
        sums = mx.array(sum_tokens(_model(), found.ids, found.ends))
        return np.asarray(shorten(sums / mx.array(found.counts[:, None].astype(np.float32)), self.dimensions))

    def embed_query(self, text: str, /) -> Vectors:
        """Return float32 ``(dimensions,)`` of length 1.

        Raises:
            EmbedderUnavailable: the model's files are missing or damaged.
        """
        if len(text) > _PIECE:
            vectors = self.embed_documents([text])
        else:
            vectors = self.embed_tokens(tokens([readable(text) or NOTHING]))
        vector: Vectors = vectors[0]
        return vector


def _means(texts: Sequence[str]) -> mx.array:
    """Return ``(len(texts), 256)``: the mean of the vectors of each text's tokens."""
    table = _model()
    sums = np.zeros((len(texts), table.shape[1]), dtype=np.float32)
    counts = np.zeros((len(texts), 1), dtype=np.float32)
    for owners, pieces in _calls(texts):
        found = tokens(pieces)
        np.add.at(sums, owners, sum_tokens(table, found.ids, found.ends))
        np.add.at(counts, owners, found.counts[:, None])
    return mx.array(sums) / mx.array(counts)


def _model() -> mx.array:
    """Return the token table in float32, loaded by the first thread that asks."""
    own_stream()
    with _loading:
        return _load()


@cache
def _load() -> mx.array:
    weights = cast(dict[str, mx.array], mx.load(str(bundled_file("weights"))))
    table = weights["embedding.weight"].astype(mx.float32)
    # MLX is lazy, and what one thread has begun no other thread can finish.
    mx.eval(table)
    mx.clear_cache()
    return table


def _calls(texts: Sequence[str]) -> Iterator[tuple[list[int], list[str]]]:
    """Yield the texts in pieces, as many as one call of the tokenizer takes, with the row of each."""
    owners: list[int] = []
    pieces: list[str] = []
    size = 0
    for row, text in enumerate(texts):
        for piece in _pieces(readable(text) or NOTHING):
            owners.append(row)
            pieces.append(piece)
            size += len(piece)
            if size >= _CALL:
                yield owners, pieces
                owners, pieces, size = [], [], 0
    if pieces:
        yield owners, pieces


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces, cut at spaces: the tokenizer puts one before each, so tokens stay the same."""
    start = 0
    while len(text) - start > _PIECE:
        end = text.rfind(" ", start + 1, start + _PIECE + 1)
        if end < 0:
            end = start + _PIECE
        yield text[start:end]
        start = end + text.startswith(" ", end)
    yield text[start:]


def _open_lock() -> None:
    """In a forked child: the thread that held it is not there."""
    global _loading
    _loading = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open_lock)
