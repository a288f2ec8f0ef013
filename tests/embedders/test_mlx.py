"""Models by folder or repository: names, sizes, fingerprints, and what sentence-transformers' files say of them.

What mlx-embeddings computes is held in test_reference.py.
"""

import json
import shutil
import sys

import numpy as np
import pytest

from jupyter_memory import EmbedderUnavailable, InputError, UnknownEmbedder
from jupyter_memory.embedders import open_embedder


@pytest.fixture(autouse=True)
def extra(tmp_path_factory, monkeypatch):
    """Open models as if mlx-embeddings were installed; nothing here computes with it."""
    site = tmp_path_factory.mktemp("site")
    (site / "mlx_embeddings").mkdir()
    (site / "mlx_embeddings" / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(site)


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlx_embeddings", None)
    with pytest.raises(EmbedderUnavailable, match=r"pip install 'jupyter-memory\[models\]'"):
        open_embedder("mlx:owner/model")


def change(folder, name, **values):
    file = folder / name
    known = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(known | values))


@pytest.fixture
def small(nomic):
    change(nomic.folder, "config.json", hidden_size=64, matryoshka_dimensions=[64, 32])
    return nomic.folder


def opened(folder, dimensions=None):
    return open_embedder(f"mlx:{folder}", dimensions=dimensions)


def test_folder(small, monkeypatch):
    monkeypatch.chdir(small.parent)
    embedder = open_embedder(f"mlx:{small.name}")
    assert (embedder.name, embedder.dimensions, embedder.threshold) == (f"mlx:{small.resolve()}", 64, 0.0)
    assert open_embedder(embedder.name) == embedder


def test_nomic_by_its_folder(nomic):
    one = nomic.expected[1]
    found = opened(nomic.folder).embed_documents([one["text"]])[0]
    wanted = np.mean(one["tokens"], axis=0)
    assert found @ wanted / np.linalg.norm(wanted) >= 0.9999


