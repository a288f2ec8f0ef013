"""The folders of nomic and MiniLM: settings, names of tensors, vocabulary, quantised weights."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.base import readable
from jupyter_memory.embedders.bert import Bert, BertShape, NomicBert, NomicShape
from jupyter_memory.embedders.download import cache
from jupyter_memory.embedders.lifecycle import computing, in_mlx_thread
from jupyter_memory.embedders.mlx import mx, nn, on_cpu
from jupyter_memory.embedders.registry import NOMIC
from jupyter_memory.embedders.tokenizer import UNKNOWN, WordPiece
from jupyter_memory.errors import EmbedderUnavailable

# Safetensors files: read, checked for their length, and written in half precision one tensor at a time.

# How a safetensors header calls the types that are written here.
_TYPES = {mx.float16: "F16", mx.float32: "F32", mx.int32: "I32", mx.int64: "I64", mx.uint32: "U32", mx.bool_: "BOOL"}
# Tensors that a message names before it counts the rest.
SHOWN = 4


@in_mlx_thread
def read_tensors(file: Path) -> dict[str, mx.array]:
    """Return the tensors of a file by name; MLX reads each when it is first used, which must be in its thread."""
    tensors = mx.load(str(file))
    assert isinstance(tensors, dict), "a safetensors file holds tensors by name"
    return tensors


def check_length(file: Path) -> None:
    """Refuse a file that is shorter than its header says, with the tensors that are missing."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        header = opened.read(length) if length < size else b""
    try:
        entries = json.loads(header)
        ends = {name: 8 + length + entry["data_offsets"][1] for name, entry in entries.items() if name[:2] != "__"}
    except (ValueError, KeyError, TypeError, AttributeError) as broken:
        raise EmbedderUnavailable(
            f"{file} is not a safetensors file, or its beginning is lost. Fetch it again."
        ) from broken
    lost = [name for name, end in ends.items() if end > size]
    if lost:
        raise EmbedderUnavailable(
            f"{file} is cut short: it has {size:,} of {max(ends.values()):,} bytes. Missing in whole or in part: "
            f"{some(lost)}. Fetch it again."
        )


def write_half(source: Path, file: Path, moved: Callable[[int], object]) -> None:
    """Write the tensors of a folder into one safetensors file, one after the other.

    By hand, as MLX writes all at once and says nothing when the disk is full.
    """
    tensors: dict[str, mx.array] = {}
    for part in sorted(source.glob("*.safetensors")):
        tensors |= read_tensors(part)
    with file.open("wb") as opened:
        opened.write(_header(tensors))
        for name in list(tensors):
            # Taken out, so that one tensor at a time is in memory.
            values = np.ascontiguousarray(_in_half(tensors.pop(name), name, source))
            opened.write(values.data)
            moved(values.nbytes)


def _header(tensors: dict[str, mx.array]) -> bytes:
    entries: dict[str, object] = {"__metadata__": {"format": "mlx"}}
    end = 0
    for name, value in tensors.items():
        kind = mx.float16 if mx.issubdtype(value.dtype, mx.floating) else value.dtype
        start, end = end, end + value.size * kind.size
        entries[name] = {"dtype": _TYPES[kind], "shape": list(value.shape), "data_offsets": [start, end]}
    written = json.dumps(entries, separators=(",", ":")).encode()
    written += b" " * (-len(written) % 8)
    return len(written).to_bytes(8, "little") + written


@in_mlx_thread
def _in_half(value: mx.array, name: str, source: Path) -> NDArray[Any]:
    if not mx.issubdtype(value.dtype, mx.floating):
        return np.asarray(value)
    half = value.astype(mx.float16)
    if not mx.all(mx.isfinite(half)).item():
        raise EmbedderUnavailable(
            f"The weights in {source} cannot be kept in half precision: {name} has values above 65,504."
        )
    return np.asarray(half)


def some(names: Iterable[str]) -> str:
    """Return the first names, and how many more there are."""
    names = list(names)
    shown = ", ".join(names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


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
    sums = mx.stack([mx.sum(value.astype(mx.float32)) for value in weights.values()])
    sound = np.isfinite(np.asarray(sums))
    broken = [name for name, good in zip(weights, sound, strict=True) if not good]
    if broken:
        raise EmbedderUnavailable(
            f"The weights in {folder} are damaged: {some(broken)} has values that are not numbers. Fetch them again."
        )


# Texts to the token ids of a model, with the vocabulary in its folder, which must be that of an uncased BERT.

# Few tokens are longer than this many characters.
_CHARACTERS = 40
_BEGIN, _END = "[CLS]", "[SEP]"
# How tokenizer.json describes what `WordPiece` does.
_UNCASED: dict[str, dict[str, Any]] = {
    "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {
        "type": "WordPiece",
        "unk_token": UNKNOWN,
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    },
}


