"""How alike two failures are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from dataclasses import dataclass
from math import log

from jupyter_memory.search.fixes.failures import Failure
from jupyter_memory.text.errors import fixed

Weigh = Callable[[Iterable[str]], float]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of a failure tells of whether another one has the same cause.

    ``message`` is the agreement of type and message, the rest its own part: the names that the message quotes, the
    library's frames, what the statement does, and where its variables came from. Errors that agree by less than
    ``least`` are not alike: so bounded, fewer than one in twenty errors that nobody had before get an answer.
    benchmarks/errors chose them, and shows that they carry over to libraries that had no part in the choice.
    """

    message: float = 6.0
    named: float = 1.0
    frames: float = 2.0
    code: float = 2.0
    origins: float = 1.0
    least: float = 0.6

    @property
    def total(self) -> float:
        """Return the sum of the weights."""
        return self.message + self.named + self.frames + self.code + self.origins


@dataclass(frozen=True, slots=True)
class Parts:
    """How alike two failures are in each part, from 0 to 1; None where neither has that part.

    ``raised`` is 1 if the same function of a library raised both. ``words`` is the number of fixed words of the new
    message.
    """

    message: float
    named: float | None
    frames: float | None
    raised: float
    code: float
    origins: float
    words: int


# A message of so many fixed words says by itself that it is the same error: "No module named" has three.
_TELLING = 8
# The credit for messages that share one of two quoted names: usually the same type lacks another attribute.
_HALF, _IN_PART = 0.6, 0.75


class FailureSimilarity:
    """Compares failures; features that few of them share count more than common ones."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        self._words = _rarity(one.signature.words for one in failures)
        self._named = _rarity(one.signature.named for one in failures)
        self._frames = _rarity(one.signature.frames for one in failures)
        self._code = _rarity(one.code for one in failures)
        self._origins = _rarity(one.origins for one in failures)

    def parts(self, new: Failure, old: Failure) -> Parts:
        """Return how alike a new failure and an older one are in each part."""
        mine, its = new.signature, old.signature
        own = new.own | old.own
        words = fixed(mine.words, its.words, own)
        same = mine.name == its.name
        message = _overlap(words, fixed(its.words, mine.words, own), self._words, nothing=1.0) if same else 0.0
        return Parts(
            message=message,
            named=_shared(mine.named, its.named, self._named),
            frames=_shared(frozenset(mine.frames), frozenset(its.frames), self._frames),
            raised=float(bool(mine.frames) and mine.frames[:1] == its.frames[:1]),
            code=_overlap(new.code, old.code, self._code),
            origins=_overlap(new.origins, old.origins, self._origins),
            words=len(words),
        )


def score(parts: Parts, weights: Weights) -> float:
    """Return how likely it is that two failures have one cause, as a share of the most that can agree."""
    # Errors that Python itself raises have no frames of a library: that both have none says something.
    frames = 0.5 if parts.frames is None else parts.frames
    return (
        weights.message * parts.message
        + weights.named * (1.0 if parts.named is None else parts.named)
        + weights.frames * frames
        + weights.code * parts.code
        + weights.origins * parts.origins
    ) / weights.total


def agreement(parts: Parts) -> float:
    """Return from 0 to 1 how sure it is that two errors are the same, whatever the code.

    "No module named" says little, and much with the same name behind it; a long message says all by itself, and so
    does a place in the library that raises both. A message that is nothing but a name, as a KeyError's, says only that
    Python raised both, if no library did.
    """
    named = parts.named
    if named is None:
        named = float(parts.words > 0 or parts.frames is None)
    elif 0 < named <= _HALF:
        named = _IN_PART
    said = min(1.0, parts.words / _TELLING)
    return parts.message * max(named, parts.raised, parts.code, said)


def _rarity(documents: Iterable[Iterable[str]]) -> Weigh:
    """Return a function that says how much some terms tell, by how few documents have each."""
    counts: Counter[Hashable] = Counter()
    number = 0
    for one in documents:
        counts.update(set(one))
        number += 1
    return lambda terms: sum(log(1 + number / (1 + counts[term])) for term in terms)


def _overlap(mine: Set[str], its: Set[str], weigh: Weigh, nothing: float = 0.0) -> float:
    whole = weigh(mine) + weigh(its)
    return 2 * weigh(mine & its) / whole if whole else nothing


def _shared(mine: frozenset[str], its: frozenset[str], weigh: Weigh) -> float | None:
    return _overlap(mine, its, weigh) if mine or its else None
