"""The static model that comes with the package: a table of token vectors, in NumPy."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from platform import machine
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.base import Floats, Ids, TokenTable, readable
from jupyter_memory.embedders.lifecycle import in_mlx_thread
from jupyter_memory.embedders.tokenizer import WEIGHTS, Tokens, bundled_file, tokens, unknown
from jupyter_memory.errors import InputError
from jupyter_memory.text.identifiers import without_cjk
from jupyter_memory.types.protocols import Vectors

# The most texts and tokens that are counted together: larger groups have few tokens in common.
_GROUP_ROWS = 32
_GROUP_TOKENS = 8_192


@dataclass(frozen=True, slots=True)
class Pooling:
    """How the tokens of a text are weighed in their sum; by default, all alike.

    ``saturation`` is the share of a text at which a token counts half, so that brackets do not drown names. With a
    ``lead``, the first token counts double, as a title or a signature does; the excess falls to a third in so many.
    """

    saturation: float = 0.0
    lead: float = 0.0


MEAN = Pooling()


def sum_tokens(table: TokenTable, ids: Ids, ends: NDArray[np.int64], pooling: Pooling = MEAN) -> Floats:
    """Return float32 ``(len(ends), width)``: the weighted sum of the rows that each text names, as in ``Tokens``."""
    # Words come back, within a text and from text to text, so a group of texts is a matrix of how often each has each
    # token, times the vectors of these tokens: half the time of gathering a vector for every token.
    sums = np.empty((len(ends), table.width), dtype=np.float32)
    counts = np.diff(ends, prepend=0)
    column = np.empty(table.rows, dtype=np.int64)
    first = 0
    while first < len(ends):
        before = ends[first - 1] if first else 0
        last = int(np.searchsorted(ends, before + _GROUP_TOKENS, side="right"))
        last = max(first + 1, min(last, first + _GROUP_ROWS))
        of_group = ids[ends[first] - counts[first] : ends[last - 1]]
        # Marked, not sorted as by `unique`, which takes longer than the product.
        there = np.zeros(table.rows, dtype=np.bool_)
        there[of_group] = True
        found = np.flatnonzero(there)
        column[found] = np.arange(found.size)
        rows = np.repeat(np.arange(last - first) * found.size, counts[first:last])
        leading = None
        if pooling.lead:
            longest = 1 + np.exp(-np.arange(counts[first:last].max(initial=0)) / pooling.lead)
            leading = np.concatenate([longest[:count] for count in counts[first:last]])
        times = np.bincount(rows + column[of_group], leading, (last - first) * found.size)
        often = times.reshape(last - first, found.size).astype(np.float32)
        if pooling.saturation:
            often /= 1 + often / np.maximum(often.sum(axis=1, keepdims=True) * np.float32(pooling.saturation), 1e-9)
        sums[first:last] = table.product(often, found)
        first = last
    return sums


def arithmetic() -> str:
    """Return what the static model computes with, and what multiplies matrices for it."""
    if not is_installed():
        why = "is not installed, and only larger models need it" if runs_mlx() else "does not run here"
        return f"NumPy, since MLX {why}"
    if sys.platform != "linux":
        return "MLX"
    from jupyter_memory.embedders.blas import fast_blas

    blas = fast_blas()
    return f"NumPy ({blas.notice})" if blas.notice else f"MLX with {blas.name}"


def is_installed(module: str = "mlx.core") -> bool:
    """Return whether a module can be found; it is not imported, as that takes longer than all else of a status.

    An uninstall may leave the empty folder ``mlx``, which does not count.
    """
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def runs_mlx() -> bool:
    """Return whether MLX has wheels for this kind of machine: Linux, and Macs with Apple silicon."""
    return sys.platform == "linux" or (sys.platform == "darwin" and machine() == "arm64")


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
# A piece ends before a space if it has one.
_PIECES = re.compile(rf"(.{{1,{_PIECE}}})(?: |\Z)|.{{{_PIECE}}}", re.DOTALL)
# Texts whose sums are held at once.
_BLOCK = 4_096
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class StaticEmbedder:
    """Embeds a text as the mean of its tokens' vectors, weighed by place and share, cut to 256, 128 or 64 dimensions.

    >>> StaticEmbedder(128).embed_query("monthly sales in Zürich").shape
    (128,)
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
        return f"static-wordpiece-{WEIGHTS}/d{self.dimensions}/pooled-{_POOLING.saturation}-{_POOLING.lead}/{_RECIPE}"

    @property
    def threshold(self) -> float:
        return THRESHOLDS[self.dimensions]

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _BLOCK):
            block = texts[start : start + _BLOCK]
            table = _model()

            sums = np.zeros((len(block), table.width), dtype=np.float32)
            counts = np.zeros((len(block), 1), dtype=np.float32)
            for owners, pieces in _calls(block):
                found = tokens(pieces)
                found = Tokens(found.ids, found.ends[np.flatnonzero(np.diff(owners, append=-1))])
                # What `unique` does, which imports a module at its first call: a fork may come between.
                there = np.flatnonzero(np.bincount(owners))
                sums[there] += table.run(partial(sum_tokens, table, found.ids, found.ends, _POOLING))
                counts[there] += found.counts[:, None]
            vectors[start : start + len(block)] = table.run(partial(_means, table, sums, counts, self.dimensions))
        return vectors

    def embed_tokens(self, found: Tokens, /) -> Vectors:
        table = _model()

        def means() -> Vectors:
            sums = sum_tokens(table, found.ids, found.ends, _POOLING)
            return _means(table, sums, found.counts[:, None].astype(np.float32), self.dimensions)

        return table.run(means)

    def reads(self, text: str, /) -> bool:
        # Signs do not count. Of Chinese, Japanese, Korean and Thai the vocabulary has some characters, but nothing was
        # learnt of them.
        words = " ".join(_WORD.findall(text[:_PIECE]))
        ids = tokens([without_cjk(words)]).ids
        return not words or bool((ids != unknown()).any())

    def embed_query(self, text: str, /) -> Vectors:
        few = len(text) <= _PIECE
        vectors = self.embed_tokens(tokens([readable(text)])) if few else self.embed_documents([text])
        vector: Vectors = vectors[0]
        return vector


