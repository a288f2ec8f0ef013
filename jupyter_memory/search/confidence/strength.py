"""Confidence: how sure it is that a memory answers a query, comparable between queries and stores.

A logistic regression on four measurements. Learnt on half of the questions about notebooks in `benchmarks/verdicts`,
and on the judged sets against questions asked of memories that cannot answer them (docs/quality.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, isnan, log
from typing import Literal
from unicodedata import category, name, normalize

from jupyter_memory.search.confidence.coverage import Coverage, missing_share
from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.fusion import Ranked
from jupyter_memory.search.query.asked_words import AskedWord

Verdict = Literal["strong", "weak", "none"]

INTERCEPT = -3.7
COVERAGE = 2.55
MAX_SIM = 1.5
MARGIN = 0.4
MISSING = -4.2

# What a memory does not cover: each halving of it adds the same, down to about a tenth.
_UNCOVERED = 0.1
# A cosine that lies further from the usual tells no more: in a store of alike memories, that is far.
_LOWEST_MARGIN, _HIGHEST_MARGIN = -2.0, 4.0
# Where a word that carries this share of the query is missing, the answer is as likely wrong as right.
_MUCH = 0.2
_BOUND = 0.5
# The answer of a search is among its first hits, or it is not seen.
_FIRST = 3

# Of the questions that it was learnt on, 1 of 100 that are answered lie below the first, and 2 of 100 that nothing
# answers reach the second.
NONE_BELOW = 0.03
STRONG_FROM = 0.8


@dataclass(frozen=True, slots=True)
class Confidence:
    """What a strength is computed from.

    ``coverage``: the share of the query that one memory covers, 0 to 1. ``max_sim``: the value of the signal, about 0
    to 1. ``margin``: how many standard deviations its cosine lies above that of two random chunks of the store; None
    where no model took part. ``missing``: the share of the query that are names which nothing in the store holds.
    With ``bounded`` a telling word is missing from the whole store, so that it cannot be strong.
    """

    coverage: float
    max_sim: float
    margin: float | None = None
    missing: float = 0.0
    bounded: bool = False

    @property
    def strength(self) -> float:
        """Return the probability that this answers, 0 to 1.

        >>> [round(Confidence(*values).strength, 2) for values in ((0.9, 0.8, 2.0), (0.1, 0.4, 0.5))]
        [0.92, 0.05]
        """
        margin = self._usual_margin if self.margin is None else self.margin
        logit = INTERCEPT - COVERAGE * log(1 + _UNCOVERED - self.coverage) + MAX_SIM * self.max_sim
        logit += MARGIN * max(_LOWEST_MARGIN, min(_HIGHEST_MARGIN, margin)) + MISSING * self.missing
        likely = 1 / (1 + exp(-max(-30.0, min(30.0, logit))))
        return min(likely, _BOUND) if self.bounded else likely

    @property
    def _usual_margin(self) -> float:
        """Return the margin that goes with the other two, by linear regression over the same questions."""
        return 0.12 + 2.3 * self.coverage - 0.24 * self.max_sim


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
    query, words = context.query, context.asked_words
    # A model gives punctuation a vector as well, but nobody asked for anything.
    if not any((query.terms.words, query.terms.phrases, query.terms.ident)) and is_wordless(query.text):
        return [0.0] * len(ranked)
    most = _BOUND if is_one_letter(query.text) else 1.0
    coverage, pairs = Coverage(words, context.corpus), context.sample.pairs
    passages = context.candidates.passages_of([one.candidate for one in ranked])
    missing, bounded = missing_share(words, names=True), any(missed(words))
    found = []
    for one in ranked:
        cosine, max_sim = one.candidate.cosine, one.table.value("max_sim", one.candidate.key)
        found.append(
            Confidence(
                coverage=coverage.of(passages[one.candidate.key], one.candidate.memory.lang),
                max_sim=0.0 if isnan(max_sim) else max_sim,
                margin=None if pairs is None or cosine is None else pairs.margin(cosine),
                missing=missing,
                bounded=bounded,
            ).strength
        )
    return [min(one, most) for one in found]


def strength_of(hits: Sequence[float]) -> float:
    """Return the strength of an answer from those of its hits, the best first: how likely one of the first answers.

    >>> strength_of([0.2, 0.9, 0.1, 0.99]), strength_of([])
    (0.9, 0.0)
    """
    return max(hits[:_FIRST], default=0.0)


def missed(words: Sequence[AskedWord]) -> Iterator[AskedWord]:
    """Yield the words that carry much of a query and that nothing in the store holds."""
    whole = sum(word.weight for word in words)
    yield from (word for word in words if word.missing and word.weight >= _MUCH * whole)


def is_wordless(text: str) -> bool:
    """Return whether a text is punctuation and nothing else; a picture says something.

    >>> is_wordless("?!"), is_wordless(""), is_wordless("λ?"), is_wordless("🙂")
    (True, False, False, False)
    """
    return bool(text) and not any(one.isalnum() or not (one.isascii() or category(one)[0] in "PZ") for one in text)


def is_one_letter(text: str) -> bool:
    """Return whether a question is one Latin letter, which nearly any text has somewhere; a sign such as 税 is a word.

    >>> is_one_letter("é"), is_one_letter("x?"), is_one_letter("税"), is_one_letter("R2")
    (True, True, False, False)
    """
    letters = [one for one in normalize("NFC", text) if one.isalnum()]
    return len(letters) == 1 and name(letters[0], "").startswith("LATIN")
