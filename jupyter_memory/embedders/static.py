"""The static model that comes with the package: a table of token vectors, in NumPy."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from platform import machine
from typing import ClassVar

import numpy as np

from jupyter_memory.embedders.base import NO_DIRECTION, readable
from jupyter_memory.embedders.lifecycle import in_mlx_thread
from jupyter_memory.embedders.token_table import Done, Floats, Ids, Pooling, TokenTable, sum_tokens
from jupyter_memory.embedders.tokenizer import WEIGHTS, Tokens, bundled_file, half_precision, tokens, unknown
from jupyter_memory.errors import EmbedderError, InputError
from jupyter_memory.runtime import one_core
from jupyter_memory.text.identifiers import without_cjk
from jupyter_memory.types.protocols import Vectors

# Which arithmetic the static model uses: MLX where that is fast, else NumPy, with the same numbers up to rounding.


def load_table(file: Path) -> TokenTable:
    """Return the table of a checked safetensors file in float32."""
    if not _mlx_is_fast():
        return NumpyTable(file)
    try:
        from jupyter_memory.embedders.mlx_table import MlxTable
    except ImportError:
        # MLX has no wheels for Windows and Intel Macs.
        return NumpyTable(file)
    return MlxTable(file)


def _mlx_is_fast() -> bool:
    # With its own it takes four times as long as NumPy.
    if not has_mlx():
        return False
    if sys.platform != "linux":
        return True
    from jupyter_memory.embedders.blas import fast_blas

    return fast_blas().library is not None


def arithmetic() -> str:
    """Return what the static model computes with, and the library that multiplies matrices for it."""
    if not has_mlx():
        why = "is not installed, and only larger models need it" if runs_mlx() else "does not run here"
        return f"NumPy, since MLX {why}"
    if sys.platform != "linux":
        return "MLX"
    from jupyter_memory.embedders.blas import fast_blas

    blas = fast_blas()
    return f"NumPy ({blas.notice})" if blas.notice else f"MLX with {blas.name}"


def has_mlx() -> bool:
    """Return whether MLX is installed; an uninstall may leave the empty folder ``mlx``, which does not count."""
    return is_installed("mlx.core")


def is_installed(module: str) -> bool:
    """Return whether a module can be found; it is not imported, as that takes longer than all else of a status."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def runs_mlx() -> bool:
    """Return whether MLX has wheels for this kind of machine: Linux, and Macs with Apple silicon."""
    return sys.platform == "linux" or (sys.platform == "darwin" and machine() == "arm64")


class NumpyTable:
    """Token vectors as a NumPy array; see ``TokenTable``."""

    def __init__(self, file: Path) -> None:
        self._table = half_precision(file).astype(np.float32)

    @property
    def rows(self) -> int:
        return int(self._table.shape[0])

    @property
    def width(self) -> int:
        return int(self._table.shape[1])

    def run(self, work: Callable[[], Done], /) -> Done:
        return work()

    def total(self, ids: Ids, /) -> Floats:
        total: Floats = self._table[ids].sum(axis=0, keepdims=True)
        return total

    def product(self, often: Floats, ids: Ids, /) -> Floats:
        with one_core():
            found: Floats = often @ self._table[ids]
        return found

    def means(self, sums: Floats, counts: Floats, dimensions: int, /) -> Vectors:
        vectors = (sums / counts)[:, :dimensions]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        # NaN fails these comparisons.
        if not ((lengths > 0) & (lengths < np.inf)).all():
            raise EmbedderError(NO_DIRECTION)
        unit: Vectors = vectors / lengths
        return unit


# On no judged set (conversations, abstracts, code, documentation) do these lose more relevant pairs than 0.3 loses
# with MiniLM: 11.4, 5.3, 0.4 and 6.8 % there (tests/benchmarks/test_judged.py).
THRESHOLDS = {256: 0.22, 128: 0.23, 64: 0.29}

# Chosen on the judged sets with the table of this version, by training/evaluate.py.
_POOLING = Pooling(saturation=0.08, lead=32)

# Counts up when the text that an embedder receives is composed in another way.
_RECIPE = "ctx1"

