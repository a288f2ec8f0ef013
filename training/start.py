"""The table that training begins with: each token through MiniLM, cut to 256 dimensions, rare ones weighing more."""

from __future__ import annotations

import numpy as np

from training.tables import DIMENSIONS, Floats


def start_table(hidden: Floats, width: int = DIMENSIONS[0]) -> Floats:
    """Return the table that hidden states of single tokens give: centred, PCA, log-rank weights, mean square 1.

    A BERT vocabulary lists frequent words first, so the logarithm of a token's place stands for its idf.
    """
    centred = hidden - hidden.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    reduced = centred @ axes[:width].T
    # The sign of an axis is arbitrary and differs between machines.
    reduced *= np.sign(reduced[np.abs(reduced).argmax(axis=0), np.arange(reduced.shape[1])])
    weighted = reduced * np.log1p(np.arange(len(reduced)) + 1)[:, None]
    table: Floats = (weighted / np.sqrt(np.mean(weighted**2))).astype(np.float32)
    return table
