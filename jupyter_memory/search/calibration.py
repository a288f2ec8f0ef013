"""How far meaning can be trusted in one store with one model, found out from the store itself, without judgements.

A passage is taken apart into a sentence and the rest: a docstring and its code, a title and its text, a telling
sentence and those around it. Which leg finds the rest again by the sentence, among the rests of other passages, is the
one that can be trusted more here. Measured once for a store and a model; a store that has doubled is measured anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Passages that are taken apart, and below how many their answer is too much of an accident.
PASSAGES = 150
ENOUGH = 30

# The failures of the legs are compared with this added to both, so that a handful of accidents decides nothing.
_SLACK = 0.05
_POWER = 2.0
_LEAST, _MOST = 0.3, 4.0

_DOCSTRING = re.compile(r'"""(.+?)"""|\'\'\'(.+?)\'\'\'', re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\n+")
_FEWEST_WORDS = 3
_LONGEST_QUESTION = 200
# A longer sentence is not more telling.
_TELLING_WORDS = 12


class Riddle(NamedTuple):
    """A question whose answer is known: ``answer`` is what is left of a passage without ``question``."""

    question: str
    answer: str


def riddle(text: str, title: str = "") -> Riddle | None:
    """Return a passage taken apart, None where it has too few words for that.

    >>> riddle("def mean(xs):\\n    '''Average of all prices.'''\\n    return sum(xs) / len(xs)")
    Riddle(question='Average of all prices.', answer='def mean(xs):\\n    \\n    return sum(xs) / len(xs)')
    >>> riddle("Prices.")
    """
    if found := _DOCSTRING.search(text):
        lines = (found[1] or found[2]).strip().splitlines() or [""]
        return _fair(lines[0].strip(), text[: found.start()] + text[found.end() :])
    if len(title.split()) >= _FEWEST_WORDS:
        return _fair(title, text.strip().removeprefix(title))
    sentences = [sentence for sentence in _SENTENCE_END.split(text.strip()) if sentence.strip()]
    if len(sentences) < 2:
        return None
    words = [min(len(sentence.split()), _TELLING_WORDS) for sentence in sentences]
    place = words.index(max(words))
    return _fair(sentences[place], " ".join(sentences[:place] + sentences[place + 1 :]))


def riddles(passages: Iterable[tuple[str, str]]) -> list[Riddle]:
    """Return up to ``PASSAGES`` riddles from pairs of title and text, such as a store's chunks in random order."""
    found: list[Riddle] = []
    for title, text in passages:
        if len(found) == PASSAGES:
            break
        if one := riddle(text, title):
            found.append(one)
    return found


def trust(words: NDArray[np.floating], meaning: NDArray[np.floating]) -> float:
    """Return how much more meaning can be trusted than on average: 1 where it fails about as often as words do.

    Args:
        words: what the keyword leg's measure gives each question (row) with each answer (column), ``(n, n)``; the right
            answers are on the diagonal.
        meaning: the cosines of the same.
    """
    if len(words) < ENOUGH:
        return 1.0
    ratio = (1 - mean_reciprocal_rank(words) + _SLACK) / (1 - mean_reciprocal_rank(meaning) + _SLACK)
    return float(min(_MOST, max(_LEAST, ratio**_POWER)))


def mean_reciprocal_rank(scores: NDArray[np.floating]) -> float:
    """Return the mean of 1 / rank of the diagonal in its row; equal scores share the middle of their places."""
    right = np.diag(scores)[:, None]
    ranks = 1 + (scores > right).sum(axis=1) + ((scores == right).sum(axis=1) - 1) / 2
    return float((1 / ranks).mean())


def words_in_common(questions: Sequence[Sequence[str]], answers: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Return BM25 (k1 = 1.2, b = 0.75, as FTS5) of each question with each answer, given as words, ``(n, n)``."""
    lengths = np.array([len(answer) for answer in answers], dtype=np.float64)
    norms = 1.2 * (0.25 + 0.75 * lengths / max(lengths.mean(), 1.0)) if lengths.size else lengths
    postings: dict[str, dict[int, int]] = {}
    for row, answer in enumerate(answers):
        for word in answer:
            held = postings.setdefault(word, {})
            held[row] = held.get(row, 0) + 1
    scores = np.zeros((len(questions), len(answers)))
    for row, question in enumerate(questions):
        for word in set(question) & postings.keys():
            rows = np.fromiter(postings[word], np.int64)
            counts = np.fromiter(postings[word].values(), np.float64)
            idf = max(1e-6, float(np.log((len(answers) - rows.size + 0.5) / (rows.size + 0.5))))
            scores[row, rows] += idf * counts * 2.2 / (counts + norms[rows])
    return scores


def _fair(question: str, answer: str) -> Riddle | None:
    if min(len(question.split()), len(answer.split())) < _FEWEST_WORDS:
        return None
    return Riddle(question[:_LONGEST_QUESTION], answer)
