"""The bundled model: a table of token vectors, averaged over a text; no download, no network, no wait."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from threading import Lock
from typing import ClassVar

import numpy as np

from jupyter_memory.embedders.checked import readable
from jupyter_memory.embedders.runtime.arithmetic import load_table
from jupyter_memory.embedders.runtime.token_table import Floats, Pooling, TokenTable, sum_tokens
from jupyter_memory.embedders.tokenizer.bundled import WEIGHTS, bundled_file, tokens, unknown
from jupyter_memory.embedders.tokenizer.tokens import Tokens
from jupyter_memory.errors import InputError
from jupyter_memory.text.identifiers import without_cjk
from jupyter_memory.types.protocols import Vectors

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
_loading = Lock()


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
            means = partial(_means, table, *_sums(table, block), unknown(), self.dimensions)
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
    """Return sums and counts in which a text without tokens has the one that stands for it."""
    empty = counts[:, 0] == 0
    if not empty.any():
        return sums, counts
    return np.where(empty[:, None], table.total(np.array([nothing])), sums), np.maximum(counts, 1)


def _sums(table: TokenTable, texts: Sequence[str]) -> tuple[Floats, Floats]:
    """Return ``(len(texts), 256)``, the sum of the vectors of each text's tokens, and how many tokens each has."""
    sums = np.zeros((len(texts), table.width), dtype=np.float32)
    counts = np.zeros((len(texts), 1), dtype=np.float32)
    for owners, pieces in _calls(texts):
        found = _whole(owners, tokens(pieces))
        there = np.unique(owners)
        sums[there] += table.run(partial(sum_tokens, table, found.ids, found.ends, _POOLING))
        counts[there] += found.counts[:, None]
    return sums, counts


def _whole(owners: Sequence[int], pieces: Tokens) -> Tokens:
    """Return the tokens of whole texts: pieces of one text come one after the other."""
    return Tokens(pieces.ids, pieces.ends[np.flatnonzero(np.diff(owners, append=-1))])


def _model() -> TokenTable:
    """Return the table, loaded by the first thread that asks."""
    with _loading:
        return _load()


@cache
def _load() -> TokenTable:
    return load_table(bundled_file("weights"))


def _calls(texts: Sequence[str]) -> Iterator[tuple[list[int], list[str]]]:
    """Yield the texts in pieces, as many as one call of the tokenizer takes, with the row of each."""
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
    """Yield a text in pieces, cut at spaces where it has some: then its tokens stay the same."""
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
