"""Earlier failures like one, and the runs that mended them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice, zip_longest
from math import log

from jupyter_memory.text.code import (
    Words,
    changed_names,
    features,
    origins,
    own_nodes,
    statement_at,
    syntax_tree,
    words_of,
)
from jupyter_memory.text.errors import Raised, Signature, fixed, quoted, read_traceback, signature
from jupyter_memory.types import Fix, Run, RunError

# Earlier runs of a session in which the variables of a failed statement are looked for.
EARLIER = 25
# Sources are longer when they are data.
_LONGEST = 50_000
_WORD = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class _Failure:
    run: Run
    signature: Signature
    code: frozenset[str]
    origins: frozenset[str]
    own: frozenset[str]


# Returns the syntax tree of a source that is Python and no data.
_Parse = Callable[[str], ast.Module | None]


def _failure(run: Run, before: Sequence[Run], parse: _Parse) -> _Failure:
    # `before` are the earlier runs of its session, in their order. Without an error, only its code is compared.
    error = run.error or RunError("", "")
    raised = read_traceback(error.traceback) if error.traceback else None
    modules = [module for one in before[-EARLIER:] if (module := parse(one.source)) is not None]
    module = parse(run.source)
    statement = statement_at(module, _line(run.source, raised)) if module is not None else None
    words = words_of(node for one in (*modules, module) if one is not None for node in ast.walk(one))
    if module is None or statement is None:
        place = raised.of_user if raised else None
        text = place.source if place and place.source else run.source[:_LONGEST]
        code, made = frozenset(_TOKEN.findall(text)), frozenset[str]()
        words = Words(words.own | code, words.within)
    else:
        earlier = [one for part in modules for one in part.body]
        above = [one for one in module.body if one.lineno < statement.lineno]
        held = [_WORD.search(re.split(r"[/\\\\]", one)[-1]) for one in quoted(error.message)]
        named = frozenset(one[0] for one in held if one)
        code, made = features(own_nodes(statement)), origins(statement, [*earlier, *above], named)
    own = frozenset(word.lower() for word in words.own)
    return _Failure(run, signature(error.name, error.message, raised, words), code, made, own)


def _line(source: str, raised: Raised | None) -> int | None:
    lines = source.split("\n")
    for one in (raised, *raised.before) if raised else ():
        for frame in one.frames:
            if frame.is_cell and frame.line and frame.line <= len(lines) and frame.source in lines[frame.line - 1]:
                return frame.line
    return None


# Runs after a failed one among which its fix is looked for.
AFTER = 10
# The same cell, edited, is surely about the same.
_SAME_CELL = 0.3
# A run that changes a name of the failed one may mend it; one that only shows it looks into the matter.
_CHANGES = 0.3
# Each run in between makes it less likely that a later one is still about the error.
_STEP = 0.05
# Below it, a run has nothing to do with the failed one.
_LEAST = 0.3
_LONGEST_LIKENED = 20_000
_ANY_WORD = re.compile(r"\w+")


def _fixing_runs(failed: Run, after: Sequence[Run], parse: _Parse) -> list[Run]:
    later, same = list(islice(after, AFTER)), failed.source.strip()
    mine = Counter(_ANY_WORD.findall(failed.source[:_LONGEST_LIKENED]))
    scores = {}
    for place, run in enumerate(later):
        if run.outcome == "ok":
            its = Counter(_ANY_WORD.findall(run.source[:_LONGEST_LIKENED]))
            same_cell = bool(failed.cell_id) and failed.cell_id == run.cell_id
            shared = (mine & its).total() / mine.total() if mine else 1.0
            scores[place] = shared + _CHANGES * _changes(run, failed, parse) + _SAME_CELL * same_cell
    relevant = [place for place, score in scores.items() if score >= _LEAST]
    relevant.sort(key=lambda place: _STEP * place - scores[place])
    found: dict[int, Run] = {}
    for place in relevant:
        mended: Run | None = later[place]
        if later[place].source.strip() == same:
            # If it is the failed source itself, the last one that changed anything for it.
            others = (run for run in reversed(later[:place]) if run.outcome == "ok" and run.source.strip() != same)
            mended = next((run for run in others if _changes(run, failed, parse)), None)
        if mended is not None:
            found[mended.number] = mended
    return list(found.values())


def _changes(run: Run, failed: Run, parse: _Parse) -> bool:
    module = parse(run.source)
    changed = changed_names(ast.walk(module)) if module is not None else frozenset[str]()
    return not changed.isdisjoint(_ANY_WORD.findall(failed.source[:_LONGEST_LIKENED]))


Weigh = Callable[[Iterable[str]], float]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of a failure tells of whether another one has the same cause.

    ``message`` is the agreement of type and message, the rest its own part: the names that the message quotes, the
    library's frames, what the statement does, and where its variables came from. Errors that agree by less than
    ``least`` are not alike: so bounded, fewer than one in twenty new errors get an answer.
    benchmarks/errors chose them, and shows that they carry over to libraries that had no part in the choice.
    """

    message: float = 6.0
    named: float = 1.0
    frames: float = 2.0
    code: float = 2.0
    origins: float = 1.0
    least: float = 0.6


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
    ) / (weights.message + weights.named + weights.frames + weights.code + weights.origins)


