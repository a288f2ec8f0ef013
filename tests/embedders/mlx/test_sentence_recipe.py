"""What a model's sentence-transformers files say, read without the model."""

from __future__ import annotations

import json

import pytest

from jupyter_memory import EmbedderUnavailable
from jupyter_memory.embedders.mlx.sentence_recipe import read_recipe

POOLING = "sentence_transformers.models.Pooling"


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


def module(name, path=""):
    return {"type": f"sentence_transformers.models.{name}", "path": path}


WHOLE = [module("Transformer"), module("Pooling", "1_Pooling"), module("Dense", "2_Dense"), module("Normalize", "3")]


def test_whole(folder):
    """Pooling, layers, prefixes, length and sizes come from their files."""
    found = read_recipe(
        folder(
            WHOLE,
            **{
                "1_Pooling__config.json": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
                "2_Dense__config.json": {"in_features": 128, "out_features": 48},
                "config_sentence_transformers.json": {"prompts": {"query": "query: ", "passage": "passage: "}},
                "sentence_bert_config.json": {"max_seq_length": 128, "do_lower_case": True},
            },
        )
    )

    assert (found.pooling, found.dense, found.width) == (("cls", "mean"), ("2_Dense",), 48)
    assert (found.query_prefix, found.document_prefix) == ("query: ", "passage: ")
    assert (found.max_tokens, found.lower, found.sizes) == (128, True, None)


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        ({"pooling_mode_mean_tokens": True}, ("mean",)),
        ({"pooling_mode_lasttoken": True, "pooling_mode_mean_tokens": False}, ("last",)),
        ({"pooling_mode": "lasttoken"}, ("last",)),
        ({"pooling_mode": ["cls", "weightedmean"]}, ("cls", "weighted")),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, ("mean_sqrt",)),
    ],
)
def test_pooling(folder, config, pooling):
    """Both ways in which sentence-transformers has written the pooling are read."""
    assert read_recipe(folder(WHOLE[:2], **{"1_Pooling__config.json": config})).pooling == pooling


@pytest.mark.parametrize(("kind", "pooling"), [("bert", "mean"), ("xlm-roberta", "mean"), ("qwen3", "last")])
def test_without_modules(folder, kind, pooling):
    """A model without these files is pooled as its architecture usually is, without prefixes."""
    where = folder(**{"config.json": {"model_type": kind, "hidden_size": 64}})
    (where / "modules.json").unlink()

    found = read_recipe(where)

    assert found.pooling == (pooling,)
    assert (found.query_prefix, found.document_prefix, found.max_tokens) == ("", "", 2048)


@pytest.mark.parametrize(
    ("said", "query", "document"),
    [
        ({}, "", ""),
        ({"prompts": {"query": "q: "}}, "q: ", ""),
        ({"prompts": {"query": "q: ", "document": "d: ", "passage": "p: "}}, "q: ", "d: "),
        ({"prompts": {"retrieval": "r: "}, "default_prompt_name": "retrieval"}, "r: ", "r: "),
        ({"prompts": {"query": "q: ", "document": None}}, "q: ", ""),
    ],
)
def test_prefixes(folder, said, query, document):
    """Questions take the prompt "query", documents the first of document, passage and corpus, else the default."""
    found = read_recipe(folder(**{"config_sentence_transformers.json": said}))

    assert (found.query_prefix, found.document_prefix) == (query, document)


def test_length_of_the_tokenizer(folder):
    """Where only the tokenizer says how long a text may be, it is believed; its word for "any length" is none."""
    assert read_recipe(folder(**{"tokenizer_config.json": {"model_max_length": 200}})).max_tokens == 200
    assert read_recipe(folder(**{"tokenizer_config.json": {"model_max_length": 10**30}})).max_tokens == 512


def test_positions_of_roberta(folder):
    """RoBERTa counts positions from behind the padding's, so two of them are never a token's."""
    config = {"model_type": "xlm-roberta", "hidden_size": 64, "max_position_embeddings": 514, "pad_token_id": 1}

    assert read_recipe(folder(**{"config.json": config})).max_tokens == 512


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
    """What is broken or not done here is refused, and named."""
    with pytest.raises(EmbedderUnavailable, match=said):
        read_recipe(
            folder(**({"1_Pooling__config.json": {"pooling_mode": "mean"}} | files if "CNN" in said else files))
        )
