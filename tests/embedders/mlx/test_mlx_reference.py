"""Models of mlx-embeddings, held against sentence-transformers on torch: run by `make reference`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from jupyter_memory import EmbedderError, EmbedderUnavailable
from jupyter_memory.embedders.mlx.embedder import MlxEmbedder, open_mlx
from jupyter_memory.embedders.mlx.folder import open_mlx_folder
from jupyter_memory.embedders.nomic.folder import load_nomic_bert
from jupyter_memory.embedders.runtime.mlx import mx

why = "needs the extras `reference` and `models` (sentence-transformers on torch, mlx-embeddings)"
torch = pytest.importorskip("torch", reason=why)
transformers = pytest.importorskip("transformers", minversion="5", reason=why)
utils = pytest.importorskip("mlx_embeddings.utils", reason=why)
st = pytest.importorskip("sentence_transformers", reason=why)

from sentence_transformers import models  # noqa: E402

# torch reads its weights first.
pytestmark = [pytest.mark.reference, pytest.mark.timeout(600)]

TEXTS = [
    "We scaled the electricity prices to zero mean and unit variance before fitting the forecast.",
    "The λ of the Poisson model is 3.2 orders an hour; at night it falls to 0.4.",
    "Sales in Zürich rose by four percent after the price cut, in Genève they fell. " * 9,
    "df.groupby('shop')['price'].transform('mean')",
    "ü",
    "",
]
SIZES = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "vocab_size": 256,
}
CAUSAL = {**SIZES, "num_key_value_heads": 2, "head_dim": 16}
PROMPTS = {"query": "Instruct: find the cell\nQuery: ", "document": "passage: "}


@pytest.fixture(autouse=True)
def nothing_kept():
    """Let every test read its folder anew."""
    yield
    open_mlx_folder.cache_clear()


def architecture(kind):
    """Return a small model with seeded weights."""
    torch.manual_seed(11)
    torch.set_num_threads(1)
    if kind == "bert":
        return transformers.BertModel(transformers.BertConfig(**SIZES))
    if kind == "xlm-roberta":
        return transformers.XLMRobertaModel(transformers.XLMRobertaConfig(**SIZES, pad_token_id=0, type_vocab_size=1))
    if kind == "modernbert":
        special = dict.fromkeys(("pad_token_id", "bos_token_id", "cls_token_id"), 0) | {
            "eos_token_id": 3,
            "sep_token_id": 3,
        }
        return transformers.ModernBertModel(transformers.ModernBertConfig(**SIZES, **special, classifier_pooling="cls"))
    if kind == "qwen3":
        return transformers.Qwen3Model(transformers.Qwen3Config(**CAUSAL, pad_token_id=0))
    config = transformers.Gemma3TextConfig(
        **CAUSAL, pad_token_id=0, use_bidirectional_attention=True, sliding_window=512
    )
    return transformers.Gemma3TextModel(config)


def saved(folder, kind, pooling, dense=(), prompts=None):
    """Save a model with its tokenizer and sentence-transformers' files, and return sentence-transformers' own."""
    bare = folder / "bare"
    architecture(kind).eval().save_pretrained(bare)
    small = Path(__file__).parents[1] / "nomic_small" / "tokenizer.json"
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    transformers.PreTrainedTokenizerFast(tokenizer_file=str(small), model_max_length=200, **marks).save_pretrained(bare)
    layers = [models.Dense(*size, bias=bias, activation_function=act) for size, bias, act in dense]
    transformer = models.Transformer(str(bare), max_seq_length=200)
    parts = [transformer, models.Pooling(64, pooling_mode=pooling), *layers, models.Normalize()]
    model = st.SentenceTransformer(modules=parts, prompts=prompts, device="cpu").eval()
    model.save_pretrained(str(folder / "model"))
    return model


TANH, SAME = torch.nn.Tanh(), torch.nn.Identity()


@pytest.mark.parametrize(
    ("kind", "pooling", "dense"),
    [
        ("bert", "mean", []),
        ("bert", "cls", [((64, 48), True, TANH)]),
        ("bert", ("max", "mean"), []),
        ("bert", "weightedmean", []),
        ("xlm-roberta", "mean", []),
        ("modernbert", "mean", []),
        ("modernbert", "cls", []),
        ("qwen3", "lasttoken", []),
        ("gemma3_text", "mean", [((64, 256), False, SAME), ((256, 64), False, SAME)]),
    ],
    ids=lambda given: None if isinstance(given, list) else "+".join(given) if isinstance(given, tuple) else given,
)
def test_architectures(tmp_path, kind, pooling, dense):
    """Each architecture gives sentence-transformers' vectors: its pooling, its layers, its prefixes."""
    reference = saved(tmp_path, kind, pooling, dense, PROMPTS)
    embedder = open_mlx(f"mlx:{tmp_path / 'model'}")

    found = embedder.embed_documents(TEXTS)
    asked = embedder.embed_query(TEXTS[1])

    wanted = reference.encode(TEXTS, prompt=PROMPTS["document"], batch_size=1)
    assert found.shape == wanted.shape == (len(TEXTS), embedder.dimensions)
    assert np.sum(found * wanted, axis=1).min() >= 0.9999
    assert asked @ reference.encode(TEXTS[1], prompt=PROMPTS["query"]) >= 0.9999
    # Of random weights little depends on the words; what does is far above the error.
    assert np.abs(asked - found[1]).max() > 1e-4


