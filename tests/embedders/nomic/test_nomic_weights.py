"""Files of a nomic-bert model: every naming and precision is read, everything else is named in the error."""

from __future__ import annotations

import json

import numpy as np
import pytest

from jupyter_memory import EmbedderUnavailable
from jupyter_memory.embedders.nomic.folder import load_nomic_bert
from jupyter_memory.embedders.runtime.mlx import mx, nn, on_cpu

TRANSFORMERS = {
    "emb_ln.": "embeddings.LayerNorm.",
    "encoder.layers.": "layers.",
    ".attn.out_proj.": ".self_attn.o_proj.",
    ".fc11.": ".up_proj.",
    ".fc12.": ".gate_proj.",
    ".fc2.": ".down_proj.",
    ".norm1.": ".post_attention_layernorm.",
    ".norm2.": ".post_mlp_layernorm.",
}


def weights_of(folder):
    return dict(mx.load(str(folder / "model.safetensors")))


def save(folder, weights, **config):
    # Written elsewhere first: the arrays may still be read from the file that is replaced.
    mx.eval(list(weights.values()))
    (folder / "model.safetensors").unlink()
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    if config:
        known = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(known | config))


def output(folder, expected):
    return np.asarray(load_nomic_bert(folder)(mx.array([expected[1]["ids"]])).astype(mx.float32))[0]


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
def test_names_of_transformers(small_folder, expected, prefix):
    """The names that transformers uses in memory give the same model, also inside a larger one with a head."""
    renamed = {prefix + name: value for name, value in as_transformers_names_them(weights_of(small_folder)).items()}
    if prefix:
        renamed["cls.predictions.bias"] = mx.zeros((256,))
    save(small_folder, renamed)

    assert np.allclose(output(small_folder, expected), expected[1]["tokens"], atol=1e-4)


def test_several_files(small_folder, expected):
    """Weights that are spread over several files are put together."""
    weights = weights_of(small_folder)
    mx.eval(list(weights.values()))
    (small_folder / "model.safetensors").unlink()
    for number, names in enumerate((list(weights)[:9], list(weights)[9:])):
        some = {name: weights[name] for name in names}
        mx.save_safetensors(str(small_folder / f"model-0000{number}-of-00002.safetensors"), some)

    assert np.allclose(output(small_folder, expected), expected[1]["tokens"], atol=1e-4)


@pytest.mark.parametrize(("dtype", "agree"), [(mx.float16, 0.99999), (mx.bfloat16, 0.999)], ids=["fp16", "bf16"])
def test_half_precision(small_folder, expected, dtype, agree):
    """Weights of half precision are read, and computed with in float32 on the CPU."""
    save(small_folder, {name: value.astype(dtype) for name, value in weights_of(small_folder).items()})

    found = output(small_folder, expected).ravel()
    wanted = np.ravel(expected[1]["tokens"])

    assert found @ wanted / np.linalg.norm(found) / np.linalg.norm(wanted) >= agree
    if on_cpu():
        assert load_nomic_bert(small_folder).words.weight.dtype == mx.float32


@pytest.mark.parametrize("bits", [8, 4], ids=["8 bit", "4 bit"])
@pytest.mark.parametrize("ours", [True, False], ids=["our names", "the hub's names"])
def test_quantised(small_folder, expected, bits, ours):
    """Weights that MLX has quantised compute what the same weights, written out again, compute."""
    how = {"group_size": 32, "bits": bits}
    plain = weights_of(small_folder)
    quantised = {}
    for name, value in plain.items():
        if value.ndim == 2 and "token_type" not in name:
            layer = name.removesuffix(".weight")
            parts = mx.quantize(value, **how)
            quantised |= dict(zip((name, f"{layer}.scales", f"{layer}.biases"), parts, strict=True))
            plain[name] = mx.dequantize(*parts, **how)
        else:
            quantised[name] = value
    if ours:
        model = load_nomic_bert(small_folder)
        nn.quantize(
            model, **how, class_predicate=lambda path, layer: path != "types" and hasattr(layer, "to_quantized")
        )
        quantised = dict(nn.utils.tree_flatten(model.parameters()))
    save(small_folder, plain)
    wanted = output(small_folder, expected)
    save(small_folder, quantised, quantization=how)

    assert np.allclose(output(small_folder, expected), wanted, atol=1e-4)
    assert not np.allclose(wanted, expected[1]["tokens"], atol=1e-3)


