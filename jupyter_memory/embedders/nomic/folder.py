"""The folder of a nomic-bert model: opened once, loaded under the names of the hub or of transformers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jupyter_memory.embedders.bert import weights as bert
from jupyter_memory.embedders.bert.tokenizer import BertTokenizer, read_tokenizer
from jupyter_memory.embedders.bert.weights import check_heads, fill, ours, sizes_in, tensors_in
from jupyter_memory.embedders.download import manifest
from jupyter_memory.embedders.nomic.bert import NomicBert, Shape
from jupyter_memory.embedders.registry import NOMIC
from jupyter_memory.embedders.runtime.lifecycle import computing
from jupyter_memory.embedders.runtime.mlx import mx
from jupyter_memory.embedders.runtime.mlx_thread import in_mlx_thread
from jupyter_memory.errors import EmbedderUnavailable

# The positions that the model was trained on; longer texts are cut.
MAX_TOKENS = 2_048

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


# One model, as it takes half a gigabyte.
@computing.kept
def open_folder(folder: Path) -> tuple[NomicBert, BertTokenizer]:
    """Return the model and its tokenizer, loaded once.

    Raises:
        EmbedderUnavailable: a file is missing, damaged or of another model.
    """
    return read_folder(folder)


def read_folder(folder: Path) -> tuple[NomicBert, BertTokenizer]:
    """Return the model and its tokenizer, loaded again.

    Raises:
        EmbedderUnavailable: a file is missing, damaged or of another model.
    """
    model = load_nomic_bert(folder)
    return model, read_tokenizer(folder, model.shape.vocabulary, MAX_TOKENS)


@lru_cache(maxsize=8)
def revision(folder: Path) -> str:
    """Return 12 digits for the weights as they were published: a digest of 256 pages of each file.

    Raises:
        EmbedderUnavailable: there are no weights.
    """
    found = manifest.identity(folder)
    if not found:
        raise EmbedderUnavailable(f"There are no weights in {folder}: model.safetensors is missing.")
    return found


def forget_folders() -> None:
    """Load folders again from now on: another model has taken the place of a loaded one."""
    open_folder.cache_clear()
    revision.cache_clear()


@in_mlx_thread
def load_nomic_bert(folder: Path) -> NomicBert:
    """Return the model of a folder that holds ``config.json`` and ``*.safetensors``, ready to compute.

    Raises:
        EmbedderUnavailable: a file is missing, cut short or of another model; the tensors are named.
    """
    config = read_config(folder)
    shape = shape_in(config)
    # Positions turn one half of a head's values with the other.
    check_heads(shape.width, 2, shape.heads, folder)
    model = NomicBert(shape)
    fill(model, renamed(tensors_in(folder)), config, folder)
    return model


def read_config(folder: Path) -> dict[str, Any]:
    """Return the configuration of the model in a folder.

    Raises:
        EmbedderUnavailable: there is none, it cannot be read, or it is of another architecture.
    """
    return bert.read_config(folder, "nomic_bert", NOMIC.repository, _EXPECTED)


def shape_in(config: Mapping[str, Any]) -> Shape:
    """Return the sizes in a configuration of the hub or of transformers."""
    return Shape(**sizes_in({**config, **(config.get("rope_parameters") or {})}, _SIZES))


def renamed(tensors: Mapping[str, mx.array]) -> dict[str, mx.array]:
    """Return the tensors under the names of `NomicBert`, stacked ones taken apart."""
    renamed: dict[str, mx.array] = {}
    for theirs, value in tensors.items():
        name = ours(theirs, _NAMES)
        if _UNUSED.search(name):
            continue
        if _STACKED.search(name) and value.shape[0] % 3 == 0:
            parts = mx.split(value, 3, axis=0)
            renamed.update({_STACKED.sub(f".{part}.", name): one for part, one in zip(_PARTS, parts, strict=True)})
        else:
            renamed[name] = value
    return renamed
