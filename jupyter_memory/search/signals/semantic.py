"""Signals of meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, nan
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.base import token_vectors, tokens
from jupyter_memory.runtime import one_core
from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.signals.weights import HUBNESS
from jupyter_memory.text.code import EVERYDAY, PYTHON, language
from jupyter_memory.types import Candidate, Query


@dataclass(frozen=True, slots=True)
class SemanticMargin:
    """calibration * terms * z * |z|, where z is how many deviations the cosine lies above the query's with the store.

    NaN where no model took part. `signals.weights` has the reasons.
    """

    label: ClassVar[str] = "how much closer its meaning is to the query than that of others"
    name: str = "semantic_margin"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return context.shared(semantic_margins)


def semantic_margins(context: SearchContext) -> dict[int, float]:
    """Return the evidence of the meaning of each candidate, by key."""
    cosines = _cosines(context)
    # A hub is near to any question: its cosine counts less by how much its hubness exceeds the candidates' mean. Where
    # words are as good a guide, they hold hubs back, and several memories that are near to each other are several
    # answers to one question: then nothing is taken off.
    if context.calibration > 1:
        hubness = context.hubness
        mean = fsum(hubness.values()) / len(hubness) if hubness else 0.0
        excess = np.array([hubness.get(one.chunk, mean) - mean for one in context], dtype=np.float64)
        cosines -= HUBNESS * (1 - 1 / context.calibration) * excess
    if (share := _AROUND * (1 - words_count(context))) > 0:
        around = [context.cells_around.get(key, nan) for key in context.keys]
        cosines += share * np.nan_to_num(np.array(around) - cosines)
    return _margins(context, cosines)


def plain_margins(context: SearchContext) -> dict[int, float]:
    """Return the evidence of the cosine of each candidate as it is, by key."""
    return _margins(context, _cosines(context))


def _cosines(context: SearchContext) -> NDArray[np.float64]:
    return np.array([nan if one.cosine is None else one.cosine for one in context], dtype=np.float64)


def _margins(context: SearchContext, cosines: NDArray[np.float64]) -> dict[int, float]:
    if (background := context.background) is None:
        return dict.fromkeys(context.keys, nan)
    terms = context.query.terms
    count = len(terms.words) + len(terms.phrases) + len(terms.ident)
    above = background.margin(cosines)
    values = context.calibration * (max(count, 1) * above * abs(above))
    return dict(zip(context.keys, values.tolist(), strict=True))


# MaxSim: how near the candidate's nearest token comes to each token of the query. The vectors are the bundled static
# model's, one a token. Like ColBERT's (Khattab and Zaharia, SIGIR 2020), but with vectors that do not know their
# neighbours, and with rare tokens counting more. The name of a language is met by what is written in it.

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


class TokenTable(Protocol):
    """Gives the unit vectors of tokens, ``(n, dimensions)``."""

    def __getitem__(self, ids: Tokens, /) -> Floats: ...


@dataclass(frozen=True, slots=True)
class MaxSim:
    """MaxSim of the candidates that a retriever ranks among its first ``depth``; no value for the others.

    The best placed come first, as long as ``budget`` characters last.
    """

    label: ClassVar[str] = "how close its words are in meaning to those of the query"
    depth: int = DEPTH
    budget: int = BUDGET
    name: str = "max_sim"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        usual = (self.depth, self.budget) == (DEPTH, BUDGET)
        return context.shared(max_sims) if usual else max_sims(context, self.depth, self.budget)

    @staticmethod
    def matches(
        query: Tokens,
        rarity: Floats,
        texts: Sequence[Tokens],
        table: TokenTable,
        typical_length: float,
        met: NDArray[np.bool_] | None = None,
    ) -> Floats:
        """Return how well each text meets the query, float32 ``(len(texts),)``: about 0 for nothing, 1 for every token.

        ``query`` has its different tokens, ``(q,)``, and ``rarity`` the idf of each. ``typical_length`` is the mean
        number of tokens of the store's texts; ``met`` says which tokens a text meets by what it is, ``(len(texts),
        q)``.
        """
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        matches = np.zeros(len(texts), dtype=np.float32)
        telling = np.argsort(-rarity, kind="stable")[:MOST_TELLING]
        query, weights = query[telling], rarity[telling].astype(np.float32) ** IDF_POWER
        spoken = np.flatnonzero(lengths)
        if not spoken.size or not weights.sum() > 0:
            return matches
        # Texts share most of their tokens, so that each different one is compared once.
        every = np.concatenate([text for text in texts if len(text)])
        held = np.zeros(int(every.max()) + 1, dtype=bool)
        held[every] = True
        different = np.flatnonzero(held)
        places = np.empty(held.size, dtype=np.intp)
        places[different] = np.arange(different.size)
        with one_core():
            cosines = table[different] @ table[query].T
        starts = np.concatenate(([0], np.cumsum(lengths[spoken])[:-1]))
        nearest: Floats = np.maximum.reduceat(cosines.take(places[every], axis=0), starts, axis=0)
        if met is not None:
            nearest[met[np.ix_(spoken, telling)]] = 1
        excess = LENGTH_SLOPE * np.log(lengths[spoken] / max(typical_length, 1.0)).astype(np.float32)
        matches[spoken] = (nearest - excess[:, None] * (1 - nearest)) @ weights / weights.sum()
        return matches


def max_sims(context: SearchContext, depth: int = DEPTH, budget: int = BUDGET) -> dict[int, float]:
    """Return MaxSim by the candidate's key."""
    asked, sample = context.query_tokens, context.sample
    usual = (depth, budget) == (DEPTH, BUDGET)
    chosen = context.shared(_best_placed) if usual else _best_placed(context, depth, budget)
    # Never negative, as in Lucene's BM25.
    counts = np.minimum(sample.token_counts[asked], sample.chunks).astype(np.float64)
    idf = np.log1p((sample.chunks - counts + 0.5) / (counts + 0.5))
    met = None
    known = {PYTHON, *(one.memory.lang.lower() for one in chosen)} - EVERYDAY
    if named := known.intersection(context.query.terms.words):
        written = [language(one.memory.lang, one.memory.text) for one in chosen]
        met = np.zeros((len(chosen), len(asked)), dtype=bool)
        for word in filter(lambda word: word.lower() in named, _WORD.findall(context.query.text)):
            is_written = np.array([one == word.lower() for one in written], dtype=bool)
            met |= is_written[:, None] & np.isin(asked, tokens([word]).ids)
    known_tokens = context.tokens
    texts = [known_tokens[one.chunk].different for one in chosen]
    matches = MaxSim.matches(asked, idf.astype(np.float32), texts, token_vectors(), sample.typical_length, met)
    found = {}
    for one, match in zip(chosen, matches.tolist(), strict=True):
        length = len(one.memory.text)
        is_whole = length <= LONGEST or match == 0
        found[one.key] = match if is_whole else UNSEEN + (match - UNSEEN) * (LONGEST / length) ** SHARE_POWER
    return found


