"""A model's folder opened with mlx-embeddings, once for all embedders of a process."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from tokenizers import Tokenizer

from jupyter_memory.embedders import cpu_math
from jupyter_memory.embedders.arrays import mx, nn
from jupyter_memory.embedders.nomic_bert import on_cpu
from jupyter_memory.embedders.nomic_weights import check_length
from jupyter_memory.embedders.resident import computing
from jupyter_memory.embedders.sentence_pooling import pool
from jupyter_memory.embedders.sentence_recipe import Recipe
from jupyter_memory.errors import EmbedderUnavailable

_ACTIVATIONS: dict[str, Callable[[mx.array], mx.array]] = {
    "Identity": lambda x: x,
    "Tanh": mx.tanh,
    "ReLU": lambda x: mx.maximum(x, 0),
    "Sigmoid": mx.sigmoid,
}
# What goes wrong in reading files that mlx-embeddings does not check.
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RuntimeError, OSError)


@dataclass(frozen=True)
class Opened:
    """A model that is ready: its tokenizer, and token ids to vectors.

    ``vectors`` takes int ids and a float32 mask, both ``(rows, tokens)``, the mask None where nothing is padding, and
    returns float32 ``(rows, width)``, not yet cut or of length 1.
    """

    tokenizer: Tokenizer
    vectors: Callable[[mx.array, mx.array | None], mx.array]


# One model: they may have gigabytes.
@computing.kept
def open_mlx_folder(folder: Path, recipe: Recipe) -> Opened:
    """Return the model of a folder.

    Raises:
        EmbedderUnavailable: a file is missing or damaged, or mlx-embeddings cannot run such a model.
    """
    for file in folder.glob("**/*.safetensors"):
        check_length(file)
    model = _model(folder, recipe)
    dense = [] if recipe.kind in _DENSE_INSIDE else [_dense(folder / name) for name in recipe.dense]
    vectors = partial(_vectors, model=model, dense=dense, recipe=recipe)
    return Opened(_tokenizer(folder, recipe.max_tokens), vectors)


def _model(folder: Path, recipe: Recipe) -> Any:
    from mlx_embeddings import models, utils

    known = sorted(module.name for module in pkgutil.iter_modules(models.__path__) if module.name not in _NO_TEXT)
    if recipe.kind not in (*known, "nomic_bert"):
        raise EmbedderUnavailable(
            f"The model in {folder} is of the type {recipe.kind!r}, and mlx-embeddings runs {', '.join(known)}."
        )
    try:
        words = _older_words(folder)
        model = utils.load_model(folder, model_config=words, get_model_classes=_classes, path_to_repo=str(folder))
    except _UNREADABLE as broken:
        raise EmbedderUnavailable(
            f"mlx-embeddings cannot load the model in {folder}: {_first_line(broken)}. Fetch it again."
        ) from broken
    if on_cpu():
        # Half precision is computed twenty times slower there.
        model.set_dtype(mx.float32)
        _quicken(model)
        mx.eval(model.parameters())
    mx.clear_cache()
    return model


def _quicken(model: Any) -> None:
    """Let the CPU compute GELU by our polynomial, which takes a tenth of the time."""
    for _, module in model.named_modules():
        # BERT's; the others compute it within a function.
        if isinstance(getattr(module, "intermediate_act_fn", None), nn.GELU):
            module.intermediate_act_fn = cpu_math.gelu


def _older_words(folder: Path) -> dict[str, Any]:
    """Return what transformers 5 writes in new words in the words that mlx-embeddings reads: the bases of rotation."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    rope = config.get("rope_parameters") or {}
    bases = {kind: one["rope_theta"] for kind, one in rope.items() if isinstance(one, dict) and "rope_theta" in one}
    found = {"rope_theta": rope.get("rope_theta")}
    if "full_attention" in bases:
        found |= {"rope_theta": bases["full_attention"], "global_rope_theta": bases["full_attention"]}
    if "sliding_attention" in bases:
        found |= dict.fromkeys(("rope_local_base_freq", "local_rope_theta"), bases["sliding_attention"])
    return {name: value for name, value in found.items() if value is not None and name not in config}


def _classes(config: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the classes that `load_model` makes a model with: ours for nomic-bert, its own for everything else."""
    from jupyter_memory.embedders.nomic_plugin import model_classes

    model, *others = model_classes(config)
    kind = str(config["model_type"]).replace("-", "_")
    if kind in _DENSE_INSIDE:
        return (model, *others)

    class WithoutDense(model):  # type: ignore[misc,valid-type]
        """The transformer alone: layers of the folders beside it come after the pooling."""

        def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
            own = {name: value for name, value in weights.items() if not name.partition("_")[0].isdecimal()}
            sane: dict[str, mx.array] = super().sanitize(own)
            return sane

    return (WithoutDense, *others)


def _vectors(ids: mx.array, mask: mx.array | None, *, model: Any, dense: Sequence[Any], recipe: Recipe) -> mx.array:
    mask = mx.ones(ids.shape) if mask is None else mask
    if recipe.kind in _DENSE_INSIDE:
        inside: mx.array = model(ids, attention_mask=mask).text_embeds.astype(mx.float32)
        return inside
    vectors = pool(_hidden(model, ids, mask, recipe.kind), mask, recipe.pooling)
    for layer in dense:
        vectors = layer(vectors)
    return vectors


def _hidden(model: Any, ids: mx.array, mask: mx.array, kind: str) -> mx.array:
    """Return the vectors of all tokens, ``(rows, tokens, width)``."""
    # The whole model returns what it has already pooled, or pools on the way.
    if kind == "modernbert":
        found = model.model(ids, attention_mask=mask)["last_hidden_state"]
    elif kind == "qwen3":
        found = model.model(ids, attention_mask=mask)
    else:
        found = model(ids, attention_mask=mask).last_hidden_state
    return cast(mx.array, found)


# Its dense layers are part of the architecture.
_DENSE_INSIDE = ("gemma3_text",)
# Models of images, and of a vector for every token.
_NO_TEXT = ("base", "colidefics3", "colqwen2_5", "lfm2", "llama_nemotron_vl", "qwen3_vl", "siglip")


def _dense(folder: Path) -> Callable[[mx.array], mx.array]:
    """Return the layer of a Dense module."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = cast(dict[str, mx.array], mx.load(str(folder / "model.safetensors")))
        values = [(name.removeprefix("linear."), value.astype(mx.float32)) for name, value in weights.items()]
        layer = nn.Linear(config["in_features"], config["out_features"], bias=bool(config.get("bias", True)))
        layer.load_weights(values)
        activation = _ACTIVATIONS[str(config.get("activation_function", "Tanh")).rpartition(".")[2]]
    except _UNREADABLE as broken:
        raise EmbedderUnavailable(
            f"The dense layer in {folder} cannot be read: {_first_line(broken)}. Fetch it again, with its "
            "model.safetensors."
        ) from broken
    mx.eval(layer.parameters())
    return lambda vectors: activation(layer(vectors))


def _tokenizer(folder: Path, max_tokens: int) -> Tokenizer:
    file = folder / "tokenizer.json"
    try:
        if file.is_file():
            tokenizer = Tokenizer.from_file(str(file))
        else:
            from transformers import AutoTokenizer

            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True).backend_tokenizer
    # The tokenizers raise nothing more exact.
    except Exception as broken:
        raise EmbedderUnavailable(
            f"The tokenizer in {folder} cannot be read: {_first_line(broken)}. Fetch it again."
        ) from broken
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _first_line(error: BaseException) -> str:
    said = str(error).strip().splitlines()
    return said[0].rstrip(".") if said else type(error).__name__
