"""Load a folder with a nomic-bert model into the MLX model: three namings, full and half precision, quantised."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jupyter_memory.embedders.nomic.bert import NomicBert, Shape
from jupyter_memory.embedders.runtime.mlx import mx, nn, on_cpu
from jupyter_memory.embedders.runtime.mlx_thread import in_mlx_thread
from jupyter_memory.embedders.runtime.safetensors import SHOWN, check_length, read_tensors, some
from jupyter_memory.errors import EmbedderUnavailable

# The names of the hub's checkpoint and of transformers, and what replaces them here, in this order.
_NAMES = (
    (r"^(?:nomic_bert|bert|model)\.", ""),
    (r"^encoder\.layers\.", "layers."),
    (r"^embeddings\.word_embeddings\.", "words."),
    (r"^embeddings\.token_type_embeddings\.", "types."),
    (r"^(?:emb_ln|embeddings\.LayerNorm)\.", "norm."),
    (r"\.(?:attn|self_attn)\.", ".attention."),
    (r"\.(?:out_proj|o_proj)\.", ".out."),
    (r"\.q_proj\.", ".query."),
    (r"\.k_proj\.", ".key."),
    (r"\.v_proj\.", ".value."),
    (r"\.(?:fc11|up_proj)\.", ".up."),
    (r"\.(?:fc12|gate_proj)\.", ".gate."),
    (r"\.(?:fc2|down_proj)\.", ".down."),
    (r"\.(?:norm1|post_attention_layernorm)\.", ".attention_norm."),
    (r"\.(?:norm2|post_mlp_layernorm)\.", ".mlp_norm."),
)
# Heads for other tasks, and tables that are computed here.
_UNUSED = re.compile(r"^(?:cls|pooler|classifier)\.|(?:position_ids|inv_freq)$")
_STACKED = re.compile(r"\.Wqkv\.")
_PARTS = ("query", "key", "value")

# Our name of a size: its names in the hub's configuration and in the configuration of transformers.
_SIZES = {
    "vocabulary": ("vocab_size",),
    "width": ("n_embd", "hidden_size"),
    "layers": ("n_layer", "num_hidden_layers"),
    "heads": ("n_head", "num_attention_heads"),
    "inner": ("n_inner", "intermediate_size"),
    "token_types": ("type_vocab_size",),
    "rotary_base": ("rotary_emb_base", "rope_theta"),
    "epsilon": ("layer_norm_epsilon", "layer_norm_eps"),
}
# A configuration with other values has another architecture.
_EXPECTED: dict[str, tuple[Any, ...]] = {
    "prenorm": (False,),
    "activation_function": ("swiglu",),
    "hidden_act": ("silu",),
    "qkv_proj_bias": (False,),
    "mlp_fc1_bias": (False,),
    "mlp_fc2_bias": (False,),
    "rotary_emb_fraction": (1, 1.0),
    "rotary_emb_interleaved": (False,),
    "rotary_emb_scale_base": (None,),
    "parallel_block": (False,),
    "use_rms_norm": (False, None),
}


@in_mlx_thread
def load_nomic_bert(folder: Path) -> NomicBert:
    """Return the model of a folder that holds ``config.json`` and ``*.safetensors``.

    On the CPU all arithmetic is in float32; on a GPU weights of 32 bits become 16, and quantised ones stay so.

    Raises:
        EmbedderUnavailable: a file is missing, cut short or of another model; the tensors are named.
    """
    config = read_config(folder)
    shape = _checked_shape(config, folder)
    weights = renamed(_tensors(folder))
    model = NomicBert(shape)
    _check(weights, model, config, folder)
    if on_cpu():
        weights = {name: value.astype(mx.float32) for name, value in _dequantised(weights, config).items()}
    else:
        weights = {name: _halved(value) for name, value in weights.items()}
        if "quantization" in config:
            _quantise(model, config, weights)
    model.load_weights(list(weights.items()))
    mx.eval(model.parameters())
    _check_numbers(weights, folder)
    mx.clear_cache()
    return model


def read_config(folder: Path) -> dict[str, Any]:
    """Return the configuration of the model in a folder.

    Raises:
        EmbedderUnavailable: there is none, it cannot be read, or it is of another architecture.
    """
    try:
        config = json.loads((folder / "config.json").read_text())
    except FileNotFoundError as missing:
        raise EmbedderUnavailable(
            f"There is no model in {folder}: config.json is missing. It should hold config.json, tokenizer.json and "
            "model.safetensors, as the repository nomic-ai/nomic-embed-text-v1.5 has them."
        ) from missing
    except ValueError as broken:
        raise EmbedderUnavailable(f"{folder / 'config.json'} cannot be read: {broken}. Fetch it again.") from broken
    if not isinstance(config, dict) or config.get("model_type") != "nomic_bert":
        kind = config.get("model_type") if isinstance(config, dict) else config
        raise EmbedderUnavailable(
            f"The model in {folder} is of the type {kind!r}, not nomic_bert. Other types: model use mlx:FOLDER"
        )
    for key, allowed in _EXPECTED.items():
        if config.get(key, allowed[0]) not in allowed:
            raise EmbedderUnavailable(
                f"The model in {folder} cannot run here: its config.json says {key} is {config[key]!r}, "
                f"and this architecture has {allowed[0]!r}."
            )
    return config


def shape_in(config: Mapping[str, Any]) -> Shape:
    """Return the sizes in a configuration of the hub or of transformers."""
    known = {**config, **(config.get("rope_parameters") or {})}
    sizes = {ours: known[theirs] for ours, words in _SIZES.items() for theirs in words if known.get(theirs) is not None}
    return Shape(**sizes)


def _checked_shape(config: Mapping[str, Any], folder: Path) -> Shape:
    shape = shape_in(config)
    if shape.width % (2 * shape.heads):
        raise EmbedderUnavailable(
            f"{folder / 'config.json'} is wrong: {shape.width} values cannot be shared by {shape.heads} heads."
        )
    return shape


def _tensors(folder: Path) -> dict[str, mx.array]:
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise EmbedderUnavailable(f"There are no weights in {folder}: model.safetensors is missing.")
    tensors: dict[str, mx.array] = {}
    for file in files:
        check_length(file)
        tensors.update(read_tensors(file))
    return tensors


def renamed(tensors: Mapping[str, mx.array]) -> dict[str, mx.array]:
    """Return the tensors under the names of `NomicBert`, stacked ones taken apart."""
    renamed: dict[str, mx.array] = {}
    for name, value in tensors.items():
        for theirs, ours in _NAMES:
            name = re.sub(theirs, ours, name)
        if _UNUSED.search(name):
            continue
        if _STACKED.search(name) and value.shape[0] % 3 == 0:
            parts = mx.split(value, 3, axis=0)
            renamed.update({_STACKED.sub(f".{part}.", name): one for part, one in zip(_PARTS, parts, strict=True)})
        else:
            renamed[name] = value
    return renamed


def _check(weights: Mapping[str, mx.array], model: NomicBert, config: Mapping[str, Any], folder: Path) -> None:
    """Refuse tensors that are missing, surplus or of another shape."""
    expected = dict(nn.utils.tree_flatten(model.parameters()))
    quantised = {name.removesuffix(".scales") for name in weights if name.endswith(".scales")}
    if quantised and "quantization" not in config:
        raise EmbedderUnavailable(f"The weights in {folder} are quantised, and config.json does not say how.")
    for layer in quantised:
        expected |= {f"{layer}.scales": None, f"{layer}.biases": None}
    problems = []
    if missing := sorted(expected.keys() - weights.keys()):
        problems.append(f"missing: {some(missing)}")
    if surplus := sorted(weights.keys() - expected.keys()):
        problems.append(f"surplus: {some(surplus)}")
    problems += [
        f"{name} has the shape {weights[name].shape}, expected {value.shape}"
        for name, value in expected.items()
        if name in weights and name.rpartition(".")[0] not in quantised and weights[name].shape != value.shape
    ][:SHOWN]
    if problems:
        raise EmbedderUnavailable(
            f"The weights in {folder} are not those of the model in its config.json; {'; '.join(problems)}."
        )


def _dequantised(weights: Mapping[str, mx.array], config: Mapping[str, Any]) -> dict[str, mx.array]:
    how = config.get("quantization", {})
    plain = {name: value for name, value in weights.items() if not name.endswith((".scales", ".biases"))}
    for name in weights:
        if name.endswith(".scales"):
            layer = name.removesuffix(".scales")
            plain[f"{layer}.weight"] = mx.dequantize(
                weights[f"{layer}.weight"],
                weights[name],
                weights[f"{layer}.biases"],
                group_size=how["group_size"],
                bits=how["bits"],
            )
    return plain


def _quantise(model: NomicBert, config: Mapping[str, Any], weights: Mapping[str, mx.array]) -> None:
    how = config["quantization"]
    nn.quantize(
        model,
        group_size=how["group_size"],
        bits=how["bits"],
        class_predicate=lambda path, _: f"{path}.scales" in weights,
    )


def _halved(value: mx.array) -> mx.array:
    return value.astype(mx.float16) if mx.issubdtype(value.dtype, mx.floating) else value


def _check_numbers(weights: Mapping[str, mx.array], folder: Path) -> None:
    """Refuse weights that are not numbers: with one of them, a sum is not a number either."""
    sums = mx.stack([mx.sum(value.astype(mx.float32)) for value in weights.values()])
    sound = np.isfinite(np.asarray(sums))
    broken = [name for name, good in zip(weights, sound, strict=True) if not good]
    if broken:
        raise EmbedderUnavailable(
            f"The weights in {folder} are damaged: {some(broken)} has values that are not numbers. Fetch them again."
        )
