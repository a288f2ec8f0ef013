"""nomic and minilm: held against transformers and plain NumPy; files that are not theirs are refused and named."""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from numpy_bert import vector
from small_models import NEAR, PREFIXES, SmallModel, mx
from tokenizers import Tokenizer

from jupyter_memory import EmbedderError, InputError
from jupyter_memory.embedders import NOMIC, computing, open_embedder

TEXTS = [
    "We scaled the electricity prices to zero mean and unit variance before fitting the forecast.",
    "The λ of the Poisson model is 3.2 orders an hour; at night it falls to 0.4.",
    "Sales in Zürich rose by four percent after the price cut, in Genève they fell.",
    "prices " * 30, "df.groupby('shop')['price'].transform('mean')", "", "ü",
]  # fmt: skip
TRANSFORMERS = {
    "emb_ln.": "embeddings.LayerNorm.", "encoder.layers.": "layers.", ".attn.out_proj.": ".self_attn.o_proj.",
    ".fc11.": ".up_proj.", ".fc12.": ".gate_proj.", ".fc2.": ".down_proj.",
    ".norm1.": ".post_attention_layernorm.", ".norm2.": ".post_mlp_layernorm.",
}  # fmt: skip


def refused(small):
    with pytest.raises(EmbedderError) as caught:
        small.open().embed_documents(TEXTS)
    return str(caught.value)


def test_as_transformers(small):
    """Vectors are the reference's: prefixes, pooling, norm, cut, length 1; odd text has some, and order counts."""
    embedder = small.open()
    assert np.abs(embedder.embed_documents(small.texts) - small.wanted[1:]).max() <= NEAR
    assert np.abs(embedder.embed_query(small.query) - small.wanted[0]).max() <= NEAR
    assert (embedder.name, embedder.threshold) == (small.kind, 0.3)
    found = small.open().embed_documents(["", "  ", "\ud83d half", "\x00\x01", "東京の売上", "🚚 Malmö"])
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    forward, backward = small.open().embed_documents(["prices mean zero", "zero mean prices"])
    assert np.abs(forward - backward).max() > 1e-3


@pytest.mark.parametrize("steep", [False, True], ids=["flat", "steep"])
def test_as_numpy(small, steep):
    """Whatever the lengths and the batch, and where one key takes all and gates are far out, it is plain arithmetic."""
    weights = small.weights
    if steep:
        wider = {".attn.Wqkv.": 3, ".query.": 3, ".key.": 3, ".fc12.": 20, ".intermediate.": 20}
        for name, times in ((name, times) for name in weights for part, times in wider.items() if part in name):
            weights[name] = weights[name] * times
        small.save(weights)
    # Texts of nearly one length share a padded batch.
    texts = [*TEXTS, *(f"{'zero mean ' * 20}{'prices ' * number}" for number in range(9)), "the prices fell " * 60]
    texts = [*texts, *("the mean price",) * 40]
    library = Tokenizer.from_file(str(small.folder / "tokenizer.json"))
    library.enable_truncation(256)
    heads = json.loads((small.folder / "config.json").read_text())["num_attention_heads"]
    prefix = PREFIXES[small.kind][1]

    found = small.open().embed_documents(texts)

    wanted = [vector(small.kind, weights, library.encode(prefix + text).ids, heads) for text in texts]
    assert np.abs(found - wanted).max() <= (30 if steep else 2) * NEAR


@pytest.mark.parametrize("compiler", [True, False], ids=["compiler", "no compiler"])
def test_with_or_without_a_compiler(small, tmp_path, compiler):
    """Both ways give the same numbers, and without a compiler nothing is compiled."""
    code = (
        "import sys, shutil, numpy as np\nfrom pathlib import Path\n"
        f"{'' if compiler else 'shutil.which = lambda name: None'}\n"
        "from jupyter_memory.embedders import open_embedder\n"
        f"print(open_embedder({small.name!r}, models=Path({str(small.models)!r})).embed_query(sys.argv[1]).tolist())"
    )
    command, options = [sys.executable, "-c", code, small.query], {"env": os.environ | {"TMPDIR": str(tmp_path)}}
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100, **options).stdout
    assert np.abs(json.loads(said) - small.wanted[0]).max() <= NEAR
    compiles = compiler and sys.platform == "linux" and shutil.which("g++") is not None
    assert any(tmp_path.rglob("*.so")) == compiles


def test_many_texts_of_all_lengths(small):
    """More texts than a block come out in order, each as alone; afterwards MLX keeps the weights alone."""
    embedder = small.open()
    texts = ["prices " * (row % 40) + str(row % 7) for row in range(1_030)]
    found = embedder.embed_documents(texts)
    some = [0, 39, 500, 1_029]
    assert np.abs(found[some] - embedder.embed_documents([texts[row] for row in some])).max() <= NEAR
    assert embedder.embed_documents([]).shape == (0, embedder.dimensions)
    embedder = small.open()
    embedder.embed_query("prices")
    before = mx.get_active_memory()
    embedder.embed_documents(["prices " * 400] * 40)
    assert mx.get_active_memory() - before < 1_000_000
    assert mx.get_cache_memory() < 1_000_000


