"""Which candidates are about the same as a text: those that stand out from the rest, and whose section does too.

Every text has a most similar one, so a score alone says little. What is shared by a dozen cells, such as the imports,
leads to a dozen candidates of about one score; what is about the same leads to a few that stand out, and often to
several of one section. The weights are a logistic regression over the cells of half of the notebooks of a judged set,
and over texts that have nothing to do with them; `benchmarks/related.py` measures it on the other half.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import exp

from jupyter_memory.search.confidence.strength import strengths
from jupyter_memory.search.fusion import Ranked
from jupyter_memory.search.pipeline import Result

INTERCEPT = -0.73
SHARE = 4.2
USUAL = -7.7
BESIDE = 1.07

# Those that are likelier than not. Of the cells of the other half that reach it, 7 of 10 are of the same section.
ALIKE_FROM = 0.5
# A candidate that holds less of the text's telling words than this asks for is a coincidence, however it stands out.
_STRENGTH_FROM = 0.35

# A text of which the store knows fewer words, or pairs of characters, is about something else, whatever holds them.
_FEWEST = 3

# How many are judged. Of these, the first are compared with those that follow, which are taken for the usual.
_JUDGED = 20
_FIRST = 10
_USUAL = slice(5, 15)
# One that scores half as much as the best says an eighth as much for its section.
_POWER = 3


@dataclass(frozen=True, slots=True)
class Likeness:
    """What speaks for a candidate, in shares of the best score.

    ``share`` is its own score, and ``usual`` the mean of those that follow the first ones: near 1 where nothing stands
    out. ``beside`` is the evidence of the other first candidates of its section.
    """

    share: float
    usual: float
    beside: float = 0.0

    @property
    def value(self) -> float:
        """Return how likely the candidate is about the same, 0 to 1.

        >>> [round(Likeness(*values).value, 2) for values in ((1.0, 0.5), (1.0, 0.9), (0.8, 0.4, 1.2))]
        [0.41, 0.03, 0.7]
        """
        logit = INTERCEPT + SHARE * self.share + USUAL * self.usual + BESIDE * self.beside
        return 1 / (1 + exp(-max(-30.0, min(30.0, logit))))


def only_alike(result: Result) -> Result:
    """Return a result with only the candidates that are likely about the same as its query, the likeliest first."""
    asked = result.query.terms
    if len(asked.words) + len(asked.ident) < _FEWEST:
        return replace(result, ranked=[], duplicates={})
    judged = result.ranked[:_JUDGED]
    likely = [(one.value, found) for one, found in zip(likenesses(judged), judged, strict=True)]
    # Sorting is stable, so of equals the better score stays first.
    likely = sorted((pair for pair in likely if pair[0] >= ALIKE_FROM), key=lambda pair: -pair[0])
    few = [found for _, found in likely]
    # Strengths take longer than all the rest, and few candidates come as far as this.
    believed = zip(few, strengths(result.scored.context, few), strict=True)
    kept = [found for found, strength in believed if strength >= _STRENGTH_FROM]
    ranked = [found._replace(rank=rank) for rank, found in enumerate(kept, start=1)]
    return replace(result, ranked=ranked, duplicates={})


def likenesses(ranked: Sequence[Ranked]) -> list[Likeness]:
    """Return the likeness of each of these candidates, the best scores first."""
    best = max((one.score for one in ranked), default=0.0)
    if best <= 0:
        return [Likeness(0.0, 1.0)] * len(ranked)
    shares = [max(0.0, one.score) / best for one in ranked]
    followers = shares[_USUAL]
    usual = sum(followers) / len(followers) if followers else 0.0
    sections = [_section(one) for one in ranked]
    first = list(zip(sections, shares, strict=True))[:_FIRST]
    return [
        Likeness(
            share=share,
            usual=usual,
            beside=sum(other**_POWER for at, (of, other) in enumerate(first) if at != place and of == section),
        )
        for place, (section, share) in enumerate(zip(sections, shares, strict=True))
    ]


def _section(one: Ranked) -> Hashable:
    """Return where a candidate stands: the title of a cell names the headings above it."""
    memory = one.candidate.memory
    return memory.source, memory.title
