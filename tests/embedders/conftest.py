"""Folders with nomic-bert models, a stored one and one as wide as the real one; a place for models that are fetched."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from jupyter_memory.embedders import CachedModel
from jupyter_memory.embedders.registry import NOMIC

SMALL = Path(__file__).parent / "nomic_small"


@pytest.fixture
def small_folder(tmp_path):
    """A copy of the stored model of two layers and 64 values, under the hub's names."""
    return Path(shutil.copytree(SMALL, tmp_path / "small"))


@pytest.fixture(scope="session")
def expected():
    """What transformers computes with the stored model: texts, ids, token vectors, pooled vectors."""
    return json.loads((SMALL / "expected.json").read_text())


@pytest.fixture(scope="session")
def wide_folder(tmp_path_factory):
    """A model of one layer and 768 values with seeded weights; names and configuration written as on the hub."""
    from jupyter_memory.embedders.runtime.mlx import mx

    folder = tmp_path_factory.mktemp("wide")
    mx.random.seed(3)

    def values(*shape):
        return mx.random.normal(shape) * 0.05

    layer = "encoder.layers.0"
    weights = {
        "embeddings.word_embeddings.weight": values(256, 768),
        "embeddings.token_type_embeddings.weight": values(2, 768),
        "emb_ln.weight": 1 + values(768),
        "emb_ln.bias": values(768),
        f"{layer}.attn.Wqkv.weight": values(3 * 768, 768),
        f"{layer}.attn.out_proj.weight": values(768, 768),
        f"{layer}.mlp.fc11.weight": values(128, 768),
        f"{layer}.mlp.fc12.weight": values(128, 768),
        f"{layer}.mlp.fc2.weight": values(768, 128),
        f"{layer}.norm1.weight": 1 + values(768),
        f"{layer}.norm1.bias": values(768),
        f"{layer}.norm2.weight": 1 + values(768),
        f"{layer}.norm2.bias": values(768),
    }
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    config = {
        "model_type": "nomic_bert",
        "activation_function": "swiglu",
        "n_embd": 768,
        "n_head": 12,
        "n_inner": 128,
        "n_layer": 1,
        "n_positions": 8192,
        "layer_norm_epsilon": 1e-12,
        "mlp_fc1_bias": False,
        "mlp_fc2_bias": False,
        "prenorm": False,
        "qkv_proj_bias": False,
        "rotary_emb_base": 1000,
        "rotary_emb_fraction": 1.0,
        "rotary_emb_interleaved": False,
        "rotary_emb_scale_base": None,
        "type_vocab_size": 2,
        "use_rms_norm": False,
        "vocab_size": 256,
    }
    (folder / "config.json").write_text(json.dumps(config))
    shutil.copy(SMALL / "tokenizer.json", folder)
    return folder


@pytest.fixture
def cached(tmp_path):
    """The place of nomic in a folder that is not there yet."""
    return CachedModel(tmp_path / "data" / "models", NOMIC)