@pytest.mark.parametrize(("kind", "most"), [("nomic", 2_048), ("minilm", 256)])
def test_of_a_long_text_the_beginning_counts(tmp_path, kind, most):
    """A text is read up to so many tokens, the marks of beginning and end and the prefix among them."""
    embedder = SmallModel(tmp_path, kind).open()
    library = Tokenizer.from_file(str(tmp_path / kind / "tokenizer.json"))
    long = "price " * (most - len(library.encode(PREFIXES[kind][1]).ids))
    first, second, third, shorter = embedder.embed_documents([long, long + "zero", "zero " + long, long[:-6]])
    assert np.abs(first - second).max() <= NEAR
    assert min(np.abs(first - third).max(), np.abs(first - shorter).max()) > 1e-6


@pytest.mark.parametrize("dimensions", NOMIC.dimensions)
def test_matryoshka(wide, dimensions):
    whole = open_embedder("nomic-768", models=wide).embed_documents(TEXTS).astype(np.float64)[:, :dimensions]
    found = open_embedder(f"nomic-{dimensions}", models=wide).embed_documents(TEXTS)
    assert (found.shape, found.dtype) == ((len(TEXTS), dimensions), np.float32)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert np.allclose(found, whole / np.linalg.norm(whole, axis=1, keepdims=True), atol=1e-6)


@pytest.mark.parametrize("dimensions", [1, 100, 384, 1024])
def test_other_sizes(nomic, dimensions):
    with pytest.raises(InputError, match="64 dimensions cannot be cut to 128"):
        open_embedder("nomic-128", models=nomic.models).embed_query("prices")
    # Before its weights are read.
    nomic.file.write_bytes(b"not looked at")
    with pytest.raises(InputError, match=f"768, 512, 256, 128, 64 dimensions, not {dimensions}"):
        open_embedder("nomic", dimensions=dimensions, models=nomic.models)


def test_fingerprint(small, tmp_path):
    same = SmallModel(tmp_path / "same", small.kind)
    other = SmallModel(tmp_path / "other", small.kind)
    other.file.write_bytes(other.file.read_bytes()[:-4] + b"1234")
    broken = SmallModel(tmp_path / "broken", small.kind)
    broken.file.write_bytes(b"no weights")
    assert same.open().fingerprint == small.open().fingerprint
    prints = {one.open().fingerprint for one in (small, other, broken)}
    if small.kind == "nomic":
        prints |= {open_embedder(f"nomic-{size}", models=small.models).fingerprint for size in NOMIC.dimensions}
    assert len(prints) == (3 if small.kind == "minilm" else 7)


def as_transformers_names_them(weights):
    renamed = {}
    for name, value in weights.items():
        for theirs, other in TRANSFORMERS.items():
            name = name.replace(theirs, other)
        if ".attn.Wqkv." in name:
            for part, one in zip("qkv", mx.split(value, 3), strict=True):
                renamed[name.replace(".attn.Wqkv.", f".self_attn.{part}_proj.")] = one
        else:
            renamed[name] = value
    return renamed


@pytest.mark.parametrize("prefix", ["", "nomic_bert.", "bert."], ids=["plain", "nomic_bert", "bert"])
def test_names_of_transformers(small, prefix):
    weights = small.weights if small.kind == "minilm" else as_transformers_names_them(small.weights)
    prefix = prefix.removeprefix("nomic_") if small.kind == "minilm" else prefix
    renamed = {prefix + name: value for name, value in weights.items()}
    if prefix:
        renamed |= {"cls.predictions.bias": mx.zeros((256,)), f"{prefix}embeddings.position_ids": mx.zeros((1, 9))}
    small.save(renamed)
    assert small.difference <= NEAR


@pytest.mark.parametrize("bits", [8, 4], ids=["8 bit", "4 bit"])
@pytest.mark.parametrize("names", [dict, as_transformers_names_them], ids=["the hub's names", "transformers' names"])
def test_quantised(nomic, bits, names):
    how = {"group_size": 32, "bits": bits}
    plain, quantised = names(nomic.weights), {}
    for name, value in plain.items():
        if value.ndim == 2 and "token_type" not in name:
            layer = name.removesuffix(".weight")
            parts = mx.quantize(value, **how)
            quantised |= dict(zip((name, f"{layer}.scales", f"{layer}.biases"), parts, strict=True))
            plain[name] = mx.dequantize(*parts, **how)
        else:
            quantised[name] = value
    nomic.save(plain)
    wanted = nomic.open().embed_documents(TEXTS)
    assert np.abs(wanted[:1] - nomic.wanted[1]).max() > 1e-3

    nomic.save(quantised)
    computing.release()
    assert "quantised, and config.json does not say how" in refused(nomic)
    nomic.change("config.json", quantization=how)
    assert np.allclose(nomic.open().embed_documents(TEXTS), wanted, atol=1e-4)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"encoder.layers.1.mlp.fc2.weight": None, "encoder.layers.2.norm1.bias": mx.zeros((64,))},
         "missing: layers.1.mlp.down.weight; surplus: layers.2.attention_norm.bias"),
        ({"emb_ln.weight": mx.zeros((32,))}, "norm.weight has the shape (32,), expected (64,)"),
        ({"encoder.layers.0.mlp.fc12.weight": mx.full((96, 64), float("nan"))},
         "damaged: layers.0.mlp.gate.weight has values that are not"),
    ],
    ids=["missing and surplus", "another size", "no numbers"],
)  # fmt: skip
def test_wrong_tensors(nomic, change, said):
    nomic.save({name: value for name, value in (nomic.weights | change).items() if value is not None})
    assert said in refused(nomic)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        # A file that ends early is refused with its sizes and the tensors that were in the lost part.
        (lambda whole: whole[: len(whole) // 2], r"cut short: .* of {size} bytes\. Missing .*weight"),
        (lambda whole: whole[: int(0.99 * len(whole))], r"cut short: .* of {size} bytes\. Missing .*weight"),
        *[(lambda whole, other=other: other, "not a safetensors file|cut short")
          for other in (b"", b"<html>not found</html>", b"\xff" * 100, b"\x04\0\0\0\0\0\0\0null")],
    ],
    ids=["half", "99 %", "empty", "a page", "bytes", "null"],
)  # fmt: skip
def test_not_weights(small, content, said):
    whole = small.file.read_bytes()
    small.file.write_bytes(content(whole))
    assert re.search(said.format(size=f"{len(whole):,}"), refused(small))


