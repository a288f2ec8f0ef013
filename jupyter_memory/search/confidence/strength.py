"""Confidence: how sure it is that a memory answers a query, comparable between queries and stores.

A logistic regression on what a hit holds of the query, how far it stands out, and how much is asked. Learnt on half of
the questions about notebooks in `benchmarks/verdicts`, and on the judged sets against questions asked of memories that
cannot answer them (docs/quality.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import exp, log, sqrt
from typing import Literal
from unicodedata import category, name, normalize

from jupyter_memory.search.confidence.coverage import Coverage, missing_share
from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.fusion import Ranked, Table
from jupyter_memory.search.query.asked_words import AskedWord
from jupyter_memory.text.identifiers import runs

Verdict = Literal["strong", "weak", "none"]

INTERCEPT = -8.26
COVERAGE = 1.44
MAX_SIM = 4.22
MARGIN = 0.11
MISSING = -4.72
WORDS = 1.49
MAX_SIM_LEAD = 2.2
MARGIN_LEAD = 0.57

# What a memory does not cover: each halving of it adds the same, down to about a thirtieth.
_UNCOVERED = 0.03
# A cosine that lies further from the usual tells no more: in a store of alike memories, that is far.
_LOWEST_MARGIN, _HIGHEST_MARGIN = -2.0, 4.0
# The more words a memory covers, the less likely by chance; a longer question tells no more.
_MOST_WORDS, _USUAL_WORDS = 12, 5
# In a smaller store it is chance which tokens are rare, and so is what `max_sim` makes of them.
_FEW_CHUNKS = 50
# A hit stands out from the candidate at this place: others that answer as well may come before it.
_PLACE = 5
# Where a word that carries this share of the query is missing, the answer is as likely wrong as right.
_MUCH = 0.2
_BOUND = 0.5
# The answer of a search is among its first hits, or it is not seen.
_FIRST = 3

# Of the questions that it was learnt on, 1 of 100 that are answered lie below the first, and 2 of 100 that nothing
# answers reach the second.
NONE_BELOW = 0.05
STRONG_FROM = 0.8


@dataclass(frozen=True, slots=True)
class Confidence:
    """What a strength is computed from.

    ``coverage``: the share of the query that one memory covers, 0 to 1. ``max_sim``: the value of the signal, about 0
    to 1; None where the bundled model knows nothing of the query, or the store is small. ``margin``: how many standard
    deviations its cosine lies above that of two random chunks of the store; None where no model took part. ``missing``:
    the share of the query that are names which nothing in the store holds. With ``bounded`` a telling word is missing
    from the whole store, so that it cannot be strong. ``words``: how many the query has. The leads are how far
    ``max_sim`` and ``margin`` exceed the fifth highest of all candidates.
    """

    coverage: float
    max_sim: float | None
    margin: float | None = None
    missing: float = 0.0
    bounded: bool = False
    words: int = _USUAL_WORDS
    max_sim_lead: float = 0.0
    margin_lead: float = 0.0

    @property
    def strength(self) -> float:
        """Return the probability that this answers, 0 to 1.

        >>> [round(Confidence(*values).strength, 2) for values in ((0.9, 0.8, 2.0), (0.1, 0.4, 0.5))]
        [0.83, 0.04]
        """
        coverage, max_sim, margin, missing, max_sim_lead, margin_lead, words = self.parts()
        logit = INTERCEPT + COVERAGE * coverage + MAX_SIM * max_sim + MARGIN * margin + MISSING * missing
        logit += MAX_SIM_LEAD * max_sim_lead + MARGIN_LEAD * margin_lead + WORDS * words
        likely = 1 / (1 + exp(-max(-30.0, min(30.0, logit))))
        return min(likely, _BOUND) if self.bounded else likely

    def parts(self) -> tuple[float, ...]:
        """Return what the constants but the intercept are multiplied by, in the order in which strength adds it up."""
        max_sim = self._usual_max_sim if self.max_sim is None else self.max_sim
        margin = self._usual_margin(max_sim) if self.margin is None else self.margin
        return (
            -log(1 + _UNCOVERED - self.coverage),
            max_sim,
            _bounded(margin),
            self.missing,
            self.max_sim_lead,
            self.margin_lead,
            sqrt(min(_MOST_WORDS, self.words)),
        )

    @property
    def _usual_max_sim(self) -> float:
        """Return the value that goes with the coverage, by linear regression over the same questions."""
        return 0.3 + 0.62 * self.coverage

    def _usual_margin(self, max_sim: float) -> float:
        """Return the margin that goes with the other two, by linear regression over the same questions."""
        return -0.2 + 1.92 * self.coverage + 0.48 * max_sim


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
    if not ranked:
        return []
    most = _BOUND if is_one_letter(query.text) else 1.0
    coverage = Coverage(words, context.corpus)
    passages = context.candidates.passages_of([one.candidate for one in ranked])
    missing, bounded = missing_share(words, names=True), any(missed(words))
    # A script without spaces has pairs of characters for words, and the bundled model learnt nothing of it.
    count = _USUAL_WORDS if runs(query.text) else len(words)
    max_sims, margins = _max_sims(context, ranked[0].table), _margins(context)
    usual_max_sim, usual_margin = _fifth(max_sims.values()), _fifth(margins.values())
    found = []
    for one in ranked:
        max_sim, margin = max_sims.get(one.candidate.key), margins.get(one.candidate.key)
        found.append(
            Confidence(
                coverage=coverage.of(passages[one.candidate.key], one.candidate.memory.lang),
                max_sim=max_sim,
                margin=margin,
                missing=missing,
                bounded=bounded,
                words=count,
                max_sim_lead=_lead(max_sim, usual_max_sim),
                margin_lead=_lead(margin, usual_margin),
            ).strength
        )
    return [min(one, most) for one in found]


def _max_sims(context: SearchContext, table: Table) -> dict[int, float]:
    """Return ``max_sim`` of all candidates by key, 0 where one was not compared; nothing where none can be."""
    if not context.query_tokens.size or runs(context.query.text) or context.sample.chunks < _FEW_CHUNKS:
        return {}
    values = table.values("max_sim")
    return {one.key: values.get(one.key, 0.0) for one in context}


def _margins(context: SearchContext) -> dict[int, float]:
    """Return how far the cosines of the candidates lie above that of two random chunks, bounded, by key."""
    pairs = context.sample.pairs
    if pairs is None:
        return {}
    return {one.key: _bounded(pairs.margin(one.cosine)) for one in context if one.cosine is not None}


def _bounded(margin: float) -> float:
    return max(_LOWEST_MARGIN, min(_HIGHEST_MARGIN, margin))


def _fifth(values: Collection[float]) -> float | None:
    """Return the fifth highest value, or the lowest of fewer."""
    return nlargest(_PLACE, values)[-1] if values else None


def _lead(value: float | None, usual: float | None) -> float:
    """Return how far a value exceeds the usual one; where one is missing, nothing speaks for or against."""
    return 0.0 if value is None or usual is None else value - usual


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
