"""The bundled model: a table of token vectors, averaged over a text; no download, no network, no wait."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.checked import NOTHING, readable
from jupyter_memory.embedders.matryoshka import shorten
from jupyter_memory.embedders.runtime.mlx import BLAS, mx
from jupyter_memory.embedders.runtime.mlx_thread import in_mlx_thread
from jupyter_memory.embedders.runtime.safetensors import read_tensors
from jupyter_memory.embedders.tokenizer.bundled import bundled_file
from jupyter_memory.embedders.tokenizer.pieces import Tokens, tokens
from jupyter_memory.errors import InputError
from jupyter_memory.protocols import Vectors

# Measured by benchmarks/threshold.py: on no judged set (conversations, abstracts, code, documentation) do these lose
# more relevant pairs than 0.3 loses with MiniLM: 11.4, 5.3, 0.4 and 6.8 % there; here 11.1, 1.8, 0.0 and 5.2 % at 256,
# 11.4, 2.1, 0.2 and 5.2 % at 128, 11.4, 1.2, 0.2 and 3.6 % at 64. At 0.3, a quarter of the conversations' would go.
THRESHOLDS = {256: 0.21, 128: 0.24, 64: 0.25}

# The first digits of the weights' sha256, which `bundled` checks.
_WEIGHTS = "64b47a2d"
# Counts up when the text that an embedder receives is composed in another way.
_RECIPE = "ctx1"

# Characters tokenised as one piece, and in one call: that needs about 100 bytes for each.
_PIECE = 8_192
_CALL = 131_072
# Texts whose sums are held at once.
_BLOCK = 4_096
# The most texts and tokens that are counted together: larger groups have few tokens in common.
_GROUP_ROWS = 32
_GROUP_TOKENS = 8_192
_FEW = 100

_loading = Lock()


@dataclass(frozen=True)
class StaticEmbedder:
    """Embeds a text as the mean of its tokens' vectors, cut to 256, 128 or 64 dimensions.

    The first text loads the model's files, once for all embedders of a process.

    >>> StaticEmbedder(128).embed_query("monthly sales in Zürich").shape
    (128,)

    Raises:
        InputError: the model cannot be cut to these dimensions.
    """

    dimensions: int = 256
    # Embedding a question takes less time than reading its vector from a store.
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
        """Return the cosine below which a hit is noise."""
        return THRESHOLDS[self.dimensions]

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """Return float32 ``(len(texts), dimensions)``, each row of length 1; even an empty text has one.

        Raises:
            EmbedderUnavailable: the model's files are missing or damaged.
        """
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _BLOCK):
            block = texts[start : start + _BLOCK]
            vectors[start : start + len(block)] = _shortened(*_sums(block), self.dimensions)
        return vectors

    def embed_tokens(self, found: Tokens, /) -> Vectors:
        """Return what ``embed_documents`` does, for the tokens of texts, of which each has one at least.

        Raises:
            EmbedderUnavailable: the model's files are missing or damaged.
        """
        return _vectors(_model(), found, self.dimensions)

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


@in_mlx_thread
def _vectors(table: mx.array, found: Tokens, dimensions: int) -> Vectors:
    """Return the vectors of texts whose tokens are known."""
    sums = sum_tokens(table, found.ids, found.ends)
    return _shortened(sums, found.counts[:, None].astype(np.float32), dimensions)


@in_mlx_thread
def _shortened(sums: NDArray[np.float32], counts: NDArray[np.float32], dimensions: int) -> Vectors:
    vectors: Vectors = np.asarray(shorten(mx.array(sums) / mx.array(counts), dimensions))
    return vectors


def _sums(texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return ``(len(texts), 256)``, the sum of the vectors of each text's tokens, and how many tokens each has."""
    table = _model()
    sums = np.zeros((len(texts), table.shape[1]), dtype=np.float32)
    counts = np.zeros((len(texts), 1), dtype=np.float32)
    for owners, pieces in _calls(texts):
        found = tokens(pieces)
        np.add.at(sums, owners, sum_tokens(table, found.ids, found.ends))
        np.add.at(counts, owners, found.counts[:, None])
    return sums, counts


def _model() -> mx.array:
    """Return the token table in float32, loaded by the first thread that asks."""
    with _loading:
        return _load()


@cache
@in_mlx_thread
def _load() -> mx.array:
    table = read_tensors(bundled_file("weights"))["embedding.weight"].astype(mx.float32)
    # MLX is lazy, and another thread cannot finish what this one has begun.
    mx.eval(table)
    mx.clear_cache()
    return table


@in_mlx_thread
def sum_tokens(table: mx.array, ids: NDArray[np.int32], ends: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return float32 ``(len(ends), width)``: the sum of the rows of ``table`` that each text names.

    Text ``i`` names ``ids[ends[i - 1]:ends[i]]``. Words come back, within a text and from text to text, so a group of
    texts is a matrix of how often each has each token, times the vectors of these tokens: half the time of gathering
    a vector for every token.
    """
    if len(ends) == 1 and len(ids) <= _FEW:
        # A question: counting takes longer than adding up.
        return np.asarray(mx.sum(table[mx.array(ids)], axis=0, keepdims=True))
    sums = np.empty((len(ends), table.shape[1]), dtype=np.float32)
    counts = np.diff(ends, prepend=0)
    column = np.empty(table.shape[0], dtype=np.int64)
    for first, last in _groups(ends):
        of_group = ids[ends[first] - counts[first] : ends[last - 1]]
        # Marked, not sorted as by `unique`, which takes longer than the product.
        there = np.zeros(table.shape[0], dtype=np.bool_)
        there[of_group] = True
        found = np.flatnonzero(there)
        column[found] = np.arange(found.size)
        rows = np.repeat(np.arange(last - first) * found.size, counts[first:last])
        times = np.bincount(rows + column[of_group], minlength=(last - first) * found.size)
        often = mx.array(times.reshape(last - first, found.size).astype(np.float32))
        # One thread: the matrices are small, and several would wait for each other.
        with BLAS.threads(1):
            sums[first:last] = np.asarray(often @ table[mx.array(found)])
    return sums


def _groups(ends: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield the first row of each group and the one after its last."""
    first = 0
    while first < len(ends):
        before = ends[first - 1] if first else 0
        last = int(np.searchsorted(ends, before + _GROUP_TOKENS, side="right"))
        last = max(first + 1, min(last, first + _GROUP_ROWS))
        yield first, last
        first = last


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
    """Replace the lock in a forked child: the thread that held it was not forked."""
    global _loading
    _loading = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open_lock)