@pytest.mark.parametrize("power", [0, -30, 30], ids=["zero", "underflow", "overflow"])
def test_no_direction(nomic, power):
    """Means of which nobody can tell the direction are refused, with a word on the cause."""
    weights = nomic.weights
    last = "encoder.layers.1.norm2"
    scale = 10.0**power if power else 0.0
    nomic.save(weights | {f"{last}.{one}": weights[f"{last}.{one}"] * scale for one in ("weight", "bias")})
    assert "no direction" in refused(nomic)


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("nomic", {"model_type": "bert"}, "of the type 'bert'"),
        ("nomic", {"prenorm": True}, "prenorm is True"),
        ("nomic", {"activation_function": "gelu"}, "activation_function is 'gelu'"),
        ("nomic", {"rotary_emb_fraction": 0.5}, "rotary_emb_fraction is 0.5"),
        ("nomic", {"num_attention_heads": 5}, "cannot be shared by 5 heads"),
        ("nomic", {"num_hidden_layers": 3}, "missing: layers.2"),
        ("minilm", {"model_type": "roberta"}, "is of the type 'roberta', not bert"),
        ("minilm", {"hidden_act": "relu"}, "hidden_act is 'relu'"),
        ("minilm", {"position_embedding_type": "relative_key"}, "position_embedding_type is 'relative_key'"),
        ("minilm", {"num_attention_heads": 5}, "48 values cannot be shared by 5 heads"),
        ("minilm", {"num_hidden_layers": 3}, "missing: layers.2."),
        ("minilm", {"intermediate_size": 80}, "has the shape"),
        ("minilm", {"vocab_size": 187}, "knows 188 tokens, the weights 187"),
    ],
)
def test_another_architecture(tmp_path, kind, change, said):
    """A configuration of another architecture, or one that does not fit the weights, is refused with what differs."""
    small, words = SmallModel(tmp_path, kind), "embeddings.word_embeddings.weight"
    if "vocab_size" in change:
        small.save(small.weights | {words: small.weights[words][:187]})
    small.change("config.json", **change)
    assert said in refused(small)


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("normalizer", "lowercase", False), ("normalizer", "strip_accents", False), ("normalizer", "type", "NFC"),
        ("pre_tokenizer", "type", "Whitespace"), ("model", "type", "BPE"), ("model", "continuing_subword_prefix", ""),
        ("model", "vocab", {"[CLS]": 0, "[SEP]": 1}), ("model", "vocab", {"[CLS]": 0, "[SEP]": 1, "[UNK]": 3}),
        ("model", "vocab", ["[CLS]", "[SEP]", "[UNK]"]),
    ],
)  # fmt: skip
def test_another_tokenizer(small, part, key, value):
    """A tokenizer that treats text in another way is refused: its ids would be others, without an error."""
    said = json.loads((small.folder / "tokenizer.json").read_text())
    small.change("tokenizer.json", **{part: said[part] | {key: value}})
    assert "is not the tokenizer of an uncased BERT" in refused(small)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("tokenizer.json", None, "The tokenizer is missing"),
        ("tokenizer.json", "{", "tokenizer.json cannot be read"),
        ("tokenizer.json", "[]", "is not the tokenizer of an uncased BERT"),
        ("tokenizer.json", "{}", "is not the tokenizer of an uncased BERT"),
        ("config.json", None, "config.json is missing"),
        ("config.json", "{", "config.json cannot be read"),
        # Without weights, opening it says how to fetch it.
        ("model.safetensors", None, "%memory model use {kind}"),
    ],
)
def test_missing_and_broken_files(small, name, content, said):
    (small.folder / name).unlink()
    if content is not None:
        (small.folder / name).write_text(content)
    assert said.format(kind=small.kind) in refused(small)
