"""Gathers what speaks for each hit, for its strength."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan, log1p

from jupyter_memory.ranking.pool import Pool
from jupyter_memory.ranking.search import Placed
from jupyter_memory.ranking.strength import Clues
from jupyter_memory.types import Query


def strengths(query: Query, pool: Pool, scored: Sequence[Placed]) -> list[float]:
    """Return the strength of each of these candidates, 0 to 1; their evidence must hold the signal ``soft``."""
    corpus, pair = pool.corpus, pool.surroundings.sample.pair
    asked = {stem for term in (*query.terms.phrases, *query.terms.words) for stem in corpus.words(term)}
    idf = {
        stem: log1p((corpus.chunks - count + 0.5) / (count + 0.5)) for stem, count in corpus.frequencies(asked).items()
    }
    passages = pool.passages_of([one.candidate for one in scored])
    found = []
    for one in scored:
        candidate, soft = one.candidate, one.evidence["soft"].value
        found.append(
            Clues(
                coverage=_covered(set(corpus.words(str(passages[candidate.key]))), idf),
                soft=0.0 if isnan(soft) else soft,
                margin=None if pair is None or candidate.cosine is None else pair.margin(candidate.cosine),
            ).strength
        )
    return found


def _covered(words: set[str], idf: Mapping[str, float]) -> float:
    """Return which share of the query's words, by their idf, is among these."""
    whole = sum(idf.values())
    return sum(weight for word, weight in idf.items() if word in words) / whole if whole else 0.0