def test_quantised_without_saying_how(small_folder):
    """Quantised weights whose configuration lacks the bits are refused, and the error says what is missing."""
    model = load_nomic_bert(small_folder)
    nn.quantize(model, group_size=32, bits=4)
    save(small_folder, dict(nn.utils.tree_flatten(model.parameters())))

    with pytest.raises(EmbedderUnavailable, match=r"quantised, and config\.json does not say how"):
        load_nomic_bert(small_folder)


def test_missing_and_surplus(small_folder):
    """Missing and surplus tensors are named."""
    weights = weights_of(small_folder)
    del weights["encoder.layers.1.mlp.fc2.weight"]
    save(small_folder, weights | {"encoder.layers.2.norm1.bias": mx.zeros((64,))})

    with pytest.raises(
        EmbedderUnavailable, match=r"missing: layers\.1\.mlp\.down\.weight; surplus: layers\.2\.attention_norm\.bias"
    ):
        load_nomic_bert(small_folder)


def test_another_size(small_folder):
    """A tensor of another shape is named with both shapes."""
    save(small_folder, weights_of(small_folder) | {"emb_ln.weight": mx.zeros((32,))})

    with pytest.raises(EmbedderUnavailable, match=r"norm\.weight has the shape \(32,\), expected \(64,\)"):
        load_nomic_bert(small_folder)


@pytest.mark.parametrize("kept", [0.5, 0.99], ids=["half", "99 %"])
def test_cut_short(small_folder, kept):
    """A file that ends early is refused with its sizes and the tensors that were in the lost part."""
    file = small_folder / "model.safetensors"
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * kept)])

    with pytest.raises(EmbedderUnavailable, match=rf"cut short: .* of {len(whole):,} bytes\. Missing .*weight"):
        load_nomic_bert(small_folder)


@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"\xff" * 100, b"\x04\0\0\0\0\0\0\0null"])
def test_not_weights(small_folder, content):
    """A file that holds something else is called so."""
    (small_folder / "model.safetensors").write_bytes(content)

    with pytest.raises(EmbedderUnavailable, match=r"not a safetensors file|cut short"):
        load_nomic_bert(small_folder)


def test_not_numbers(small_folder):
    """One weight that is not a number is found, and its tensor named."""
    weights = weights_of(small_folder)
    weights["encoder.layers.0.mlp.fc12.weight"][5, 7] = float("nan")
    save(small_folder, weights)

    with pytest.raises(EmbedderUnavailable, match=r"damaged: layers\.0\.mlp\.gate\.weight has values that are not"):
        load_nomic_bert(small_folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model_type": "bert"}, "of the type 'bert'"),
        ({"prenorm": True}, "prenorm is True"),
        ({"activation_function": "gelu"}, "activation_function is 'gelu'"),
        ({"rotary_emb_fraction": 0.5}, "rotary_emb_fraction is 0.5"),
        ({"num_attention_heads": 5}, "cannot be shared by 5 heads"),
        ({"num_hidden_layers": 3}, "missing: layers.2"),
    ],
)
def test_another_architecture(small_folder, change, said):
    """A configuration of another architecture is refused with the word that differs."""
    save(small_folder, weights_of(small_folder), **change)

    with pytest.raises(EmbedderUnavailable, match=said):
        load_nomic_bert(small_folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_missing_file(small_folder, name):
    """A missing file is named."""
    (small_folder / name).unlink()

    with pytest.raises(EmbedderUnavailable, match=f"{name} is missing"):
        load_nomic_bert(small_folder)


def test_broken_configuration(small_folder):
    """A configuration that is no JSON is named."""
    (small_folder / "config.json").write_text("{")

    with pytest.raises(EmbedderUnavailable, match=r"config\.json cannot be read"):
        load_nomic_bert(small_folder)
