"""Calibration: how far meaning can be trusted in one store with one model, measured without judgements.

Passages are divided into pseudo-queries and their answers. The retriever that finds more of the answers, among those
of other passages, can be trusted more here. Measured once for a store and a model, and again when the store has
doubled.

A passage is divided in the first of these ways that it has words for: the first line of a docstring and its code, a
heading or title and its text, the end of the Markdown above a cell and the cell, a telling sentence and those around
it. Names of functions and comments in code were tried as well: they agree less with judged questions (docs/quality.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders import checked
from jupyter_memory.storage.base import EmbeddedParts, Snapshot, Storage
from jupyter_memory.text.markdown import heading_of, words_above
from jupyter_memory.types.protocols import Embedder

# Passages that are divided, and below how many the result is too much of an accident.
PASSAGES = 150
ENOUGH = 30

# The failures of the retrievers are compared with this added to both, so that a handful of accidents decides nothing.
_SLACK = 0.05
_POWER = 2.0
_LEAST, _MOST = 0.3, 4.0

# Passages that are looked at for each that can be divided.
_SPARE = 4
_SEED = 20_260_302

_DOCSTRING = re.compile(r'"""(.+?)"""|\'\'\'(.+?)\'\'\'', re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\n+")
_FEWEST_WORDS = 3
_LONGEST_QUESTION = 200
# A longer sentence is not more telling.
_TELLING_WORDS = 12


def calibrate(storage: Storage, embedder: Embedder) -> float | None:
    """Measure how far an embedder can be trusted in a store, and keep that; None where it is not due or not possible.

    Raises:
        EmbedderError: the model cannot run here.
    """
    with storage.snapshot() as snapshot:
        model, size = snapshot.model(embedder.fingerprint), snapshot.newest_chunk()
        before = None if model is None else snapshot.calibration(model)
        if model is None or size < 2 * ENOUGH or (before is not None and size < 2 * before.chunks):
            return None
        chunks = snapshot.sample(_SPARE * PASSAGES)
        Random(_SEED).shuffle(chunks)  # noqa: S311 - which passages are asked about is no secret
        asked = pseudo_queries(_passages(snapshot, chunks), PASSAGES)
        if len(asked) < ENOUGH:
            return None
        stems = snapshot.corpus.words
        words = words_in_common([stems(one.question) for one in asked], [stems(one.answer) for one in asked])
    # Outside the snapshot: a model of many layers takes its time.
    answers = checked.documents(embedder, [one.answer for one in asked])
    questions = np.stack([checked.question(embedder, one.question) for one in asked])
    value = calibration(words, questions @ answers.T)
    storage.writer.keep_calibration(model, size, value)
    return value


def calibration(words: NDArray[np.floating], meaning: NDArray[np.floating]) -> float:
    """Return how much more meaning can be trusted than on average: 1 where it fails about as often as words do.

    Args:
        words: BM25 of each question (row) with each answer (column), ``(n, n)``; the right answers are on the diagonal.
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


def _passages(snapshot: Snapshot, chunks: Sequence[int]) -> Iterator[EmbeddedParts]:
    """Yield the passages of chunks in their order, read as they are needed: most can be divided."""
    for start in range(0, len(chunks), PASSAGES):
        some = chunks[start : start + PASSAGES]
        parts = snapshot.embedded_parts(some)
        yield from (parts[chunk] for chunk in some if chunk in parts)


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
