"""What models of BERT's kind share, held against NumPy; the models themselves are held against transformers."""

from __future__ import annotations

import numpy as np
import pytest

from jupyter_memory.embedders.bert.layers import attend
from jupyter_memory.embedders.runtime.mlx import mx


@pytest.mark.parametrize("tokens", [1, 7, 128, 400], ids="{} tokens".format)
def test_attention(tokens):
    """Attention is softmax as NumPy computes it in double precision, in slices or at once, with padding or without."""
    rng = np.random.default_rng(5)
    queries, keys, values = rng.normal(scale=3, size=(3, 3, 4, tokens, 16)).astype(np.float32)
    mask = np.ones((3, tokens), dtype=np.float32)
    mask[1, tokens // 2 + 1 :] = 0
    scores = np.einsum("bhqd,bhkd->bhqk", queries.astype(np.float64), keys.astype(np.float64)) / 4
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask[:, None, None, :]
    expected = weights @ values.astype(np.float64) / weights.sum(axis=-1, keepdims=True)

    found = attend(mx.array(queries), mx.array(keys), mx.array(values), mx.array(mask))

    assert np.allclose(np.asarray(found), expected, atol=2e-5)
