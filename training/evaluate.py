"""How well a table ranks the judged sets: nDCG@10 of vectors alone and of MaxSim, in seconds.

The product's own figures come from `jupyter-memory eval`: it cuts and composes texts in its own way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jupyter_memory.evaluation import METRICS
from training.judged import Texts
from training.tables import DIMENSIONS, MEAN, Floats, Pooling, unit, vectors
from training.tokens import Tokenizer, Tokens

# Candidates of each question that MaxSim ranks, and by how many dimensions, as the product does.
_CANDIDATES = 50
_SIGNAL = 128
_IDF_POWER = 1.5
_DEPTH = 10


@dataclass(frozen=True)
class Encoded:
    """A judged set as tokens."""

    texts: Texts
    chunks: Tokens
    questions: Tokens


def encoded(sets: Iterable[Texts], tokenizer: Tokenizer) -> list[Encoded]:
    return [
        Encoded(one, tokenizer(one.chunks), tokenizer([question.text for question in one.questions])) for one in sets
    ]


def figures(table: Floats, sets: Sequence[Encoded], pooling: Pooling = MEAN) -> dict[str, dict[str, float]]:
    """Return nDCG@10 by set and by measure: each number of dimensions, ``max_sim``, each type of question at 256.

    ``pooling`` is that of the recipe by which the table was trained.
    """
    return {one.texts.name: _figures(table, one, pooling) for one in sets}


def mean(found: Mapping[str, Mapping[str, float]], measure: str) -> float:
    return float(np.mean([one[measure] for one in found.values()]))


def _figures(table: Floats, found: Encoded, pooling: Pooling) -> dict[str, float]:
    texts, questions = (vectors(table, tokens, pooling) for tokens in (found.chunks, found.questions))
    scores = {str(width): _scores(found, unit(questions[:, :width]) @ unit(texts[:, :width]).T) for width in DIMENSIONS}
    whole = scores[str(DIMENSIONS[0])]
    measured = {name: _measure(found, one) for name, one in scores.items()}
    values = {name: float(np.mean(one)) for name, one in measured.items()}
    values["max_sim"] = float(np.mean(_measure(found, _max_sim(table, found, whole))))
    types = sorted({question.type for question in found.texts.questions} - {""})
    for name in types if len(types) > 1 else ():
        chosen = [question.type == name for question in found.texts.questions]
        values[f"256 {name}"] = float(np.mean(measured["256"][chosen]))
    return values


def _scores(found: Encoded, cosines: Floats) -> Floats:
    """Return ``(questions, documents)``: the best chunk's cosine; minus infinity for another group's documents."""
    owners = np.array(found.texts.owners)
    firsts = np.flatnonzero(np.diff(owners, prepend=-1))
    best: Floats = np.maximum.reduceat(cosines, firsts, axis=1)
    groups = np.array([document.group for document in found.texts.documents])
    for row, question in enumerate(found.texts.questions):
        if question.group:
            best[row, groups != question.group] = -np.inf
    return best


def _measure(found: Encoded, scores: Floats) -> Floats:
    ranked = np.argsort(-scores, axis=1, kind="stable")[:, :_DEPTH]
    ids = [document.id for document in found.texts.documents]
    return np.array(
        [
            METRICS[f"ndcg@{_DEPTH}"]([ids[place] for place in places], question.grades)
            for places, question in zip(ranked, found.texts.questions, strict=True)
        ],
        np.float32,
    )


def _max_sim(table: Floats, found: Encoded, scores: Floats) -> Floats:
    """Return ``scores`` with the first candidates placed by how near their nearest tokens come to the question's."""
    rows = unit(table[:, :_SIGNAL])
    chunks, starts = found.chunks, found.chunks.starts
    held = np.bincount(
        np.concatenate([np.unique(chunks.ids[start:end]) for start, end in zip(starts, chunks.ends, strict=True)]),
        minlength=len(table),
    )
    idf = np.log1p((len(chunks) - held + 0.5) / (held + 0.5)).astype(np.float32)
    firsts = np.flatnonzero(np.diff(np.array(found.texts.owners), prepend=-1))
    lasts = np.append(firsts[1:], len(chunks)) - 1
    out = np.full_like(scores, -np.inf)
    for row, start, end in zip(range(len(scores)), found.questions.starts, found.questions.ends, strict=True):
        asked = np.unique(found.questions.ids[start:end])
        weights = idf[asked] ** _IDF_POWER
        for place in np.argpartition(-scores[row], min(_CANDIDATES, scores.shape[1] - 1))[:_CANDIDATES]:
            if np.isfinite(scores[row, place]):
                text = np.unique(chunks.ids[starts[firsts[place]] : chunks.ends[lasts[place]]])
                out[row, place] = (rows[asked] @ rows[text].T).max(axis=1) @ weights / max(weights.sum(), 1e-9)
    return out