@dataclass(frozen=True)
class BertTokenizer:
    """Marks the beginning and the end of each text; a text is cut to ``most`` tokens, those two included."""

    pieces: WordPiece
    begin: int
    end: int
    most: int

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text."""
        found = self.pieces.tokens([readable(text[: _CHARACTERS * self.most]) for text in texts])
        starts = found.ends - found.counts
        lasts = [min(end, start + self.most - 2) for start, end in zip(starts, found.ends, strict=True)]
        return [
            [self.begin, *found.ids[start:last].tolist(), self.end] for start, last in zip(starts, lasts, strict=True)
        ]


def read_tokenizer(folder: Path, known: int, most: int) -> BertTokenizer:
    """Return the tokenizer of a model whose weights know so many tokens and which reads ``most`` of a text.

    Raises:
        EmbedderUnavailable: tokenizer.json is missing, cannot be read, or is not that of an uncased BERT.
    """
    file = folder / "tokenizer.json"
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as missing:
        raise EmbedderUnavailable(
            f"The tokenizer is missing in {folder}: copy tokenizer.json of the model's repository there."
        ) from missing
    except ValueError as broken:
        raise EmbedderUnavailable(f"{file} cannot be read: {broken}. Fetch it again.") from broken
    vocabulary = _vocabulary(said)
    if not {UNKNOWN, _BEGIN, _END} <= vocabulary.keys():
        raise EmbedderUnavailable(
            f"{file} is not the tokenizer of an uncased BERT, which this model needs. Fetch it again, or use the model "
            "with mlx-embeddings: model use mlx:FOLDER"
        )
    if len(vocabulary) > known:
        raise EmbedderUnavailable(
            f"{file} is not this model's: it knows {len(vocabulary):,} tokens, the weights {known:,}."
        )
    return BertTokenizer(WordPiece(list(vocabulary)), vocabulary[_BEGIN], vocabulary[_END], most)


def _vocabulary(said: Any) -> dict[str, int]:
    if not isinstance(said, dict):
        return {}
    for part, wanted in _UNCASED.items():
        here = said.get(part)
        if not isinstance(here, dict) or any(here.get(key) != value for key, value in wanted.items()):
            return {}
    vocabulary = said["model"].get("vocab")
    keeps_accents = said["normalizer"].get("strip_accents") is False
    if keeps_accents or not isinstance(vocabulary, dict):
        return {}
    in_order = dict(sorted(vocabulary.items(), key=lambda one: one[1]))
    return in_order if list(in_order.values()) == list(range(len(in_order))) else {}


# The folder of a nomic-bert model: opened once, loaded under the names of the hub or of transformers.

# The positions that the model was trained on; longer texts are cut.
NOMIC_TOKENS = 2_048

# The names of the hub's checkpoint and of transformers, and what replaces them here, in this order.
_NOMIC_NAMES = (
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
_NOMIC_UNUSED = re.compile(r"^(?:cls|pooler|classifier)\.|(?:position_ids|inv_freq)$")
_STACKED = re.compile(r"\.Wqkv\.")
_PARTS = ("query", "key", "value")

# Our name of a size: its names in the hub's configuration and in the configuration of transformers.
_NOMIC_SIZES = {
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
_NOMIC_EXPECTED: dict[str, tuple[Any, ...]] = {
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
def open_nomic(folder: Path) -> tuple[NomicBert, BertTokenizer]:
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
    return model, read_tokenizer(folder, model.shape.vocabulary, NOMIC_TOKENS)


@lru_cache(maxsize=8)
def nomic_revision(folder: Path) -> str:
    """Return 12 digits for the weights as they were published: a digest of 256 pages of each file.

    Raises:
        EmbedderUnavailable: there are no weights.
    """
    found = cache.identity(folder)
    if not found:
        raise EmbedderUnavailable(f"There are no weights in {folder}: model.safetensors is missing.")
    return found


def forget_nomic() -> None:
    """Load folders again from now on: another model has taken the place of a loaded one."""
    open_nomic.cache_clear()
    nomic_revision.cache_clear()


@in_mlx_thread
def load_nomic_bert(folder: Path) -> NomicBert:
    """Return the model of a folder that holds ``config.json`` and ``*.safetensors``, ready to compute.

    Raises:
        EmbedderUnavailable: a file is missing, cut short or of another model; the tensors are named.
    """
    config = read_nomic_config(folder)
    shape = nomic_shape(config)
    # Positions turn one half of a head's values with the other.
    check_heads(shape.width, 2, shape.heads, folder)
    model = NomicBert(shape)
    fill(model, renamed(tensors_in(folder)), config, folder)
    return model


def read_nomic_config(folder: Path) -> dict[str, Any]:
    """Return the configuration of the model in a folder.

    Raises:
        EmbedderUnavailable: there is none, it cannot be read, or it is of another architecture.
    """
    return read_config(folder, "nomic_bert", NOMIC.repository, _NOMIC_EXPECTED)


def nomic_shape(config: Mapping[str, Any]) -> NomicShape:
    """Return the sizes in a configuration of the hub or of transformers."""
    return NomicShape(**sizes_in({**config, **(config.get("rope_parameters") or {})}, _NOMIC_SIZES))


def renamed(tensors: Mapping[str, mx.array]) -> dict[str, mx.array]:
    """Return the tensors under the names of `NomicBert`, stacked ones taken apart."""
    renamed: dict[str, mx.array] = {}
    for theirs, value in tensors.items():
        name = ours(theirs, _NOMIC_NAMES)
        if _NOMIC_UNUSED.search(name):
            continue
        if _STACKED.search(name) and value.shape[0] % 3 == 0:
            parts = mx.split(value, 3, axis=0)
            renamed.update({_STACKED.sub(f".{part}.", name): one for part, one in zip(_PARTS, parts, strict=True)})
        else:
            renamed[name] = value
    return renamed


# The folder of all-MiniLM-L6-v2, or of another BERT: opened once, loaded under the names of transformers.

# As published: of a longer text, the beginning counts.
MINILM_TOKENS = 256

REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"

# The names of transformers, and what replaces them here, in this order.
_MINILM_NAMES = (
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
_MINILM_UNUSED = re.compile(r"^(?:cls|pooler|classifier)\.|position_ids$")

_MINILM_SIZES = {
    "vocabulary": ("vocab_size",),
    "width": ("hidden_size",),
    "layers": ("num_hidden_layers",),
    "heads": ("num_attention_heads",),
    "inner": ("intermediate_size",),
    "positions": ("max_position_embeddings",),
    "token_types": ("type_vocab_size",),
    "epsilon": ("layer_norm_eps",),
}
_MINILM_EXPECTED: dict[str, tuple[Any, ...]] = {
    "hidden_act": ("gelu",),
    "position_embedding_type": ("absolute", None),
    "is_decoder": (False,),
}


@computing.kept
def open_minilm(folder: Path) -> tuple[Bert, BertTokenizer]:
    """Return the model and its tokenizer, loaded once for all embedders of a process.

    Raises:
        EmbedderUnavailable: a file is missing, damaged or of another model.
    """
    model = load_bert(folder)
    return model, read_tokenizer(folder, model.shape.vocabulary, MINILM_TOKENS)


@lru_cache(maxsize=8)
def minilm_revision(folder: Path) -> str:
    """Return 12 digits for the weights: a digest of 256 pages of each file.

    Raises:
        EmbedderUnavailable: there are no weights.
    """
    found = cache.weights_identity(folder)
    if not found:
        raise EmbedderUnavailable(f"There are no weights in {folder}: model.safetensors is missing.")
    return found


def forget_minilm() -> None:
    """Load folders again from now on: another model has taken the place of a loaded one."""
    open_minilm.cache_clear()
    minilm_revision.cache_clear()


@in_mlx_thread
def load_bert(folder: Path) -> Bert:
    """Return the model of a folder that holds ``config.json`` and ``*.safetensors``, ready to compute.

    Raises:
        EmbedderUnavailable: a file is missing, cut short or of another model; the tensors are named.
    """
    config = read_config(folder, "bert", REPOSITORY, _MINILM_EXPECTED)
    shape = minilm_shape(config)
    check_heads(shape.width, 1, shape.heads, folder)
    model = Bert(shape)
    named = {ours(theirs, _MINILM_NAMES): value for theirs, value in tensors_in(folder).items()}
    fill(model, {name: value for name, value in named.items() if not _MINILM_UNUSED.search(name)}, config, folder)
    return model


def shape_of(folder: Path) -> BertShape:
    """Return the sizes of the model in a folder; its weights are not read.

    Raises:
        EmbedderUnavailable: there is no configuration, or one of another architecture.
    """
    return minilm_shape(read_config(folder, "bert", REPOSITORY, _MINILM_EXPECTED))


def minilm_shape(config: Mapping[str, Any]) -> BertShape:
    """Return the sizes in a configuration."""
    return BertShape(**sizes_in(config, _MINILM_SIZES))
