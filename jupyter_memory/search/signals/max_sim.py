"""How near the candidate's nearest token comes to each token of the query: late interaction without a model.

The vectors are the bundled static model's, one a token. Like ColBERT's MaxSim (Khattab and Zaharia, SIGIR 2020), but
with vectors that do not know their neighbours, and with rare tokens counting more. The name of a language is met by
what is written in it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.tokenizer.bundled import tokens
from jupyter_memory.runtime import one_core
from jupyter_memory.search.context import SearchContext, TokenTable
from jupyter_memory.text.code import EVERYDAY, PYTHON, language
from jupyter_memory.types import Candidate, Query

# Tokens are pieces of words, of which the frequent ones say even less than their idf: measured on the judged sets.
IDF_POWER = 1.5
# A long text has something near to everything; this much is taken off for each e-fold of length, less for a near match.
LENGTH_SLOPE = 0.06

# The rest of a long question decides nothing and costs the same.
MOST_TELLING = 12

# Only candidates that a retriever ranks this high are compared: this signal alone lifts no other to the top. Of long
# texts, no more than so many characters in all are compared, which take some milliseconds to read.
DEPTH = 50
BUDGET = 48_000
# A memory is compared by one chunk, of some 448 tokens. The longer the rest, the less that chunk says of the whole, so
# the value is drawn to this one: measured on whole source files (nDCG@10 .889 instead of .877) and on documentation.
LONGEST = 2_400
UNSEEN = 0.6
SHARE_POWER = 0.25

_WORD = re.compile(r"\w+")

Tokens = NDArray[np.integer]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class MaxSim:
    """MaxSim of the candidates that a retriever ranks among its first ``depth``; no value for the others.

    The best placed come first, as long as ``budget`` characters last.
    """

    label: ClassVar[str] = "how close its words are in meaning to those of the query"
    description: ClassVar[str] = (
        "How close the nearest token of the memory is to each token of the query; rare tokens count more."
    )

    depth: int = DEPTH
    budget: int = BUDGET
    name: str = "max_sim"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        asked, sample = context.query_tokens, context.sample
        chosen = best_placed(context, self.depth, self.budget)
        matches = max_sim(
            asked,
            rarity(sample.token_counts[asked], sample.chunks),
            [context.tokens[one.chunk].different for one in chosen],
            context.token_table,
            sample.typical_length,
            written_in(query, asked, chosen),
        )
        lengths = (len(one.memory.text) for one in chosen)
        return {
            one.key: of_the_whole(float(match), length)
            for one, match, length in zip(chosen, matches, lengths, strict=True)
        }


def best_placed(context: SearchContext, depth: int = DEPTH, budget: int = BUDGET) -> list[Candidate]:
    """Return the candidates that a retriever ranks high, the best placed first, as long as the characters last."""
    places: dict[int, int] = {}
    for finds in context.retrieved.values():
        for place, one in enumerate(finds[:depth]):
            places[one.memory] = min(place, places.get(one.memory, place))
    high = sorted((one for one in context if one.key in places), key=lambda one: places[one.key])
    lengths = list(accumulate(min(len(one.memory.text), LONGEST) for one in high))
    return high[: bisect_right(lengths, budget)]


def of_the_whole(match: float, length: int) -> float:
    """Return how well a memory meets the query whose best chunk meets it so well; ``length`` in characters.

    >>> of_the_whole(0.9, 800), round(of_the_whole(0.9, 16 * LONGEST), 2), of_the_whole(0.0, 16 * LONGEST)
    (0.9, 0.75, 0.0)
    """
    if length <= LONGEST or match == 0:
        return match
    share: float = (LONGEST / length) ** SHARE_POWER
    return UNSEEN + (match - UNSEEN) * share


def written_in(query: Query, asked: Tokens, candidates: Sequence[Candidate]) -> NDArray[np.bool_] | None:
    """Return which candidates are written in a language that each token of the query names, ``(n, q)``; None for none.

    A quoted name is looked for as it stands, and so is what prose is called.
    """
    known = {PYTHON, *(one.memory.lang.lower() for one in candidates)} - EVERYDAY
    named = known.intersection(query.terms.words)
    if not named:
        return None
    written = [language(one.memory.lang, one.memory.text) for one in candidates]
    found = np.zeros((len(candidates), len(asked)), dtype=bool)
    for word in _WORD.findall(query.text):
        if (name := word.lower()) in named:
            tells = np.isin(asked, tokens([word]).ids)
            found |= np.array([one == name for one in written], dtype=bool)[:, None] & tells
    return found


def max_sim(
    query: Tokens,
    rarity: Floats,
    texts: Sequence[Tokens],
    table: TokenTable,
    typical_length: float,
    met: NDArray[np.bool_] | None = None,
) -> Floats:
    """Return how well each text meets the query, float32 ``(len(texts),)``: about 0 for nothing, 1 for every token.

    Args:
        query: the different tokens of the query, ``(q,)``.
        rarity: the idf of each of them in the store, ``(q,)``, not negative.
        texts: the tokens of each text, in any order; a text without tokens gets 0.
        table: a unit vector for every token of the vocabulary, ``(vocabulary, dimensions)``.
        typical_length: the mean number of tokens of the store's texts.
        met: which tokens a text meets by what it is, whatever it holds, ``(len(texts), q)``.
    """
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    matches = np.zeros(len(texts), dtype=np.float32)
    telling = np.argsort(-rarity, kind="stable")[:MOST_TELLING]
    query, weights = query[telling], rarity[telling].astype(np.float32) ** IDF_POWER
    spoken = np.flatnonzero(lengths)
    if not spoken.size or not weights.sum() > 0:
        return matches
    nearest = _nearest(query, [text for text in texts if len(text)], lengths[spoken], table)
    if met is not None:
        nearest[met[np.ix_(spoken, telling)]] = 1
    excess = LENGTH_SLOPE * np.log(lengths[spoken] / max(typical_length, 1.0)).astype(np.float32)
    matches[spoken] = (nearest - excess[:, None] * (1 - nearest)) @ weights / weights.sum()
    return matches


def rarity(frequencies: NDArray[np.integer], chunks: int) -> Floats:
    """Return the idf of tokens, each in so many of the store's chunks: never negative, as in Lucene's BM25."""
    counts = np.minimum(frequencies, chunks).astype(np.float64)
    idf: Floats = np.log1p((chunks - counts + 0.5) / (counts + 0.5)).astype(np.float32)
    return idf


def _nearest(query: Tokens, texts: Sequence[Tokens], lengths: NDArray[np.int64], table: TokenTable) -> Floats:
    """Return the best cosine of each text for each token of the query, ``(texts, q)``."""
    # Texts share most of their tokens, so that each different one is compared once.
    every = np.concatenate(texts)
    held = np.zeros(int(every.max()) + 1, dtype=bool)
    held[every] = True
    different = np.flatnonzero(held)
    places = np.empty(held.size, dtype=np.intp)
    places[different] = np.arange(different.size)
    with one_core():
        cosines = table[different] @ table[query].T
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    best: Floats = np.maximum.reduceat(cosines.take(places[every], axis=0), starts, axis=0)
    return best
