"""What extraction yields: pairs of what one would ask and what answers it."""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from training.text import one_line, words

# Longer answers are cut: the mean of a long text's tokens says little.
LONGEST_CODE = 1_200
LONGEST_PROSE = 700
# A question that is asked more often, as "Return the name", tells nothing apart.
SAME_QUESTION = 3

# Kinds of pairs by group: a batch holds pairs of one group, so that its negatives are of the same kind.
GROUPS = {
    "dictionary": ("gloss", "synonym", "usage"),
    "command": ("command", "option"),
    "code": ("docstring", "name", "comment", "example", "parameter", "text-code", "heading-code"),
    "prose": ("docstring-rest", "heading-text", "first-rest", "next"),
}
# At most so many pairs of a kind from one package, so that a large one does not drown the others.
CAPS = {
    "docstring": 5_000, "name": 1_500, "docstring-rest": 1_500, "parameter": 800, "example": 2_500, "comment": 2_500,
    "heading-text": 6_000, "first-rest": 6_000, "next": 6_000, "text-code": 6_000, "heading-code": 3_000,
    "gloss": 60_000, "synonym": 30_000, "usage": 30_000, "command": 6_000, "option": 6_000,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, its answer, the kind of the pair, and the package that it is from."""

    question: str
    answer: str
    kind: str
    source: str = ""


def capped(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield the pairs of one package that differ and say something, up to the cap of each kind."""
    seen: set[tuple[str, str]] = set()
    counts: Counter[str] = Counter()
    for pair in pairs:
        question, answer = one_line(pair.question), pair.answer.strip()
        key = (pair.kind, question.lower())
        if min(len(question), len(answer)) < 4 or key in seen or counts[pair.kind] >= CAPS[pair.kind]:
            continue
        seen.add(key)
        counts[pair.kind] += 1
        yield Pair(question, answer, pair.kind, pair.source)


def sampled(text: str, part: float) -> bool:
    """Return whether a text is among the chosen part, the same on every machine."""
    return zlib.crc32(text.encode()) < part * 2**32


def distinct(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield pairs of several packages without copies; of one question, no more than `SAME_QUESTION`."""
    seen: set[tuple[str, str]] = set()
    asked: Counter[str] = Counter()
    for pair in pairs:
        question = pair.question.lower()
        key = (question, re.sub(r"\s+", "", pair.answer)[:400])
        if key not in seen and asked[question] < SAME_QUESTION and words(question) != words(pair.answer):
            seen.add(key)
            asked[question] += 1
            yield pair


def write_pairs(pairs: Iterable[Pair], path: Path) -> None:
    """Write one pair a line."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(pair), ensure_ascii=False) + "\n" for pair in pairs)


def read_pairs(path: Path) -> Iterator[Pair]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield Pair(**json.loads(line))