def _means(table: TokenTable, sums: Floats, counts: Floats, dimensions: int) -> Vectors:
    # A text without words is one unknown token.
    empty = counts[:, 0] == 0
    if empty.any():
        sums = np.where(empty[:, None], table.total(np.array([unknown()])), sums)
        counts = np.maximum(counts, 1)
    return table.means(sums, counts, dimensions)


# In the thread that forks wait for: a child would wait for ever for a module that its parent was importing. The inner
# cache is for threads that ask at the same time.
@cache
@in_mlx_thread
@cache
def _model() -> TokenTable:
    file = bundled_file("weights")
    if is_installed():
        from jupyter_memory.embedders.blas import fast_blas

        # With its own BLAS, MLX takes four times as long as NumPy, and it has no wheels for Windows and Intel Macs.
        if sys.platform != "linux" or fast_blas().library is not None:
            with suppress(ImportError):
                from jupyter_memory.embedders.mlx_runtime import MlxTable

                return MlxTable(file)
    return TokenTable(file)


def _calls(texts: Sequence[str]) -> Iterator[tuple[list[int], list[str]]]:
    owners: list[int] = []
    pieces: list[str] = []
    size = 0
    for row, text in enumerate(texts):
        for match in _PIECES.finditer(readable(text)):
            piece = match[1] or match[0]
            owners.append(row)
            pieces.append(piece)
            size += len(piece)
            if size >= _CALL:
                yield owners, pieces
                owners, pieces, size = [], [], 0
    if pieces:
        yield owners, pieces