# Where words say nothing, the cells around a cell count by this share: they are on the same matter, and a cell says
# little of what it is for. Chosen like the two below.
_AROUND = 0.4

# Where even the best candidate is far from what is asked, its words are there by accident: below the first value words
# do not count, from the second on they count in full. Chosen on two sets of notebook cells, with two models.
_FAR, _NEAR = 0.45, 0.65


def words_count(context: SearchContext) -> float:
    """Return how much shared words count in this search, 0 to 1: less where no candidate is near to what is asked."""
    query, terms = context.query, context.query.terms
    # Words meet what is quoted, mostly misspelled, still typed or in another language; tokens do not.
    slips = sum(bool(one.near) and not one.count for one in context.asked_words) if terms.respelled else 0
    met_by_words = terms.phrases or terms.prefix or query.language or (slips and 2 * slips >= len(context.asked_words))
    if met_by_words or not context.asked or context.vector_query is None or not context.tokens_tell:
        return 1.0
    nearest = max(context.shared(max_sims).values(), default=1.0)
    return min(1.0, max(0.0, (nearest - _FAR) / (_NEAR - _FAR)))


def _best_placed(context: SearchContext, depth: int = DEPTH, budget: int = BUDGET) -> list[Candidate]:
    # In the order of the better place; of two at one place, the candidate that comes first.
    places: dict[int, int] = {}
    for finds in context.retrieved.values():
        for place, one in enumerate(finds[:depth]):
            places[one.memory] = min(place, places.get(one.memory, depth))
    high = sorted((places[one.key], number) for number, one in enumerate(context) if one.key in places)
    chosen: list[Candidate] = []
    for _, number in high:
        candidate = context.candidates[number]
        budget -= min(len(candidate.memory.text), LONGEST)
        if budget < 0:
            break
        chosen.append(candidate)
    return chosen


# The vector of a chunk is that of all it says: one line on the matter among twenty others hardly shows in it. A passage
# is some 32 tokens of the chunk that was found. Its vector is the sum of its tokens' vectors in the bundled static
# model, whichever model the store has, computed when it is needed from the tokens that are stored with the chunk.

# Tokens of a block; two adjacent blocks are a passage, so that each passage shares a half with the next.
BLOCK = 16


@dataclass(frozen=True, slots=True)
class BestPassage:
    """The best cosine of the query with a passage, for the candidates that `MaxSim` compares too.

    A memory of a session has no value. A turn of a conversation is a single passage, and the shortest of many turns
    would come first.
    """

    label: ClassVar[str] = "how close its best passage is to the query"
    name: str = "best_passage"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        chosen = [one for one in context.shared(_best_placed) if one.memory.session is None]
        if not chosen:
            return {}
        texts = [context.tokens[one.chunk].text for one in chosen]
        counts = np.fromiter(map(len, texts), np.int64, len(texts))
        table = token_vectors()
        asked = table.sums(context.query_tokens[None])[0]
        # The tokens by block, `(blocks, BLOCK)`: a text begins with a block, and -1 fills its last one.
        ids, of_texts = np.concatenate(texts), -(-counts // BLOCK)
        begins = BLOCK * (np.cumsum(of_texts) - of_texts)
        filled = np.full(BLOCK * of_texts.sum(), -1, np.int64)
        filled[np.arange(len(ids)) + np.repeat(begins - (np.cumsum(counts) - counts), counts)] = ids
        sums, best = table.sums(filled.reshape(-1, BLOCK)), np.zeros(len(counts), np.float32)
        if (spoken := np.flatnonzero(counts)).size:
            blocks = of_texts[spoken]
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
        return dict(zip([one.key for one in chosen], best.tolist(), strict=True))
