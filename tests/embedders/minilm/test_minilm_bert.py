"""BERT and its files, held against what transformers computes; what cannot be read is named."""

from __future__ import annotations

import json

import numpy as np
import pytest

from jupyter_memory import EmbedderUnavailable
from jupyter_memory.embedders.minilm.folder import load_bert
from jupyter_memory.embedders.runtime.mlx import mx, on_cpu

NEAR = 1e-5 if on_cpu() else 1e-2


def change(folder, name, value):
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {name: value}))


def save(folder, weights):
    mx.eval(list(weights.values()))
    (folder / "model.safetensors").unlink()
    mx.save_safetensors(str(folder / "model.safetensors"), weights)


def weights_of(folder):
    return dict(mx.load(str(folder / "model.safetensors")))


def test_token_vectors(small_bert, computed):
    """Every token's vector is the reference's, to 1e-5."""
    model = load_bert(small_bert)

    for one in computed:
        assert np.allclose(np.asarray(model(mx.array([one["ids"]])))[0], one["tokens"], atol=NEAR), one["text"]


def test_padding_changes_nothing(small_bert, computed):
    """Texts of different lengths in one padded batch give the vectors that each gives alone."""
    model = load_bert(small_bert)
    longest = max(len(one["ids"]) for one in computed) + 5
    ids = [one["ids"] + [77] * (longest - len(one["ids"])) for one in computed]
    mask = [[1.0] * len(one["ids"]) + [0.0] * (longest - len(one["ids"])) for one in computed]

    together = np.asarray(model(mx.array(ids), mx.array(mask)))

    for row, one in zip(together, computed, strict=True):
        assert np.allclose(row[: len(one["ids"])], one["tokens"], atol=NEAR), one["text"]


def test_inside_another_model(small_bert, computed):
    """The names that transformers uses within a larger model, with a head, give the same model."""
    named = {f"bert.{name}": value for name, value in weights_of(small_bert).items()}
    save(
        small_bert, named | {"cls.predictions.bias": mx.zeros((188,)), "bert.embeddings.position_ids": mx.zeros((1, 9))}
    )

    found = np.asarray(load_bert(small_bert)(mx.array([computed[1]["ids"]])))[0]

    assert np.allclose(found, computed[1]["tokens"], atol=NEAR)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("model_type", "roberta", "is of the type 'roberta', not bert"),
        ("hidden_act", "relu", "hidden_act is 'relu'"),
        ("position_embedding_type", "relative_key", "position_embedding_type is 'relative_key'"),
        ("num_attention_heads", 5, "48 values cannot be shared by 5 heads"),
        ("num_hidden_layers", 3, r"missing: layers\.2\."),
        ("intermediate_size", 80, "has the shape"),
    ],
)
def test_another_model(small_bert, name, value, said):
    """A configuration of another architecture, or one that does not fit the weights, is refused with the reason."""
    change(small_bert, name, value)

    with pytest.raises(EmbedderUnavailable, match=said):
        load_bert(small_bert)


def test_damaged(small_bert):
    """Weights that are cut short are refused, and the missing tensors are named."""
    file = small_bert / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1_000])

    with pytest.raises(EmbedderUnavailable, match="is cut short"):
        load_bert(small_bert)
