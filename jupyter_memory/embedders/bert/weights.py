"""Load the files of a folder into an MLX model: checked; in full or half precision, or quantised."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jupyter_memory.embedders.runtime.mlx import mx, nn, on_cpu
from jupyter_memory.embedders.runtime.safetensors import SHOWN, check_length, read_tensors, some
from jupyter_memory.errors import EmbedderUnavailable


def read_config(folder: Path, kind: str, repository: str, expected: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
    """Return the configuration of the model in a folder.

    ``kind`` is its ``model_type``, and ``expected`` has the values that each key may have: the first one is meant where
    the key is left out. With others, the model has another architecture.

    Raises:
        EmbedderUnavailable: there is none, it cannot be read, or it is of another architecture.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError as missing:
        raise EmbedderUnavailable(
            f"There is no model in {folder}: config.json is missing. It should hold config.json, tokenizer.json and "
            f"model.safetensors, as the repository {repository} has them."
        ) from missing
    except ValueError as broken:
        raise EmbedderUnavailable(f"{folder / 'config.json'} cannot be read: {broken}. Fetch it again.") from broken
    if not isinstance(config, dict) or config.get("model_type") != kind:
        found = config.get("model_type") if isinstance(config, dict) else config
        raise EmbedderUnavailable(
            f"The model in {folder} is of the type {found!r}, not {kind}. Other types: model use mlx:FOLDER"
        )
    for key, allowed in expected.items():
        if config.get(key, allowed[0]) not in allowed:
            raise EmbedderUnavailable(
                f"The model in {folder} cannot run here: its config.json says {key} is {config[key]!r}, "
                f"and this architecture has {allowed[0]!r}."
            )
    return config


def sizes_in(config: Mapping[str, Any], names: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    """Return the sizes in a configuration under our names; ``names`` has those of each size there."""
    return {ours: config[theirs] for ours, words in names.items() for theirs in words if config.get(theirs) is not None}


def check_heads(width: int, parts: int, heads: int, folder: Path) -> None:
    """Refuse a width that cannot be shared by heads, each of whose values come in ``parts``."""
    if width % (parts * heads):
        raise EmbedderUnavailable(
            f"{folder / 'config.json'} is wrong: {width} values cannot be shared by {heads} heads."
        )


def tensors_in(folder: Path) -> dict[str, mx.array]:
    """Return the tensors of all files of a folder, under the names that they have there.

    Raises:
        EmbedderUnavailable: there are none, or a file is cut short; the tensors are named.
    """
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise EmbedderUnavailable(f"There are no weights in {folder}: model.safetensors is missing.")
    tensors: dict[str, mx.array] = {}
    for file in files:
        check_length(file)
        tensors.update(read_tensors(file))
    return tensors


def ours(name: str, names: Iterable[tuple[str, str]]) -> str:
    """Return a tensor's name here: every pattern of ``names`` is replaced, in their order."""
    for theirs, mine in names:
        name = re.sub(theirs, mine, name)
    return name


def fill(model: nn.Module, weights: Mapping[str, mx.array], config: Mapping[str, Any], folder: Path) -> None:
    """Give a model its weights, and compute what that needs.

    On the CPU all arithmetic is in float32; on a GPU weights of 32 bits become 16, and quantised ones stay so.

    Raises:
        EmbedderUnavailable: tensors are missing, surplus, of another shape or not numbers; they are named.
    """
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


def _check(weights: Mapping[str, mx.array], model: nn.Module, config: Mapping[str, Any], folder: Path) -> None:
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


def _quantise(model: nn.Module, config: Mapping[str, Any], weights: Mapping[str, mx.array]) -> None:
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
