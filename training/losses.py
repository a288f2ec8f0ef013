"""The two losses and their gradients with respect to the vectors of texts, in NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from training.tables import Floats, unit

# Cosines times this are the logits of both losses.
SCALE = np.float32(20)
_NEVER = np.float32(-1e4)


def contrast(questions: Floats, answers: Floats, same: NDArray[np.bool_], width: int) -> tuple[float, Floats, Floats]:
    """Return InfoNCE in both directions at the first ``width`` dimensions, and its gradients.

    ``same`` marks pairs that are no negatives of each other. Oord et al., 2018, with the other pairs of the batch.
    """
    asked, answered = questions[:, :width], answers[:, :width]
    one, other = unit(asked), unit(answered)
    logits = one @ other.T * SCALE
    logits[same] = _NEVER
    forward, backward = _log_softmax(logits), _log_softmax(logits.T)
    diagonal = np.arange(len(logits))
    loss = -float(forward[diagonal, diagonal].mean() + backward[diagonal, diagonal].mean()) / 2
    forward = np.exp(forward, out=forward)
    forward += np.exp(backward, out=backward).T
    forward[diagonal, diagonal] -= 2
    forward *= SCALE / (2 * len(logits))
    return loss, _through_unit(forward @ other, one, asked), _through_unit(forward.T @ one, other, answered)


def distil(texts: Floats, taught: Floats, width: int) -> tuple[float, Floats]:
    """Return the KL divergence of a batch's similarities from the teacher's, and the gradient for ``texts``.

    ``taught`` are the teacher's vectors at length 1. A text is not compared with itself.
    """
    seen = texts[:, :width]
    one = unit(seen)
    diagonal = np.arange(len(one))
    logits, wanted = one @ one.T * SCALE, taught @ taught.T * SCALE
    logits[diagonal, diagonal] = wanted[diagonal, diagonal] = _NEVER
    found, wanted = _log_softmax(logits), _log_softmax(wanted)
    likely = np.exp(wanted)
    loss = float((likely * (wanted - found)).sum(axis=1).mean())
    slope = (np.exp(found) - likely) * (SCALE / len(one))
    return loss, _through_unit((slope + slope.T) @ one, one, seen)


def _log_softmax(logits: Floats) -> Floats:
    below: Floats = logits - logits.max(axis=1, keepdims=True)
    below -= np.log(np.exp(below).sum(axis=1, keepdims=True))
    return below


def _through_unit(gradient: Floats, one: Floats, vectors: Floats) -> Floats:
    """Return the gradient for vectors, given that for the same vectors at length 1."""
    along = (gradient * one).sum(axis=1, keepdims=True)
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return (gradient - along * one) / lengths
