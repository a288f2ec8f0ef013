"""Texts that a pattern takes longest for: what it repeats, many times, and then what it does not expect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
# What a pattern may go on to read, or stumble over.
_PLAIN = " \t\n\r\0aAzZ09_-.,:;=#*+/\\|!?'\"`~@$%&()[]{}<>^éλß東の\u0301\ud800"
_CLASSES = {
    op.CATEGORY_DIGIT: "7", op.CATEGORY_NOT_DIGIT: "a -", op.CATEGORY_SPACE: " \n\t",
    op.CATEGORY_NOT_SPACE: "a.", op.CATEGORY_WORD: "a_7é", op.CATEGORY_NOT_WORD: " -.",
}  # fmt: skip
# A repeat of at most so many is no repeat.
_FEW = 30


def worst(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """Yield beginnings, middles and ends: the middle, often repeated, may take long."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    seen: set[tuple[str, str, str]] = set()
    for one in _attacks(tree):
        if one[1] and one not in seen:
            seen.add(one)
            yield one


def _attacks(tree: Any) -> Iterator[tuple[str, str, str]]:
    ends = ("", "\0", "\n", " ", "a", "!", "\nx")
    whole = _samples(tree)
    repeated = list(_repeated(tree, [""]))
    for before, bodies in repeated:
        for body, end in product(bodies, ends):
            yield before, body, end
            yield "", before + body, end
            yield "", before + body + body, end
    for (before, bodies), (_, others) in product(repeated, repeated):
        yield before, bodies[0] + others[0], "\0"
    for sample in whole:
        for cut in range(1, min(len(sample), 24) + 1):
            yield "", sample[:cut], "\0"
            yield sample[:cut], sample[cut - 1], "\0"
    for character in _PLAIN:
        yield "", character, "\0"
        for sample in whole[:2]:
            yield sample, character, "\0"


def _repeated(nodes: Any, before: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield what is repeated without a limit, with a text that leads to it."""
    for kind, value in nodes:
        if kind in _REPEATS:
            _, most, body = value
            if most is op.MAXREPEAT or most > _FEW:
                for lead in before[:2]:
                    yield lead, _samples(body)
            yield from _repeated(body, before)
        else:
            for inner in _inner(kind, value):
                yield from _repeated(inner, before)
        before = [lead + sample for lead, sample in product(before[:2], _of(kind, value)[:2])][:3]


def _inner(kind: Any, value: Any) -> list[Any]:
    if kind is op.BRANCH:
        return list(value[1])
    if kind is op.SUBPATTERN:
        return [value[-1]]
    if kind is op.ATOMIC_GROUP:
        return [value]
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [value[1]]
    if kind is op.GROUPREF_EXISTS:
        return [one for one in value[1:] if one is not None]
    return []


def _samples(nodes: Any) -> list[str]:
    """Return some texts that a sequence of nodes matches, or nearly matches."""
    found = [""]
    for kind, value in nodes:
        found = [lead + sample for sample, lead in product(_of(kind, value), found)][:8]
    return found


def _of(kind: Any, value: Any) -> list[str]:
    if kind is op.LITERAL:
        return [chr(value)]
    if kind is op.NOT_LITERAL:
        return [one for one in "a -" if one != chr(value)]
    if kind is op.ANY:
        return ["a", " "]
    if kind is op.IN:
        return _of_set(value)
    if kind is op.CATEGORY:
        return list(_CLASSES[value])
    if kind in _REPEATS:
        least, _, body = value
        return [sample * max(1, min(least, 40)) for sample in _samples(body)] + ([""] if not least else [])
    if kind in (op.ASSERT, op.ASSERT_NOT, op.AT):
        return [""]
    if kind is op.GROUPREF:
        return ["a", ""]
    inner = _inner(kind, value)
    return [sample for one in inner for sample in _samples(one)] or [""]


def _of_set(members: Any) -> list[str]:
    if members[0][0] is op.NEGATE:
        refused = re.compile(f"[{''.join(map(re.escape, (s for m in members[1:] for s in _member(m))))}]")
        return [one for one in "a 7-_\n" if not refused.match(one)][:4] or ["\0"]
    return [sample for member in members for sample in _member(member)][:6]


def _member(member: Any) -> list[str]:
    kind, value = member
    if kind is op.RANGE:
        return [chr(value[0]), chr(value[1])]
    return _of(kind, value)
