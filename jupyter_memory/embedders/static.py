"""The static model that comes with the package: a table of token vectors, in NumPy."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from platform import machine
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.base import (
    NO_DIRECTION,
    RECIPE,
    WEIGHTS,
    Tokens,
    readable,
    token_vectors,
    tokens,
    unknown,
)
from jupyter_memory.errors import EmbedderError, InputError
from jupyter_memory.runtime import one_core, portions
from jupyter_memory.text.identifiers import without_cjk
from jupyter_memory.types.protocols import Vectors

Floats = NDArray[np.float32]
Ids = NDArray[np.integer]

# The most texts and tokens that are counted together: larger groups have few tokens in common.
_GROUP_ROWS = 32
_GROUP_TOKENS = 8_192


# The share of a text at which a token counts half, so that brackets do not drown names; and the lead: the first token
# counts double, as a title or a signature does, and the excess falls to a third in so many tokens. Chosen on the judged
# sets with the table of this version, by training/evaluate.py.
_SATURATION, _LEAD = 0.08, 32


def _sums(ids: Ids, ends: NDArray[np.int64]) -> Floats:
    # ``(len(ends), width)``. Words come back from text to text, so a group of texts is a matrix of how often each has
    # each token, times the vectors of these tokens: half the time of gathering a vector for every token.
    table = token_vectors()
    sums = np.empty((len(ends), table.width), dtype=np.float32)
    counts = np.diff(ends, prepend=0)
    column = np.empty(len(table), dtype=np.int64)
    first = 0
    while first < len(ends):
        before = ends[first - 1] if first else 0
        last = int(np.searchsorted(ends, before + _GROUP_TOKENS, side="right"))
        last = max(first + 1, min(last, first + _GROUP_ROWS))
        of_group = ids[ends[first] - counts[first] : ends[last - 1]]
        # Marked, not sorted as by `unique`, which takes longer than the product.
        there = np.zeros(len(table), dtype=np.bool_)
        there[of_group] = True
        found = np.flatnonzero(there)
        column[found] = np.arange(found.size)
        rows = np.repeat(np.arange(last - first) * found.size, counts[first:last])
        # By the place of a token in its text.
        longest = 1 + np.exp(-np.arange(counts[first:last].max(initial=0)) / _LEAD)
        begins = np.repeat(ends[first:last] - counts[first:last], counts[first:last]) - before
        leading = longest[np.arange(of_group.size) - begins]
        times = np.bincount(rows + column[of_group], leading, (last - first) * found.size)
        often = times.reshape(last - first, found.size).astype(np.float32)
        often /= 1 + often / np.maximum(often.sum(axis=1, keepdims=True) * np.float32(_SATURATION), 1e-9)
        with one_core():
            sums[first:last] = often @ table.rows(found)
        first = last
    return sums


def arithmetic() -> str:
    """Return what computes: NumPy for the static model, MLX and a library for its products for larger ones."""
    if not is_installed():
        why = "is not installed, and only larger models need it" if runs_mlx() else "does not run here"
        return f"NumPy, since MLX {why}"
    from jupyter_memory.embedders.blas import fast_blas

    blas = fast_blas()
    return f"NumPy; for larger models MLX {f'({blas.notice})' if blas.notice else f'with {blas.name}'}"


def is_installed(module: str = "mlx.core") -> bool:
    """Return whether a module can be found; it is not imported, which would take a while."""
    # An uninstall may leave the empty folder ``mlx``, which does not count.
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
        return f"static-wordpiece-{WEIGHTS}/d{self.dimensions}/pooled-{_SATURATION}-{_LEAD}/{RECIPE}"

    @property
    def threshold(self) -> float:
        return THRESHOLDS[self.dimensions]

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _BLOCK):
            block = texts[start : start + _BLOCK]
            sums = np.zeros((len(block), token_vectors().width), dtype=np.float32)
            counts = np.zeros(len(block), dtype=np.int64)
            cut = (
                (row, match[1] or match[0])
                for row, text in enumerate(block)
                for match in _PIECES.finditer(readable(text))
            )
            for some in portions(cut, lambda one: len(one[1]), _CALL):
                owners, pieces = zip(*some, strict=True)
                found = tokens(pieces)
                found = Tokens(found.ids, found.ends[np.flatnonzero(np.diff(owners, append=-1))])
                # What `unique` does, which imports a module at its first call: a fork may come between.
                there = np.flatnonzero(np.bincount(owners))
                sums[there] += _sums(found.ids, found.ends)
                counts[there] += found.counts
            vectors[start : start + len(block)] = self._means(sums, counts)
        return vectors

    def embed_tokens(self, found: Tokens, /) -> Vectors:
        return self._means(_sums(found.ids, found.ends), found.counts)

    def _means(self, sums: Floats, counts: NDArray[np.integer]) -> Vectors:
        # A text without words is one unknown token.
        sums[counts == 0] = token_vectors().rows(np.array([unknown()]))
        means = (sums / np.maximum(counts, 1)[:, None].astype(np.float32))[:, : self.dimensions]
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        # NaN fails these comparisons.
        if not ((lengths > 0) & (lengths < np.inf)).all():
            raise EmbedderError(NO_DIRECTION)
        unit: Vectors = means / lengths
        return unit

    def reads(self, text: str, /) -> bool:
        # Signs do not count. Of Chinese, Japanese, Korean and Thai the vocabulary has some characters, but nothing was
        # learnt of them.
        words = " ".join(_WORD.findall(text[:_PIECE]))
        ids = tokens([without_cjk(words)]).ids
        return not words or bool((ids != unknown()).any())

    def embed_query(self, text: str, /) -> Vectors:
        vector: Vectors = self.embed_documents([text])[0]
        return vector
