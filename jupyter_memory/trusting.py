"""Finds out how far meaning can be trusted in a store: once for a model, and again when the store has doubled."""

from __future__ import annotations

from random import Random

import numpy as np

from jupyter_memory.embedders import checked
from jupyter_memory.protocols import Embedder
from jupyter_memory.search.calibration import ENOUGH, PASSAGES, riddles, trust, words_in_common
from jupyter_memory.storage import passages, sampling
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.storage.tokens import stems
from jupyter_memory.storage.vectors import VectorIndex

# Passages that are read for one that can be taken apart.
_SPARE = 4
_SEED = 20_260_302


def measure_trust(database: Database, vectors: VectorIndex, embedder: Embedder) -> float | None:
    """Measure and keep the trust in an embedder, if that is due; return it, None where it is not due or not possible.

    Raises:
        EmbedderError: the model cannot run here.
    """
    with database.read() as connection:
        model, size = vectors.known(connection, embedder.fingerprint), sampling.newest(connection)
        before = None if model is None else sampling.trust(connection, model.id)
        if model is None or size < 2 * ENOUGH or (before is not None and size < 2 * before[0]):
            return None
        chunks = sampling.spread(connection, _SPARE * PASSAGES)
        texts = [(title, text) for title, _, text, _ in passages.passages(connection, chunks).values()]
        Random(_SEED).shuffle(texts)  # noqa: S311 - which passages are asked about is no secret
        asked = riddles(texts)
        if len(asked) < ENOUGH:
            return None
        words = words_in_common(
            [stems(connection, one.question) for one in asked], [stems(connection, one.answer) for one in asked]
        )
    # Outside the snapshot: a model of many layers takes its time.
    answers = checked.documents(embedder, [one.answer for one in asked])
    questions = np.stack([checked.question(embedder, one.question) for one in asked])
    value = trust(words, questions @ answers.T)
    with database.write() as connection:
        sampling.keep_trust(connection, model.id, size, value)
    return value
