"""Small models that transformers made, one as wide as the real one, and a place for models that are fetched."""

import json
import shutil

import pytest
from small_models import EMBEDDERS, SmallModel, mx, placed

from jupyter_memory.embedders import NOMIC, CachedModel


@pytest.fixture(params=["nomic", "minilm"])
def small(request, tmp_path):
    return SmallModel(tmp_path / "models", request.param)


@pytest.fixture
def nomic(tmp_path):
    return SmallModel(tmp_path / "models", "nomic")


@pytest.fixture(scope="session")
def wide(tmp_path_factory):
    """A folder of models with a nomic-bert of one layer and 768 values, with seeded weights."""
    folder = tmp_path_factory.mktemp("wide")
    mx.random.seed(3)
    shapes = {"attn.Wqkv": (2304, 768), "attn.out_proj": (768, 768), "mlp.fc11": (128, 768), "mlp.fc12": (128, 768)}
    shapes = {f"encoder.layers.0.{name}": shape for name, shape in (shapes | {"mlp.fc2": (768, 128)}).items()}
    shapes |= {"embeddings.word_embeddings": (256, 768), "embeddings.token_type_embeddings": (2, 768)}
    weights = {f"{name}.weight": mx.random.normal(shape) * 0.05 for name, shape in shapes.items()}
    for name in ("emb_ln", "encoder.layers.0.norm1", "encoder.layers.0.norm2"):
        weights |= {f"{name}.weight": 1 + mx.random.normal((768,)) * 0.05, f"{name}.bias": mx.zeros(768) + 0.01}
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    config = {"n_embd": 768, "n_head": 12, "n_inner": 128, "n_layer": 1, "vocab_size": 256, "type_vocab_size": 2}
    config |= {"model_type": "nomic_bert", "layer_norm_epsilon": 1e-12, "rotary_emb_base": 1000, "n_positions": 8192}
    (folder / "config.json").write_text(json.dumps(config | {"activation_function": "swiglu", "prenorm": False}))
    shutil.copy(EMBEDDERS / "nomic_small" / "tokenizer.json", folder)
    return placed(tmp_path_factory.mktemp("models"), "nomic", folder).parent


@pytest.fixture
def cached(tmp_path):
    return CachedModel(tmp_path / "data" / "models", NOMIC)
