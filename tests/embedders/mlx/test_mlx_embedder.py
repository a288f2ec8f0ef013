"""Models by folder or repository: names, sizes, fingerprints; computing is held in test_mlx_reference.py."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from jupyter_memory import EmbedderUnavailable, InputError, UnknownEmbedder
from jupyter_memory.embedders.mlx import embedder as mlx_models
from jupyter_memory.embedders.mlx.embedder import MlxEmbedder, open_mlx


@pytest.fixture
def folder(small_folder):
    """A folder with a model that says which sizes it may be cut to."""
    change(small_folder, "config.json", hidden_size=64, matryoshka_dimensions=[64, 32])
    return small_folder


@pytest.fixture
def extra(monkeypatch):
    """Open models as if mlx-embeddings were installed; nothing here computes."""
    monkeypatch.setattr(mlx_models, "_check_extra", lambda name: None)


def change(folder, name, **values):
    file = folder / name
    known = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(known | values))


def test_without_the_extra():
    """Without mlx-embeddings the error names what to install, and nothing of it is imported."""
    code = (
        "import sys\n"
        "sys.modules['mlx_embeddings'] = None\n"
        "from jupyter_memory.embedders.mlx.embedder import open_mlx\n"
        "from jupyter_memory.errors import EmbedderUnavailable\n"
        "try:\n    open_mlx('mlx:owner/model')\n"
        "except EmbedderUnavailable as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=100)

    assert "pip install 'jupyter-memory[models]'" in done.stdout


def test_folder(extra, folder, monkeypatch):
    """A folder opens with its whole path as the name, by which a store finds it again."""
    monkeypatch.chdir(folder.parent)

    embedder = open_mlx(f"mlx:{folder.name}")

    assert (embedder.name, embedder.dimensions, embedder.threshold) == (f"mlx:{folder.resolve()}", 64, 0.0)
    assert open_mlx(embedder.name) == embedder


def test_repository_that_was_fetched(extra, folder, tmp_path, monkeypatch):
    """A repository is opened from the hub's cache, without a network."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    kept = tmp_path / "hub" / "models--owner--model"
    shutil.copytree(folder, kept / "snapshots" / "abc")
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("abc")

    embedder = open_mlx("mlx:owner/model", 32)

    assert (embedder.name, embedder.dimensions) == ("mlx:owner/model", 32)
    assert embedder.path == kept / "snapshots" / "abc"


@pytest.mark.parametrize("name", ["owner/other", "no such folder/at all/here"])
def test_not_here(extra, tmp_path, monkeypatch, name):
    """What is neither a folder nor in the cache is not fetched: the error says how a person does it."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))

    with pytest.raises(EmbedderUnavailable, match="is not on this machine"):
        open_mlx(f"mlx:{name}")


def test_no_name(extra):
    """The prefix alone names nothing."""
    with pytest.raises(UnknownEmbedder, match="Say which model"):
        open_mlx("mlx: ")


def test_sizes(folder):
    """Only sizes that the files name are cut; a model that names none keeps its own."""
    assert MlxEmbedder("mlx:x", folder, 32).dimensions == 32
    with pytest.raises(InputError, match="has 64, 32 dimensions, not 48"):
        MlxEmbedder("mlx:x", folder, 48)

    change(folder, "config.json", matryoshka_dimensions=None)
    with pytest.raises(InputError, match="has 64 dimensions, not 32"):
        MlxEmbedder("mlx:x", folder, 32)

    change(folder, "config.json", is_matryoshka=True)
    assert MlxEmbedder("mlx:x", folder, 48).dimensions == 48
    with pytest.raises(InputError, match="has 64 or fewer dimensions, not 65"):
        MlxEmbedder("mlx:x", folder, 65)


def test_fingerprint(folder):
    """Weights, sizes and every file that changes what a text becomes are told apart; a note beside them is not."""

    def print_of(dimensions=64):
        return MlxEmbedder("mlx:x", folder, dimensions).fingerprint

    seen = [print_of(), print_of(32)]
    (folder / "README.md").write_text("a note")
    (folder / "manifest.json").write_text("{}")
    assert print_of() == seen[0]
    change(folder, "config_sentence_transformers.json", prompts={"query": "query: "})
    seen.append(print_of())
    change(folder, "tokenizer.json", truncation=None, version="1.1")
    seen.append(print_of())
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-8] + b"12345678")
    seen.append(print_of())

    assert len(set(seen)) == len(seen)


def test_no_weights(folder):
    """A folder without weights is refused before anything is loaded."""
    (folder / "model.safetensors").unlink()

    with pytest.raises(EmbedderUnavailable, match=r"model\.safetensors is missing"):
        _ = MlxEmbedder("mlx:x", folder).fingerprint
