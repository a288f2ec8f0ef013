"""The architectures that can run a model: those of mlx-embeddings, and our nomic-bert, which it lacks."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlx_embeddings import models, utils
from mlx_embeddings.models.base import BaseModelOutput, mean_pooling, normalize_embeddings

from jupyter_memory.embedders import cpu_math
from jupyter_memory.embedders.bert import Bert
from jupyter_memory.embedders.bert_weights import renamed, shape_in
from jupyter_memory.embedders.mlx import mx, nn, on_cpu
from jupyter_memory.embedders.mlx_recipe import DENSE_INSIDE, UNREADABLE, Recipe, first_line
from jupyter_memory.errors import EmbedderUnavailable

# Models of images, and of a vector for every token.
_NO_TEXT = ("base", "colidefics3", "colqwen2_5", "lfm2", "llama_nemotron_vl", "qwen3_vl", "siglip")


def load(folder: Path, recipe: Recipe) -> Any:
    """Return the model of a folder, ready to compute."""
    known = sorted(module.name for module in pkgutil.iter_modules(models.__path__) if module.name not in _NO_TEXT)
    if recipe.kind not in (*known, "nomic_bert"):
        raise EmbedderUnavailable(
            f"The model in {folder} is of the type {recipe.kind!r}, and mlx-embeddings runs {', '.join(known)}."
        )
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        rope = config.get("rope_parameters") or {}
        bases = {kind: one["rope_theta"] for kind, one in rope.items() if isinstance(one, dict) and "rope_theta" in one}
        found = {"rope_theta": rope.get("rope_theta")}
        if "full_attention" in bases:
            found |= {"rope_theta": bases["full_attention"], "global_rope_theta": bases["full_attention"]}
        if "sliding_attention" in bases:
            found |= dict.fromkeys(("rope_local_base_freq", "local_rope_theta"), bases["sliding_attention"])
        words = {name: value for name, value in found.items() if value is not None and name not in config}

        model = utils.load_model(folder, model_config=words, get_model_classes=_classes, path_to_repo=str(folder))
    except UNREADABLE as broken:
        raise EmbedderUnavailable(
            f"mlx-embeddings cannot load the model in {folder}: {first_line(broken)}. Fetch it again."
        ) from broken
    if on_cpu():
        # Half precision is computed twenty times slower there.
        model.set_dtype(mx.float32)
        for _, module in model.named_modules():
            # A module is a dictionary of its parts. This one is BERT's; the others compute it within a function.
            if isinstance(module.get("intermediate_act_fn"), nn.GELU):
                module.intermediate_act_fn = cpu_math.gelu
        mx.eval(model.parameters())
    mx.clear_cache()
    return model


class _Arguments:
    @staticmethod
    def from_dict(config: Mapping[str, Any]) -> Any:
        return shape_in(config)


class _PluggedNomicBert(Bert):
    # Takes weights of every naming, and returns what the models of mlx-embeddings return.

    def sanitize(self, weights: Mapping[str, mx.array]) -> dict[str, mx.array]:
        ours = renamed(weights)
        if any(name.endswith(".scales") for name in ours):
            return ours
        return {name: value.astype(mx.float32) for name, value in ours.items()} if on_cpu() else ours

    def __call__(self, input_ids: mx.array, attention_mask: mx.array | None = None) -> Any:
        hidden = super().__call__(input_ids, attention_mask)
        mask = mx.ones(input_ids.shape) if attention_mask is None else attention_mask
        return BaseModelOutput(last_hidden_state=hidden, text_embeds=normalize_embeddings(mean_pooling(hidden, mask)))


def _classes(config: Mapping[str, Any]) -> tuple[Any, ...]:
    # Ours for nomic-bert, its own for everything else.
    if config.get("model_type") == "nomic_bert":
        model, *others = _PluggedNomicBert, _Arguments, None, None
    else:
        model, *others = utils._get_classes(dict(config))
    kind = str(config["model_type"]).replace("-", "_")
    if kind in DENSE_INSIDE:
        return (model, *others)

    class WithoutDense(model):  # type: ignore[misc,valid-type]
        # The dense layers of other folders are applied after the pooling.

        def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
            own = {name: value for name, value in weights.items() if not name.partition("_")[0].isdecimal()}
            sane: dict[str, mx.array] = super().sanitize(own)
            return sane

    return (WithoutDense, *others)