def test_cut(tmp_path):
    """A model whose files name smaller sizes is cut to them and has length 1 again."""
    reference = saved(tmp_path, "bert", "mean")
    file = tmp_path / "model" / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"matryoshka_dimensions": [64, 32]}))

    found = open_mlx(f"mlx:{tmp_path / 'model'}", 32).embed_documents(TEXTS)

    wanted = reference.encode(TEXTS)[:, :32]
    assert np.allclose(found, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-4)


def test_alone_or_together(tmp_path):
    """A text has one vector: alone, in a batch, in another order."""
    saved(tmp_path, "qwen3", "lasttoken")
    embedder = open_mlx(f"mlx:{tmp_path / 'model'}")
    together = embedder.embed_documents(TEXTS)

    alone = np.stack([embedder.embed_documents([text])[0] for text in TEXTS])
    backwards = embedder.embed_documents(TEXTS[::-1])[::-1]

    assert np.sum(together * alone, axis=1).min() >= 0.99999
    assert np.sum(together * backwards, axis=1).min() >= 0.99999


def test_nomic_plugs_in(small_folder, expected):
    """Our nomic-bert is loaded by mlx-embeddings' own loader, and gives the vectors that it gives with ours."""
    from jupyter_memory.embedders.mlx.architectures import model_classes

    model = utils.load_model(small_folder, get_model_classes=model_classes)
    ids = mx.array([expected[1]["ids"]])

    found = model(ids, attention_mask=mx.ones(ids.shape))

    assert np.allclose(np.asarray(found.last_hidden_state), np.asarray(load_nomic_bert(small_folder)(ids)), atol=1e-5)
    assert np.linalg.norm(np.asarray(found.text_embeds)) == pytest.approx(1, abs=1e-5)


def test_nomic_by_its_folder(small_folder, expected):
    """A folder with nomic-bert opens as ``mlx:`` too."""
    found = open_mlx(f"mlx:{small_folder}").embed_documents([expected[1]["text"]])[0]

    wanted = np.mean(expected[1]["tokens"], axis=0)
    assert found @ wanted / np.linalg.norm(wanted) >= 0.9999


def test_another_type(tmp_path):
    """A type that mlx-embeddings does not know is named, and so are those that it runs."""
    (tmp_path / "config.json").write_text('{"model_type": "mpnet", "hidden_size": 64}')

    with pytest.raises(EmbedderUnavailable, match="type 'mpnet', and mlx-embeddings runs bert, gemma3_text"):
        open_mlx(f"mlx:{tmp_path}").embed_query("prices")


def test_damaged(tmp_path):
    """Weights that are cut short, missing in part or not numbers are refused, each in words of its own."""
    saved(tmp_path, "bert", "mean")
    file = tmp_path / "model" / "model.safetensors"
    whole = file.read_bytes()
    weights = mx.load(str(file))
    mx.eval(list(weights.values()))

    def trouble():
        open_mlx_folder.cache_clear()
        with pytest.raises(EmbedderError) as caught:
            MlxEmbedder("mlx:x", tmp_path / "model").embed_query("prices")
        return str(caught.value)

    file.write_bytes(whole[:-1000])
    assert "cut short" in trouble()
    name = "encoder.layer.0.output.dense.weight"
    mx.save_safetensors(str(file), {key: value for key, value in weights.items() if key != name})
    assert "cannot load the model" in trouble()
    mx.save_safetensors(str(file), weights | {name: weights[name] * float("nan")})
    assert "no direction" in trouble()
    file.unlink()
    assert "No safetensors found" in trouble()
