"""Pseudo-queries: questions made from the passages of a store, whose answers are known without judgements.

A passage is divided into a question and its answer, in the first of these ways that it has words for: the first line of
a docstring and its code, a heading or title and its text, the end of the Markdown above a cell and the cell, a telling
sentence and those around it. Names of functions and comments in code were tried as well: they agree less with judged
questions (docs/quality.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from jupyter_memory.storage.base import EmbeddedParts
from jupyter_memory.text.structure import heading_of, words_above

_DOCSTRING = re.compile(r'"""(.+?)"""|\'\'\'(.+?)\'\'\'', re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\n+")
_FEWEST_WORDS = 3
_LONGEST_QUESTION = 200
# A longer sentence is not more telling.
_TELLING_WORDS = 12


class PseudoQuery(NamedTuple):
    """A question whose answer is known: ``answer`` is what is left of a passage without ``question``."""

    question: str
    answer: str


def pseudo_queries(passages: Iterable[EmbeddedParts], most: int) -> list[PseudoQuery]:
    """Return up to ``most`` pseudo-queries, in the order of the passages.

    A heading is asked at most once: any passage under it would be as good an answer as the one that counts as right.
    """
    found: list[PseudoQuery] = []
    headings: set[str] = set()
    for passage in passages:
        if len(found) == most:
            break
        heading = heading_of(passage.context, passage.title, passage.kind)
        one = pseudo_query(passage, "" if heading in headings else heading)
        headings.add(heading)
        if one:
            found.append(one)
    return found


def pseudo_query(passage: EmbeddedParts, heading: str = "") -> PseudoQuery | None:
    """Return a passage divided, None where it has too few words for that.

    >>> code = "def mean(xs):\\n    '''Average of all prices.'''\\n    return sum(xs) / len(xs)"
    >>> pseudo_query(EmbeddedParts("note", "", "", code))
    PseudoQuery(question='Average of all prices.', answer='def mean(xs):\\n    \\n    return sum(xs) / len(xs)')
    >>> pseudo_query(EmbeddedParts("note", "", "", "Prices."))
    """
    text = passage.text.strip()
    above = words_above(passage.context, passage.title, passage.kind)
    return (
        _of_docstring(text)
        or _fair(heading, text.lstrip("# ").removeprefix(heading))
        or _fair(_sentences(above)[-1], text)
        or _of_sentences(text)
    )


def _of_docstring(text: str) -> PseudoQuery | None:
    found = _DOCSTRING.search(text)
    if found is None:
        return None
    lines = (found[1] or found[2]).strip().splitlines() or [""]
    return _fair(lines[0].strip(), text[: found.start()] + text[found.end() :])


def _of_sentences(text: str) -> PseudoQuery | None:
    sentences = [sentence for sentence in _sentences(text) if sentence.strip()]
    if len(sentences) < 2:
        return None
    words = [min(len(sentence.split()), _TELLING_WORDS) for sentence in sentences]
    place = words.index(max(words))
    return _fair(sentences[place], " ".join(sentences[:place] + sentences[place + 1 :]))


def _sentences(text: str) -> list[str]:
    return _SENTENCE_END.split(text)


def _fair(question: str, answer: str) -> PseudoQuery | None:
    if min(len(question.split()), len(answer.split())) < _FEWEST_WORDS:
        return None
    return PseudoQuery(question[:_LONGEST_QUESTION], answer)
