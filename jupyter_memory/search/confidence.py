"""Confidence: how sure it is that a memory answers a query, comparable between queries and stores.

A logistic regression on three measurements. Learnt on the judged sets against questions asked of memories that cannot
answer them (another conversation's, another kind of text's).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, isnan, log1p
from typing import Literal
from unicodedata import category

from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.fusion import Ranked
from jupyter_memory.storage.base import Corpus
from jupyter_memory.text.identifiers import ident_column
from jupyter_memory.types import Terms

Verdict = Literal["strong", "weak", "none"]

INTERCEPT = -5.33
COVERAGE = 5.55
MAX_SIM = 3.18
MARGIN = 1.27

# The first loses 2 of 100 answerable questions of the judged sets; 5 of 100 that nothing answers reach the second.
NONE_BELOW = 0.12
STRONG_FROM = 0.6


@dataclass(frozen=True, slots=True)
class Confidence:
    """What a strength is computed from.

    ``coverage``: the share, weighted by idf, of the query's terms that one memory holds, 0 to 1. ``max_sim``: the
    value of the signal, about 0 to 1. ``margin``: how many standard deviations its cosine lies above that of two random
    chunks of the store; None where no model took part.
    """

    coverage: float
    max_sim: float
    margin: float | None = None

    @property
    def strength(self) -> float:
        """Return the probability that this answers, 0 to 1.

        >>> [round(Confidence(*values).strength, 2) for values in ((0.9, 0.8, 2.0), (0.1, 0.4, 0.5))]
        [0.99, 0.05]
        """
        margin = self._usual_margin if self.margin is None else self.margin
        logit = INTERCEPT + COVERAGE * self.coverage + MAX_SIM * self.max_sim + MARGIN * margin
        return 1 / (1 + exp(-max(-30.0, min(30.0, logit))))

    @property
    def _usual_margin(self) -> float:
        """Return the margin that goes with the other two, by linear regression over the same questions."""
        return -1.42 + 1.27 * self.coverage + 3.28 * self.max_sim


def verdict(strength: float) -> Verdict:
    """Return what a strength means in a word.

    >>> verdict(0.95), verdict(0.3), verdict(0.02)
    ('strong', 'weak', 'none')
    """
    if strength < NONE_BELOW:
        return "none"
    return "strong" if strength >= STRONG_FROM else "weak"


def strengths(context: SearchContext, ranked: Sequence[Ranked]) -> list[float]:
    """Return the strength of each of these candidates, 0 to 1; their evidence must have the signal ``max_sim``."""
    query = context.query
    # A model gives punctuation a vector as well, but nobody asked for anything.
    if not any((query.terms.words, query.terms.phrases, query.terms.ident)) and is_wordless(query.text):
        return [0.0] * len(ranked)
    pairs = context.sample.pairs
    passages = context.candidates.passages_of([one.candidate for one in ranked])
    coverages = covered(query.terms, context.corpus, (str(passages[one.candidate.key]) for one in ranked))
    found = []
    for one, coverage in zip(ranked, coverages, strict=True):
        cosine, max_sim = one.candidate.cosine, one.table.value("max_sim", one.candidate.key)
        found.append(
            Confidence(
                coverage=coverage,
                max_sim=0.0 if isnan(max_sim) else max_sim,
                margin=None if pairs is None or cosine is None else pairs.margin(cosine),
            ).strength
        )
    return found


def is_wordless(text: str) -> bool:
    """Return whether a text is punctuation and nothing else; a picture says something.

    >>> is_wordless("?!"), is_wordless(""), is_wordless("λ?"), is_wordless("🙂")
    (True, False, False, False)
    """
    return bool(text) and not any(one.isalnum() or not (one.isascii() or category(one)[0] in "PZ") for one in text)


def covered(terms: Terms, corpus: Corpus, texts: Iterable[str]) -> list[float]:
    """Return which share of the words of a query, by their idf, each text holds."""
    # In the order of the query: that of a set differs from process to process, and with it the last digit of a sum.
    asked = dict.fromkeys(corpus.words("\n".join((*terms.phrases, *terms.words, *terms.ident))))
    chunks, counts = corpus.chunks, corpus.frequencies(asked)
    idf = {stem: log1p((chunks - counts[stem] + 0.5) / (counts[stem] + 0.5)) for stem in asked}
    whole = sum(idf.values())
    # The parts of a name such as FileSyncService, and pairs of CJK characters, are words of the index, not of the text.
    spelled = bool(terms.ident) or any(" " in word for word in terms.words)
    shares = []
    for text in texts:
        held = set(corpus.words(f"{text}\n{ident_column(text)}" if spelled else text))
        shares.append(sum(weight for stem, weight in idf.items() if stem in held) / whole if whole else 0.0)
    return shares