def agreement(parts: Parts) -> float:
    """Return from 0 to 1 how sure it is that two errors are the same, whatever the code."""
    # "No module named" says little, and much with the same name behind it; a long message says all by itself, and so
    # does a place in the library that raises both. A message that is nothing but a name, as a KeyError's, says only
    # that Python raised both, if no library did.
    named = parts.named
    if named is None:
        named = float(parts.words > 0 or parts.frames is None)
    elif 0 < named <= _HALF:
        named = _IN_PART
    said = min(1.0, parts.words / _TELLING)
    return parts.message * max(named, parts.raised, parts.code, said)


def _rarity(documents: Iterable[Iterable[str]]) -> Weigh:
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


# Returns the runs before and after one in its session, in their order.
Around = Callable[[Run], tuple[Sequence[Run], Sequence[Run]]]


class KnownErrors:
    """Earlier failed runs, to be compared with new ones; ``before`` are the earlier runs of a session, in order."""

    def __init__(self, failed: Iterable[Run], around: Around) -> None:
        self._around = around
        self._parse = cache(lambda source: syntax_tree(source) if len(source) <= _LONGEST else None)
        self._by_name: dict[str, list[_Failure]] = {}
        for run in failed:
            if run.error is not None:
                one = _failure(run, around(run)[0], self._parse)
                self._by_name.setdefault(one.signature.name, []).append(one)

    def compared(self, run: Run, before: Sequence[Run]) -> list[tuple[Parts, Run]]:
        """Return the earlier failed runs with an error of the same type, and how alike each is in its parts."""
        new = _failure(run, before, self._parse)
        known, mine = self._by_name.get(new.signature.name, []), new.signature
        of_words = _rarity(one.signature.words for one in known)
        of_names = _rarity(one.signature.named for one in known)
        of_frames = _rarity(one.signature.frames for one in known)
        of_code, of_origins = _rarity(one.code for one in known), _rarity(one.origins for one in known)
        found = []
        for old in known:
            its, own = old.signature, new.own | old.own
            words = fixed(mine.words, its.words, own)
            parts = Parts(
                message=_overlap(words, fixed(its.words, mine.words, own), of_words, nothing=1.0),
                named=_shared(mine.named, its.named, of_names),
                frames=_shared(frozenset(mine.frames), frozenset(its.frames), of_frames),
                raised=float(bool(mine.frames) and mine.frames[:1] == its.frames[:1]),
                code=_overlap(new.code, old.code, of_code),
                origins=_overlap(new.origins, old.origins, of_origins),
                words=len(words),
            )
            found.append((parts, old.run))
        return found

    def fixes(self, run: Run, before: Sequence[Run], limit: int = 3) -> list[Fix]:
        """Return what mended the errors most like that of a run, the best first; nothing if none is alike."""
        return self.chosen(self.compared(run, before), Weights(), limit)

    def similar(self, run: Run, before: Sequence[Run]) -> list[Run]:
        """Return the earlier failed runs whose error is like that of a run, the likest first, mended or not."""
        return [old for _, old in _alike(self.compared(run, before), Weights())]

    def chosen(self, compared: Iterable[tuple[Parts, Run]], weights: Weights, limit: int) -> list[Fix]:
        """Return the fixes of the runs that are alike, as these weights rank them.

        The best fix of each comes first, then the second best. What mended several errors is shown once.
        """
        lists: list[list[Fix]] = []
        for strength, failed in _alike(compared, weights):
            if len(lists) >= limit:
                break
            # An error that was never mended takes no place.
            if mended := _fixing_runs(failed, self._around(failed)[1], self._parse)[:2]:
                lists.append([Fix(failed, run, round(strength / at, 3)) for at, run in enumerate(mended, start=1)])
        found: dict[str, Fix] = {}
        for fix in chain.from_iterable(zip_longest(*lists)):
            if fix is not None:
                found.setdefault(fix.mended.source.strip(), fix)
        return list(islice(found.values(), limit))


def _alike(compared: Iterable[tuple[Parts, Run]], weights: Weights) -> list[tuple[float, Run]]:
    alike = [(score(parts, weights), run) for parts, run in compared if agreement(parts) >= weights.least]
    return sorted(alike, key=lambda one: (one[0], one[1].started), reverse=True)
