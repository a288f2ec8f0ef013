"""Calibration: how far meaning can be trusted in one store with one model, measured without judgements.

Passages are divided into pseudo-queries and their answers. The retriever that finds more of the answers, among those
of other passages, can be trusted more here. Measured once for a store and a model, and again when the store has
doubled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders import checked
from jupyter_memory.protocols import Embedder
from jupyter_memory.search.pseudo_queries import pseudo_queries
from jupyter_memory.storage.base import EmbeddedParts, Snapshot, Storage

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
