"""How close the best passage of a memory comes to the query, however much else the memory holds.

The vector of a chunk is that of all it says: one line on the matter among twenty others hardly shows in it. A passage
is some 32 tokens of the chunk that was found. Its vector is the sum of its tokens' vectors in the bundled static model,
whichever model the store has. It is computed when it is needed, from the tokens that are stored with the chunk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.tokenizer.token_vectors import token_vectors
from jupyter_memory.runtime import one_core
from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.signals.max_sim import best_placed
from jupyter_memory.types import Query

# Tokens of a block; two adjacent blocks are a passage, so that each passage shares a half with the next.
BLOCK = 16

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BestPassage:
    """The best cosine of the query with a passage, for the candidates that `MaxSim` compares too.

    A memory of a session has no value. A turn of a conversation is a single passage, and the shortest of many turns
    would come first.
    """

    label: ClassVar[str] = "how close its best passage is to the query"
    description: ClassVar[str] = "How close the best passage of the memory, some 32 tokens, is to the query."

    name: str = "best_passage"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        chosen = [one for one in best_placed(context) if one.memory.session is None]
        if not chosen:
            return {}
        texts = [context.tokens[one.chunk].text for one in chosen]
        counts = np.array([len(text) for text in texts], np.int64)
        table = token_vectors()
        asked = table.sums(context.query_tokens[None])[0]
        values = best_cosines(asked, table.sums(in_blocks(np.concatenate(texts), counts)), counts)
        return dict(zip((one.key for one in chosen), values.tolist(), strict=True))


def in_blocks(ids: NDArray[np.integer], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the tokens of texts by block, ``(blocks, BLOCK)``: a text begins with a block, and -1 fills its last one.

    >>> in_blocks(np.arange(20), np.array([17, 3]))[:, :4].tolist()
    [[0, 1, 2, 3], [16, -1, -1, -1], [17, 18, 19, -1]]
    """
    blocks = _blocks(counts)
    begins = BLOCK * (np.cumsum(blocks) - blocks)
    filled = np.full(BLOCK * blocks.sum(), -1, np.int64)
    filled[np.arange(len(ids)) + np.repeat(begins - (np.cumsum(counts) - counts), counts)] = ids
    return filled.reshape(-1, BLOCK)


def best_cosines(asked: Floats, sums: Floats, counts: NDArray[np.int64]) -> Floats:
    """Return the best cosine of a vector with the passages of each text, ``(n,)``; 0 for a text without tokens.

    Args:
        asked: the vector, ``(dimensions,)``.
        sums: those of the tokens of each block of all texts, ``(blocks, dimensions)``.
        counts: how many tokens each text has, ``(n,)``.
    """
    best = np.zeros(len(counts), np.float32)
    spoken = np.flatnonzero(counts)
    if not spoken.size:
        return best
    blocks = _blocks(counts[spoken])
    firsts = np.cumsum(blocks) - blocks
    # The last block of a text belongs to the passage before it; only a text of one block has it for a passage.
    last = np.zeros(len(sums), bool)
    last[firsts + blocks - 1] = True
    followed = np.flatnonzero(~last)
    passages = sums.copy()
    passages[followed] += sums[followed + 1]
    with one_core():
        cosines = passages @ asked
    lengths = np.sqrt(np.einsum("ij,ij->i", passages, passages)) * np.linalg.norm(asked)
    cosines /= np.maximum(lengths, 1e-9)
    cosines[last & np.repeat(blocks > 1, blocks)] = -1
    best[spoken] = np.maximum.reduceat(cosines, firsts)
    return best


def _blocks(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return -(-counts // BLOCK)