def test_repository_that_was_fetched(small, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    kept = tmp_path / "hub" / "models--owner--model"
    shutil.copytree(small, kept / "snapshots" / "abc")
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("abc")
    embedder = open_embedder("mlx:owner/model", dimensions=32)
    assert (embedder.name, embedder.dimensions) == ("mlx:owner/model", 32)
    assert embedder.path == kept / "snapshots" / "abc"


@pytest.mark.parametrize("name", ["owner/other", "no such folder/at all/here"])
def test_not_here(tmp_path, monkeypatch, name):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(EmbedderUnavailable, match="is not on this machine"):
        open_embedder(f"mlx:{name}")
    with pytest.raises(UnknownEmbedder, match="Name a model"):
        open_embedder("mlx: ")


def test_sizes(small):
    assert opened(small, 32).dimensions == 32
    with pytest.raises(InputError, match="has 64, 32 dimensions, not 48"):
        opened(small, 48)
    change(small, "config.json", matryoshka_dimensions=None)
    with pytest.raises(InputError, match="has 64 dimensions, not 32"):
        opened(small, 32)
    change(small, "config.json", is_matryoshka=True)
    assert opened(small, 48).dimensions == 48
    with pytest.raises(InputError, match="has 64 or fewer dimensions, not 65"):
        opened(small, 65)


def test_fingerprint(small):
    """Weights, sizes and every file that changes what a text becomes are told apart; a note beside them is not."""

    def print_of(dimensions=64):
        return opened(small, dimensions).fingerprint

    seen = [print_of(), print_of(32)]
    (small / "README.md").write_text("a note")
    (small / "manifest.json").write_text("{}")
    assert print_of() == seen[0]
    change(small, "config_sentence_transformers.json", prompts={"query": "query: "})
    seen.append(print_of())
    change(small, "tokenizer.json", truncation=None, version="1.1")
    seen.append(print_of())
    (small / "model.safetensors").write_bytes((small / "model.safetensors").read_bytes()[:-8] + b"12345678")
    seen.append(print_of())

    assert len(set(seen)) == len(seen)
    # A folder without weights is refused before anything is loaded.
    (small / "model.safetensors").unlink()
    with pytest.raises(EmbedderUnavailable, match=r"model\.safetensors is missing"):
        print_of()


@pytest.fixture
def folder(tmp_path):
    """Write the files of a model: ``folder(modules=[...], **{"file.json": {...}})``."""

    def write(modules=(), **files):
        config = {"model_type": "bert", "hidden_size": 64, "max_position_embeddings": 512}
        content = {"config.json": config, "modules.json": list(modules)} | files
        for name, value in content.items():
            file = tmp_path / name.replace("__", "/")
            file.parent.mkdir(exist_ok=True)
            file.write_text(value if isinstance(value, str) else json.dumps(value))
        return tmp_path

    return write


def recipe(folder):
    return open_embedder(f"mlx:{folder}").recipe


def module(name, path=""):
    return {"type": f"sentence_transformers.models.{name}", "path": path}


WHOLE = [module("Transformer"), module("Pooling", "1_Pooling"), module("Dense", "2_Dense"), module("Normalize", "3")]


@pytest.mark.parametrize(
    ("modules", "files", "found"),
    [
        # Pooling, layers, prefixes, length and sizes come from their files.
        (WHOLE, {
            "1_Pooling__config.json": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
            "2_Dense__config.json": {"in_features": 128, "out_features": 48},
            "config_sentence_transformers.json": {"prompts": {"query": "query: ", "passage": "passage: "}},
            "sentence_bert_config.json": {"max_seq_length": 128, "do_lower_case": True},
         }, {"pooling": ("cls", "mean"), "dense": ("2_Dense",), "width": 48, "query_prefix": "query: ",
             "document_prefix": "passage: ", "max_tokens": 128, "lower": True, "sizes": None}),
        # Both ways in which sentence-transformers has written the pooling are read.
        *[(WHOLE[:2], {"1_Pooling__config.json": config}, {"pooling": pooling}) for config, pooling in (
            ({"pooling_mode_mean_tokens": True}, ("mean",)), ({"pooling_mode": "lasttoken"}, ("last",)),
            ({"pooling_mode_lasttoken": True, "pooling_mode_mean_tokens": False}, ("last",)),
            ({"pooling_mode": ["cls", "weightedmean"]}, ("cls", "weighted")),
            ({"pooling_mode_mean_sqrt_len_tokens": True}, ("mean_sqrt",)))],
        # A model without these files is pooled as its architecture usually is, without prefixes.
        *[(None, {"config.json": {"model_type": kind, "hidden_size": 64}},
           {"pooling": (pooling,), "query_prefix": "", "document_prefix": "", "max_tokens": 2048})
          for kind, pooling in (("bert", "mean"), ("xlm-roberta", "mean"), ("qwen3", "last"))],
        # Questions take the prompt "query", documents the first of document, passage and corpus, else the default.
        *[((), {"config_sentence_transformers.json": said}, {"query_prefix": query, "document_prefix": document})
          for said, query, document in (
            ({}, "", ""), ({"prompts": {"query": "q: "}}, "q: ", ""),
            ({"prompts": {"query": "q: ", "document": "d: ", "passage": "p: "}}, "q: ", "d: "),
            ({"prompts": {"retrieval": "r: "}, "default_prompt_name": "retrieval"}, "r: ", "r: "),
            ({"prompts": {"query": "q: ", "document": None}}, "q: ", ""))],
        # Where only the tokenizer says how long a text may be, it is believed; its word for "any length" is none.
        ((), {"tokenizer_config.json": {"model_max_length": 200}}, {"max_tokens": 200}),
        ((), {"tokenizer_config.json": {"model_max_length": 10**30}}, {"max_tokens": 512}),
        # RoBERTa counts positions from behind the padding's, so two of them are never a token's.
        ((), {"config.json": {"model_type": "xlm-roberta", "hidden_size": 64, "max_position_embeddings": 514,
                              "pad_token_id": 1}}, {"max_tokens": 512}),
    ],
)  # fmt: skip
def test_recipe(folder, modules, files, found):
    where = folder(modules or (), **files)
    if modules is None:
        (where / "modules.json").unlink()
    made = recipe(where)
    assert {name: getattr(made, name) for name in found} == found


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"modules": [*WHOLE[:2], module("CNN", "2_CNN")]}, "asks for CNN"),
        ({"modules": [WHOLE[0], WHOLE[3], WHOLE[1]]}, "Pooling after Normalize"),
        ({"modules": WHOLE[:2], "1_Pooling__config.json": {"pooling_mode": "attention"}}, "its pooling is attention"),
        ({"modules": WHOLE[:2], "1_Pooling__config.json": {}}, "its pooling is not said"),
        (
            {"modules": WHOLE[:2], "1_Pooling__config.json": {"pooling_mode": "mean", "include_prompt": False}},
            "leaves out the prompt",
        ),
        ({"config.json": {"model_type": "bert"}}, "no hidden_size"),
        ({"config.json": "{"}, "config.json cannot be read"),
        ({"config.json": "[]"}, "config.json must contain a JSON object"),
        ({"modules.json": "{"}, "modules.json cannot be read"),
        ({"modules.json": {"a": 1}}, "is not a list of modules"),
        ({"modules": WHOLE[:2]}, "config.json is missing"),
    ],
)
def test_refused(folder, files, said):
    with pytest.raises(EmbedderUnavailable, match=said):
        recipe(folder(**({"1_Pooling__config.json": {"pooling_mode": "mean"}} | files if "CNN" in said else files)))
