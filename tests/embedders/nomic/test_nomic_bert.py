"""The nomic-bert network, held against what transformers computes."""

from __future__ import annotations

import numpy as np

from jupyter_memory.embedders.nomic.folder import load_nomic_bert
from jupyter_memory.embedders.runtime.mlx import mx


def test_token_vectors(small_folder, expected):
    """Every token's vector is the reference's, to 1e-4."""
    model = load_nomic_bert(small_folder)

    for one in expected:
        assert np.allclose(np.asarray(model(mx.array([one["ids"]])))[0], one["tokens"], atol=1e-4), one["text"]


def test_padding_changes_nothing(small_folder, expected):
    """Texts of different lengths in one padded batch give the vectors that each gives alone."""
    model = load_nomic_bert(small_folder)
    longest = max(len(one["ids"]) for one in expected) + 5
    ids = [one["ids"] + [0] * (longest - len(one["ids"])) for one in expected]
    mask = [[1.0] * len(one["ids"]) + [0.0] * (longest - len(one["ids"])) for one in expected]

    together = np.asarray(model(mx.array(ids), mx.array(mask)))

    for row, one in zip(together, expected, strict=True):
        assert np.allclose(row[: len(one["ids"])], one["tokens"], atol=1e-4), one["text"]


def test_what_stands_in_the_padding_is_not_seen(small_folder):
    """Other tokens behind the end of a text leave its vectors as they are."""
    model = load_nomic_bert(small_folder)
    mask = mx.array([[1.0, 1.0, 1.0, 0.0, 0.0]])

    first, second = (np.asarray(model(mx.array([[2, 40, 3, *end]]), mask))[0, :3] for end in ([0, 0], [77, 91]))

    assert np.allclose(first, second, atol=1e-6)


def test_order_of_words_counts(small_folder):
    """The same words in another order give another mean: positions reach the output."""
    model = load_nomic_bert(small_folder)

    forward, backward = (
        np.asarray(mx.mean(model(mx.array([ids])), axis=1)) for ids in ([2, 40, 50, 3], [2, 50, 40, 3])
    )

    assert np.abs(forward - backward).max() > 1e-3