# Characters tokenised as one piece, and in one call: that needs about 100 bytes for each.
_PIECE = 8_192
_CALL = 131_072
# Texts whose sums are held at once.
_BLOCK = 4_096
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class StaticEmbedder:
    """Embeds a text as the mean of its tokens' vectors, weighed by place and share, cut to 256, 128 or 64 dimensions.

    The first text loads the model's files, once for all embedders of a process.

    >>> StaticEmbedder(128).embed_query("monthly sales in Zürich").shape
    (128,)

    Raises:
        InputError: the model cannot be cut to these dimensions.
    """

    dimensions: int = 256
    name: ClassVar[str] = "static"
    # Embedding a question takes less time than reading its vector from a store.
    quick: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.dimensions not in THRESHOLDS:
            allowed = ", ".join(map(str, THRESHOLDS))
            raise InputError(f"The static model has {allowed} dimensions, not {self.dimensions}.")

    @property
    def fingerprint(self) -> str:
        """Return what decides a vector: model, weights, dimensions, pooling, recipe of the text."""
        return f"static-wordpiece-{WEIGHTS}/d{self.dimensions}/pooled-{_POOLING.saturation}-{_POOLING.lead}/{_RECIPE}"

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
            table = _model()

            sums = np.zeros((len(block), table.width), dtype=np.float32)
            counts = np.zeros((len(block), 1), dtype=np.float32)
            for owners, pieces in _calls(block):
                found = _whole(owners, tokens(pieces))
                # What `unique` does, which imports a module at its first call: a fork may come between.
                there = np.flatnonzero(np.bincount(owners))
                sums[there] += table.run(partial(sum_tokens, table, found.ids, found.ends, _POOLING))
                counts[there] += found.counts[:, None]
            means = partial(_means, table, *(sums, counts), unknown(), self.dimensions)

            vectors[start : start + len(block)] = table.run(means)
        return vectors

    def embed_tokens(self, found: Tokens, /) -> Vectors:
        """Return what ``embed_documents`` does, for the tokens of texts.

        Raises:
            EmbedderUnavailable: the model's files are missing or damaged.
        """
        table = _model()

        def means() -> Vectors:
            sums = sum_tokens(table, found.ids, found.ends, _POOLING)
            return _means(table, sums, found.counts[:, None].astype(np.float32), unknown(), self.dimensions)

        return table.run(means)

    def reads(self, text: str, /) -> bool:
        """Return whether the model knows one of the words of this text, or the text has none; signs do not count.

        The vocabulary has some characters of Chinese, Japanese, Korean and Thai, but nothing was learnt of them.
        """
        words = " ".join(_WORD.findall(text[:_PIECE]))
        ids = tokens([without_cjk(words)]).ids
        return not words or bool((ids != unknown()).any())

    def embed_query(self, text: str, /) -> Vectors:
        """Return float32 ``(dimensions,)`` of length 1.

        Raises:
            EmbedderUnavailable: the model's files are missing or damaged.
        """
        few = len(text) <= _PIECE
        vectors = self.embed_tokens(tokens([readable(text)])) if few else self.embed_documents([text])
        vector: Vectors = vectors[0]
        return vector


def _means(table: TokenTable, sums: Floats, counts: Floats, nothing: int, dimensions: int) -> Vectors:
    return table.means(*_spoken(table, sums, counts, nothing), dimensions)


def _spoken(table: TokenTable, sums: Floats, counts: Floats, nothing: int) -> tuple[Floats, Floats]:
    empty = counts[:, 0] == 0
    if not empty.any():
        return sums, counts
    return np.where(empty[:, None], table.total(np.array([nothing])), sums), np.maximum(counts, 1)


def _whole(owners: Sequence[int], pieces: Tokens) -> Tokens:
    return Tokens(pieces.ids, pieces.ends[np.flatnonzero(np.diff(owners, append=-1))])


# In the thread that forks wait for: a child would wait for ever for a module that its parent was importing. The inner
# cache is for threads that ask at the same time.
@cache
@in_mlx_thread
@cache
def _model() -> TokenTable:
    return load_table(bundled_file("weights"))


def _calls(texts: Sequence[str]) -> Iterator[tuple[list[int], list[str]]]:
    owners: list[int] = []
    pieces: list[str] = []
    size = 0
    for row, text in enumerate(texts):
        for piece in _pieces(readable(text)):
            owners.append(row)
            pieces.append(piece)
            size += len(piece)
            if size >= _CALL:
                yield owners, pieces
                owners, pieces, size = [], [], 0
    if pieces:
        yield owners, pieces


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > _PIECE:
        end = text.rfind(" ", start + 1, start + _PIECE + 1)
        if end < 0:
            end = start + _PIECE
        yield text[start:end]
        start = end + text.startswith(" ", end)
    yield text[start:]
