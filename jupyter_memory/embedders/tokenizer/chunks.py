"""The tokens of what is embedded of chunks, as vectors are computed from them and as a store keeps them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.tokenizer.bundled import tokens
from jupyter_memory.embedders.tokenizer.tokens import Tokens
from jupyter_memory.text.unicode import storable
from jupyter_memory.types.chunk_tokens import FEW, ChunkTokens

# Bits of a token, and of its place in a chunk; the rest of 64 are its chunk's.
_TOKEN, _PLACE = 16, 24


def chunk_tokens(chunks: Iterable[tuple[str, str]]) -> tuple[Tokens, list[ChunkTokens]]:
    """Return the tokens of chunks and what a store keeps of them, given the head and the text of each.

    Raises:
        EmbedderUnavailable: the vocabulary is missing or damaged.
    """
    parts = tokens(map(storable, chain.from_iterable(chunks)))
    # A head ends where a line ends, and so does a token.
    whole = Tokens(parts.ids, parts.ends[1::2])
    return whole, _by_chunk(whole, parts.counts[::2])


def _by_chunk(found: Tokens, heads: NDArray[np.int64]) -> list[ChunkTokens]:
    """Return what a store keeps of chunks, given their tokens and how many of these each chunk's head has."""
    ids, ends, counts = found.ids, found.ends, found.counts
    begins = ends - counts
    chunk = np.repeat(np.arange(ends.size, dtype=np.int64), counts)
    place = np.arange(len(ids), dtype=np.int64)
    # What `unique` does, which goes by hashes and takes ten times as long.
    keys = np.sort((chunk << _TOKEN | ids) << _PLACE | place - begins[chunk])
    key = keys >> _PLACE
    first = np.diff(key, prepend=-1) != 0
    firsts = np.cumsum(first) - 1
    different = key[first]
    bounds = np.searchsorted(different, np.arange(ends.size + 1, dtype=np.int64) << _TOKEN)
    # Sorted, the tokens of a chunk are still those between its bounds.
    order = np.empty(len(ids), np.uint16)
    order[begins[chunk] + (keys & (1 << _PLACE) - 1)] = firsts - bounds[chunk]
    narrow, different = order.astype(np.uint8), different.astype(np.uint16)
    texts = zip((begins + heads).tolist(), ends.tolist(), strict=True)
    return [
        ChunkTokens(different[begin:end], (narrow if end - begin <= FEW else order)[text:stop].tobytes())
        for (begin, end), (text, stop) in zip(pairwise(bounds.tolist()), texts, strict=True)
    ]
