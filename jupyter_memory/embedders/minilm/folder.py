"""The folder of all-MiniLM-L6-v2, or of another BERT: opened once, loaded under the names of transformers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jupyter_memory.embedders.bert.tokenizer import BertTokenizer, read_tokenizer
from jupyter_memory.embedders.bert.weights import check_heads, fill, ours, read_config, sizes_in, tensors_in
from jupyter_memory.embedders.download import manifest
from jupyter_memory.embedders.minilm.bert import Bert, Shape
from jupyter_memory.embedders.runtime.lifecycle import computing
from jupyter_memory.embedders.runtime.mlx_thread import in_mlx_thread
from jupyter_memory.errors import EmbedderUnavailable

# As published: of a longer text, the beginning counts.
MAX_TOKENS = 256

REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"

# The names of transformers, and what replaces them here, in this order.
_NAMES = (
    (r"^bert\.", ""),
    (r"^encoder\.layer\.", "layers."),
    (r"^embeddings\.word_embeddings\.", "words."),
    (r"^embeddings\.position_embeddings\.", "positions."),
    (r"^embeddings\.token_type_embeddings\.", "types."),
    (r"^embeddings\.LayerNorm\.", "norm."),
    (r"\.attention\.self\.", ".attention."),
    (r"\.attention\.output\.dense\.", ".attention.out."),
    (r"\.attention\.output\.LayerNorm\.", ".attention_norm."),
    (r"\.intermediate\.dense\.", ".mlp.up."),
    (r"\.output\.dense\.", ".mlp.down."),
    (r"\.output\.LayerNorm\.", ".mlp_norm."),
)
# Heads for other tasks, and the numbers of the positions.
_UNUSED = re.compile(r"^(?:cls|pooler|classifier)\.|position_ids$")

_SIZES = {
    "vocabulary": ("vocab_size",),
    "width": ("hidden_size",),
    "layers": ("num_hidden_layers",),
    "heads": ("num_attention_heads",),
    "inner": ("intermediate_size",),
    "positions": ("max_position_embeddings",),
    "token_types": ("type_vocab_size",),
    "epsilon": ("layer_norm_eps",),
}
_EXPECTED: dict[str, tuple[Any, ...]] = {
    "hidden_act": ("gelu",),
    "position_embedding_type": ("absolute", None),
    "is_decoder": (False,),
}


@computing.kept
def open_folder(folder: Path) -> tuple[Bert, BertTokenizer]:
    """Return the model and its tokenizer, loaded once for all embedders of a process.

    Raises:
        EmbedderUnavailable: a file is missing, damaged or of another model.
    """
    model = load_bert(folder)
    return model, read_tokenizer(folder, model.shape.vocabulary, MAX_TOKENS)


@lru_cache(maxsize=8)
def revision(folder: Path) -> str:
    """Return 12 digits for the weights: a digest of 256 pages of each file.

    Raises:
        EmbedderUnavailable: there are no weights.
    """
    found = manifest.weights_identity(folder)
    if not found:
        raise EmbedderUnavailable(f"There are no weights in {folder}: model.safetensors is missing.")
    return found


def forget_folders() -> None:
    """Load folders again from now on: another model has taken the place of a loaded one."""
    open_folder.cache_clear()
    revision.cache_clear()


@in_mlx_thread
def load_bert(folder: Path) -> Bert:
    """Return the model of a folder that holds ``config.json`` and ``*.safetensors``, ready to compute.

    Raises:
        EmbedderUnavailable: a file is missing, cut short or of another model; the tensors are named.
    """
    config = read_config(folder, "bert", REPOSITORY, _EXPECTED)
    shape = shape_in(config)
    check_heads(shape.width, 1, shape.heads, folder)
    model = Bert(shape)
    named = {ours(theirs, _NAMES): value for theirs, value in tensors_in(folder).items()}
    fill(model, {name: value for name, value in named.items() if not _UNUSED.search(name)}, config, folder)
    return model


def shape_of(folder: Path) -> Shape:
    """Return the sizes of the model in a folder; its weights are not read.

    Raises:
        EmbedderUnavailable: there is no configuration, or one of another architecture.
    """
    return shape_in(read_config(folder, "bert", REPOSITORY, _EXPECTED))


def shape_in(config: Mapping[str, Any]) -> Shape:
    """Return the sizes in a configuration."""
    return Shape(**sizes_in(config, _SIZES))
