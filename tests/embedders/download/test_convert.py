"""What is kept of a published model."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from jupyter_memory import EmbedderUnavailable
from jupyter_memory.embedders.download import cache
from jupyter_memory.embedders.download.cache import Manifest, sha256_of
from jupyter_memory.embedders.download.convert import convert
from jupyter_memory.embedders.mlx import mx
from jupyter_memory.embedders.nomic_minilm import NomicEmbedder

TEXT = "Sales in Zürich rose by four percent; the λ of the Poisson model is 3.2."


@pytest.fixture
def kept(tmp_path):
    """An empty folder to convert into."""
    folder = tmp_path / "kept"
    folder.mkdir()
    return folder


def converted(source, target):
    return convert(source, target, Manifest("nomic", "", "", ""), lambda done: None)


def test_half_precision(small_folder, kept):
    """What is kept takes half the room, gives the same vectors but for rounding, and has the same fingerprint."""
    made = converted(small_folder, kept)

    before, after = NomicEmbedder(small_folder, 64), NomicEmbedder(kept, 64)
    assert before.fingerprint == after.fingerprint
    assert before.embed_query(TEXT) @ after.embed_query(TEXT) > 0.9999
    assert (kept / "model.safetensors").stat().st_size < 0.55 * (small_folder / "model.safetensors").stat().st_size
    assert {value.dtype for value in mx.load(str(kept / "model.safetensors")).values()} == {mx.float16}
    assert made.files["model.safetensors"] == sha256_of(kept / "model.safetensors")
    assert made.source["model.safetensors"] == sha256_of(small_folder / "model.safetensors")


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_half_precision_already(small_folder, kept, kind):
    """Weights of 16 bits are kept as float16."""
    file = small_folder / "model.safetensors"
    weights = {name: value.astype(getattr(mx, kind)) for name, value in mx.load(str(file)).items()}
    mx.save_safetensors(str(file), weights)

    converted(small_folder, kept)

    after = mx.load(str(kept / "model.safetensors"))
    assert after.keys() == weights.keys()
    assert all(np.array_equal(after[name], np.asarray(weights[name].astype(mx.float16))) for name in weights)


def test_several_files(small_folder, kept):
    """Weights in several files become one."""
    file = small_folder / "model.safetensors"
    weights = list(mx.load(str(file)).items())
    expected = NomicEmbedder(small_folder, 64).embed_query(TEXT)
    mx.save_safetensors(str(small_folder / "model-1.safetensors"), dict(weights[:5]))
    mx.save_safetensors(str(small_folder / "model-2.safetensors"), dict(weights[5:]))
    file.unlink()

    converted(small_folder, kept)

    assert [one.name for one in kept.glob("*.safetensors")] == ["model.safetensors"]
    assert NomicEmbedder(kept, 64).embed_query(TEXT) @ expected > 0.9999


def test_other_weights_have_another_fingerprint(small_folder, kept):
    """Weights that took the place of the kept ones are not taken for those of the manifest."""
    converted(small_folder, kept)
    before = cache.identity(kept)
    weights = {name: value + 1 for name, value in mx.load(str(kept / "model.safetensors")).items()}
    mx.eval(weights)
    mx.save_safetensors(str(kept / "model.safetensors"), weights)

    assert before == cache.identity(small_folder) != cache.identity(kept)


def test_of_what_was_kept(small_folder, kept, tmp_path):
    """What is kept can be taken to another machine and converted again; it stays the same model."""
    converted(small_folder, kept)
    again = tmp_path / "again"
    again.mkdir()

    assert converted(kept, again).identity == cache.identity(small_folder)


def test_missing_tensors_are_named(small_folder, kept):
    """A source that lacks tensors is refused, with their names."""
    file = small_folder / "model.safetensors"
    weights = {name: value for name, value in mx.load(str(file)).items() if "layers.1.mlp" not in name}
    mx.eval(weights)
    mx.save_safetensors(str(file), weights)

    with pytest.raises(EmbedderUnavailable, match=r"missing: layers\.1\.mlp"):
        converted(small_folder, kept)


def test_values_too_large(small_folder, kept):
    """Values that half precision cannot hold are refused, with the tensor's name."""
    file = small_folder / "model.safetensors"
    weights = dict(mx.load(str(file)).items())
    name = next(name for name in weights if "norm" in name.lower())
    weights[name] = mx.full(weights[name].shape, 70_000.0)
    mx.save_safetensors(str(file), weights)

    with pytest.raises(EmbedderUnavailable, match=f"{name} has values above 65,504"):
        converted(small_folder, kept)


def test_quantised_weights_stay(small_folder, kept):
    """A quantised model is kept as it is."""
    file = small_folder / "model.safetensors"
    weights = {}
    for name, value in mx.load(str(file)).items():
        if value.ndim == 2 and "_proj" in name:
            layer = name.removesuffix(".weight")
            weights[name], weights[f"{layer}.scales"], weights[f"{layer}.biases"] = mx.quantize(value, 32, 8)
        else:
            weights[name] = value
    mx.save_safetensors(str(file), weights)
    config = json.loads((small_folder / "config.json").read_text()) | {"quantization": {"group_size": 32, "bits": 8}}
    (small_folder / "config.json").write_text(json.dumps(config))

    made = converted(small_folder, kept)

    assert made.recipe == "as published"
    assert file.read_bytes() == (kept / "model.safetensors").read_bytes()


def test_manifest_that_cannot_be_read(small_folder, kept):
    """A broken manifest is none: the weights speak for themselves."""
    converted(small_folder, kept)
    (kept / "manifest.json").write_text("{")

    assert cache.read(kept) is None
    assert cache.identity(kept) == cache.weights_identity(kept)
    shutil.rmtree(kept)
    assert cache.identity(kept) == ""
