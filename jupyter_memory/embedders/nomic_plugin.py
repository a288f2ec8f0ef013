"""Our nomic-bert as an architecture of mlx-embeddings, which has none of its own.

mlx_embeddings.utils.load_model(folder, get_model_classes=model_classes)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlx_embeddings import utils
from mlx_embeddings.models.base import BaseModelOutput, mean_pooling, normalize_embeddings

from jupyter_memory.embedders.arrays import mx
from jupyter_memory.embedders.nomic_bert import NomicBert, Shape, on_cpu
from jupyter_memory.embedders.nomic_weights import renamed, shape_in


def model_classes(config: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
    """Return the classes for a model's configuration: model, arguments, and none for images."""
    if config.get("model_type") == "nomic_bert":
        return PluggedNomicBert, _Arguments, None, None
    classes: tuple[Any, Any, Any, Any] = utils._get_classes(dict(config))
    return classes


class _Arguments:
    """Reads a configuration the way mlx-embeddings asks for it."""

    @staticmethod
    def from_dict(config: Mapping[str, Any]) -> Shape:
        return shape_in(config)


class PluggedNomicBert(NomicBert):
    """Takes weights of every naming, and returns what the models of mlx-embeddings return."""

    def sanitize(self, weights: Mapping[str, mx.array]) -> dict[str, mx.array]:
        """Return the weights under our names."""
        ours = renamed(weights)
        if any(name.endswith(".scales") for name in ours):
            return ours
        return {name: value.astype(mx.float32) for name, value in ours.items()} if on_cpu() else ours

    def __call__(self, input_ids: mx.array, attention_mask: mx.array | None = None) -> Any:
        """Return the vectors of the tokens, and their mean with length 1."""
        hidden = super().__call__(input_ids, attention_mask)
        mask = mx.ones(input_ids.shape) if attention_mask is None else attention_mask
        return BaseModelOutput(last_hidden_state=hidden, text_embeds=normalize_embeddings(mean_pooling(hidden, mask)))
