"""nomic and MiniLM: BERT in MLX, the folders of its models, and texts to vectors."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders import cpu_math
from jupyter_memory.embedders.base import RECIPE, UNKNOWN, WordPiece, readable, safetensors_header
from jupyter_memory.embedders.cpu_math import LOG2_E
from jupyter_memory.embedders.lifecycle import computing, in_mlx_thread
from jupyter_memory.embedders.mlx_runtime import Tokenise, embedded, mx, nn, on_cpu, read_tensors, shorten
from jupyter_memory.embedders.registry import MODELS, identity
from jupyter_memory.errors import EmbedderUnavailable, InputError
from jupyter_memory.types.protocols import Vectors

# From this many tokens on, the CPU computes the attention of each text by itself: products of this width are fast.
_LONG = 256


@dataclass(frozen=True, slots=True)
class Shape:
    vocabulary: int
    width: int
    layers: int
    heads: int
    inner: int
    token_types: int
    epsilon: float
    positions: int = 0  # as published: these are learnt, with biases and GELU
    # Else positions rotate the halves of queries and keys, the MLP is gated, and there are no biases.
    rotary_base: float | None = None


class Bert(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(shape.vocabulary, shape.width)
        if shape.rotary_base is None:
            self.positions = nn.Embedding(shape.positions, shape.width)
        self.types = nn.Embedding(shape.token_types, shape.width)
        self.norm = _Norm(shape.width, eps=shape.epsilon)
        self.layers = [_Layer(shape) for _ in range(shape.layers)]

    def __call__(self, ids: mx.array, mask: mx.array | None = None) -> mx.array:
        """Return ``(batch, tokens, width)`` for ``(batch, tokens)``; ``mask`` is 1 for tokens and 0 for padding."""
        # Every token is of the first type: a text, not the second half of a pair.
        places = self.types(mx.zeros((1,), mx.int32))
        if "positions" in self:
            places = self.positions.weight[: ids.shape[1]] + places
        hidden: mx.array = self.norm(self.words(ids) + places)
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return hidden


class _Norm(nn.LayerNorm):  # type: ignore[misc]
    def __call__(self, hidden: mx.array) -> mx.array:
        if on_cpu():
            return cpu_math.layer_norm(hidden, self.weight, self.bias, self.eps)
        normal: mx.array = super().__call__(hidden)
        return normal


class _Layer(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention = _Attention(shape)
        self.attention_norm = _Norm(shape.width, eps=shape.epsilon)
        self.mlp = _Mlp(shape)
        self.mlp_norm = _Norm(shape.width, eps=shape.epsilon)

    def __call__(self, hidden: mx.array, mask: mx.array | None) -> mx.array:
        hidden = self.attention_norm(hidden + self.attention(hidden, mask))
        output: mx.array = self.mlp_norm(hidden + self.mlp(hidden))
        return output


class _Mlp(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        gated = shape.rotary_base is not None
        if gated:
            self.gate = nn.Linear(shape.width, shape.inner, bias=False)
        self.up = nn.Linear(shape.width, shape.inner, bias=not gated)
        self.down = nn.Linear(shape.inner, shape.width, bias=not gated)

    def __call__(self, hidden: mx.array) -> mx.array:
        if "gate" in self:
            gate, up = self.gate(hidden), self.up(hidden)
            inner = cpu_math.swiglu(gate, up) if on_cpu() else nn.silu(gate) * up
        else:
            up = self.up(hidden)
            inner = cpu_math.gelu(up) if on_cpu() else nn.gelu(up)
        down: mx.array = self.down(inner)
        return down


class _Attention(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.base = shape.rotary_base
        self.query, self.key, self.value, self.out = (
            nn.Linear(shape.width, shape.width, bias=self.base is None) for _ in range(4)
        )

    def __call__(self, hidden: mx.array, mask: mx.array | None) -> mx.array:
        if on_cpu():
            return self._on_cpu(hidden, mask)
        batch, tokens, width = hidden.shape
        queries, keys, values = (
            project(hidden).reshape(batch, tokens, self.heads, -1).transpose(0, 2, 1, 3)
            for project in (self.query, self.key, self.value)
        )
        if self.base is not None:
            queries, keys = _turned(queries, self.base), _turned(keys, self.base)
        allowed = None if mask is None else mask[:, None, None, :].astype(mx.bool_)
        scale = queries.shape[-1] ** -0.5
        found = mx.fast.scaled_dot_product_attention(queries, keys, values, scale=scale, mask=allowed)
        joined: mx.array = self.out(found.transpose(0, 2, 1, 3).reshape(batch, tokens, width))
        return joined

    def _on_cpu(self, hidden: mx.array, mask: mx.array | None = None) -> mx.array:
        batch, tokens, width = hidden.shape
        if batch > 1 and tokens >= _LONG:
            both = (hidden,) if mask is None else (hidden, mask)
            texts = (tuple(array[row : row + 1] for array in both) for row in range(batch))
            return mx.concatenate(cpu_math.in_turn(texts, self._on_cpu))
        columns = hidden.reshape(-1, width).T
        size = width // self.heads
        queries, keys, values = (
            (mx.addmm(one.bias[:, None], one.weight, columns) if "bias" in one else one.weight @ columns).reshape(
                self.heads, size, batch, tokens
            )
            for one in (self.query, self.key, self.value)
        )
        scale = LOG2_E / math.sqrt(size)
        if self.base is None:
            queries = queries * scale
        else:
            queries, keys = cpu_math.rotate(queries, self.base, scale), cpu_math.rotate(keys, self.base)
        joined: mx.array = self.out(cpu_math.attend(queries, keys, values, mask))
        return joined


def _turned(heads: mx.array, base: float) -> mx.array:
    return mx.fast.rope(heads, heads.shape[-1], traditional=False, base=base, scale=1.0, offset=0)


# How a safetensors header calls the types that are written here.
_TYPES = {mx.float16: "F16", mx.float32: "F32", mx.int32: "I32", mx.int64: "I64", mx.uint32: "U32", mx.bool_: "BOOL"}
# Tensors that a message names before it counts the rest.
_SHOWN = 4


def check_length(file: Path) -> None:
    """Refuse a file that is shorter than its header says; the error names the missing tensors."""
    size = file.stat().st_size
    try:
        begin, tensors = safetensors_header(file)
        ends = {name: begin + tensor["data_offsets"][1] for name, tensor in tensors.items()}
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
    """Write the tensors of a folder into one safetensors file, in half precision."""
    # By hand, as MLX writes all at once and says nothing when the disk is full.
    tensors: dict[str, mx.array] = {}
    for part in sorted(source.glob("*.safetensors")):
        tensors |= read_tensors(part)
    entries: dict[str, object] = {"__metadata__": {"format": "mlx"}}
    end = 0
    for name, value in tensors.items():
        kind = mx.float16 if mx.issubdtype(value.dtype, mx.floating) else value.dtype
        start, end = end, end + value.size * kind.size
        entries[name] = {"dtype": _TYPES[kind], "shape": list(value.shape), "data_offsets": [start, end]}
    header = json.dumps(entries, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)

    with file.open("wb") as opened:
        opened.write(len(header).to_bytes(8, "little") + header)
        for name in list(tensors):
            # Taken out, so that one tensor at a time is in memory.
            values = _in_half(tensors.pop(name))
            if values.dtype == np.float16 and not np.isfinite(values).all():
                raise EmbedderUnavailable(
                    f"The weights in {source} cannot be kept in half precision: {name} has values above 65,504."
                )
            opened.write(values.data)
            moved(values.nbytes)


@in_mlx_thread
def _in_half(value: mx.array) -> NDArray[Any]:
    is_floating = mx.issubdtype(value.dtype, mx.floating)
    return np.ascontiguousarray(value.astype(mx.float16) if is_floating else value)


def some(names: Iterable[str]) -> str:
    """Return the first names, and how many more there are."""
    names = list(names)
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def read_json(file: Path, missing: str) -> Any:
    """Return what a JSON file holds; ``missing`` is the message of the error if there is none."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise EmbedderUnavailable(missing) from error
    except ValueError as broken:
        raise EmbedderUnavailable(f"{file} cannot be read: {broken}. Fetch it again.") from broken


def read_config(folder: Path, family: Family) -> dict[str, Any]:
    """Return the configuration of the model in a folder; one of another architecture is refused."""
    config = read_json(
        folder / "config.json",
        f"There is no model in {folder}: config.json is missing. It should hold config.json, tokenizer.json and "
        f"model.safetensors, as the repository {family.repository} has them.",
    )
    if not isinstance(config, dict) or config.get("model_type") != family.kind:
        found = config.get("model_type") if isinstance(config, dict) else config
        raise EmbedderUnavailable(
            f"The model in {folder} is of the type {found!r}, not {family.kind}. Other types: model use mlx:FOLDER"
        )
    for key, written in family.expected.items():
        allowed = [None if one == "null" else one for one in written]
        if config.get(key, allowed[0]) not in allowed:
            raise EmbedderUnavailable(
                f"The model in {folder} cannot run here: its config.json says {key} is {config[key]!r}, "
                f"and this architecture has {allowed[0]!r}."
            )
    return config


def fill(model: nn.Module, weights: Mapping[str, mx.array], config: Mapping[str, Any], folder: Path) -> None:
    """Give a model its weights, in float32 on the CPU; those of another model, or damaged ones, are named."""
    expected = dict(nn.utils.tree_flatten(model.parameters()))
    quantised = {name.removesuffix(".scales") for name in weights if name.endswith(".scales")}
    how: Any = config.get("quantization")
    if quantised and how is None:
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
    ][:_SHOWN]
    if problems:
        raise EmbedderUnavailable(
            f"The weights in {folder} are not those of the model in its config.json; {'; '.join(problems)}."
        )

    if on_cpu():
        plain = {name: value for name, value in weights.items() if not name.endswith((".scales", ".biases"))}
        for layer in quantised:
            weight, scales, biases = (weights[f"{layer}.{part}"] for part in ("weight", "scales", "biases"))
            sizes = {"group_size": how["group_size"], "bits": how["bits"]}
            plain[f"{layer}.weight"] = mx.dequantize(weight, scales, biases, **sizes)
        weights = {name: value.astype(mx.float32) for name, value in plain.items()}
    else:
        floating = {name for name, value in weights.items() if mx.issubdtype(value.dtype, mx.floating)}
        weights = {name: value.astype(mx.float16) if name in floating else value for name, value in weights.items()}
        if how is not None:
            scaled = lambda path, _: f"{path}.scales" in weights  # noqa: E731
            nn.quantize(model, group_size=how["group_size"], bits=how["bits"], class_predicate=scaled)
    model.load_weights(list(weights.items()))
    mx.eval(model.parameters())
    sums = mx.stack([mx.sum(value.astype(mx.float32)) for value in weights.values()])
    broken = [name for name, good in zip(weights, np.isfinite(np.asarray(sums)), strict=True) if not good]
    if broken:
        raise EmbedderUnavailable(
            f"The weights in {folder} are damaged: {some(broken)} has values that are not numbers. Fetch them again."
        )
    mx.clear_cache()


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


def read_tokenizer(folder: Path, known: int, most: int) -> Tokenise:
    """Return the tokenizer of a model whose weights know so many tokens, and which reads ``most`` with two marks."""
    file = folder / "tokenizer.json"
    missing = f"The tokenizer is missing in {folder}: copy tokenizer.json of the model's repository there."
    vocabulary = _vocabulary(read_json(file, missing))
    if not {UNKNOWN, _BEGIN, _END} <= vocabulary.keys():
        raise EmbedderUnavailable(
            f"{file} is not the tokenizer of an uncased BERT, which this model needs. Fetch it again, or use the model "
            "with mlx-embeddings: model use mlx:FOLDER"
        )
    if len(vocabulary) > known:
        raise EmbedderUnavailable(
            f"{file} is not this model's: it knows {len(vocabulary):,} tokens, the weights {known:,}."
        )
    pieces, begin, end = WordPiece(list(vocabulary)), vocabulary[_BEGIN], vocabulary[_END]

    def token_ids(texts: Sequence[str]) -> list[list[int]]:
        found = pieces.tokens([readable(text[: _CHARACTERS * most]) for text in texts])
        starts = found.ends - found.counts
        lasts = [min(stop, start + most - 2) for start, stop in zip(starts, found.ends, strict=True)]
        return [[begin, *found.ids[start:last].tolist(), end] for start, last in zip(starts, lasts, strict=True)]

    return token_ids


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


@dataclass(frozen=True, slots=True)
class Family:
    """Models of one architecture, as ``bert.toml`` describes them."""

    kind: str
    repository: str
    tokens: int
    parts: int
    expected: Mapping[str, Sequence[object]]
    sizes: Mapping[str, Sequence[str]]
    usual: Mapping[str, Any]
    names: Mapping[str, str]
    unused: str
    made: Sequence[str]
    query: str = ""
    document: str = ""
    layer_norm: bool = False


_FAMILIES = {
    name: Family(**row) for name, row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}
_NOMIC = _FAMILIES["nomic"]
_STACKED = re.compile(r"\.Wqkv\.")


@in_mlx_thread
def read_model(folder: Path, family: Family = _NOMIC) -> Bert:
    config = read_config(folder, family)
    shape = shape_in(config, family)
    if shape.width % (family.parts * shape.heads):
        raise EmbedderUnavailable(
            f"{folder / 'config.json'} is wrong: {shape.width} values cannot be shared by {shape.heads} heads."
        )
    model = Bert(shape)
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise EmbedderUnavailable(f"There are no weights in {folder}: model.safetensors is missing.")
    tensors: dict[str, mx.array] = {}
    for file in files:
        check_length(file)
        tensors.update(read_tensors(file))
    fill(model, renamed(tensors, family), config, folder)
    return model


def read_folder(folder: Path, family: Family = _NOMIC) -> tuple[Bert, Tokenise]:
    model = read_model(folder, family)
    return model, read_tokenizer(folder, model.shape.vocabulary, family.tokens)


# One model of each, as it takes half a gigabyte.
_OPENED = {name: computing.kept(partial(read_folder, family=family)) for name, family in _FAMILIES.items()}
_revision = lru_cache(maxsize=8)(identity)


def forget_folders() -> None:
    """Load folders again from now on: another model has taken the place of a loaded one."""
    for opened in _OPENED.values():
        opened.cache_clear()
    _revision.cache_clear()


def width_of(folder: Path, kind: str) -> int:
    """Return the length of the vectors of ``"nomic"`` or ``"minilm"`` in a folder; its weights are not read."""
    family = _FAMILIES[kind]
    return shape_in(read_config(folder, family), family).width


def shape_in(config: Mapping[str, Any], family: Family) -> Shape:
    """Return the sizes in a configuration, and the family's for those that it leaves out."""
    said = {**config, **(config.get("rope_parameters") or {})}
    found = [(ours, said.get(theirs)) for ours, words in family.sizes.items() for theirs in words]
    return Shape(**{**family.usual, **{ours: size for ours, size in found if size is not None}})


def renamed(tensors: Mapping[str, mx.array], family: Family) -> dict[str, mx.array]:
    """Return the tensors under the names of `Bert`, stacked ones taken apart."""
    renamed: dict[str, mx.array] = {}
    for name, value in tensors.items():
        for theirs, ours in family.names.items():
            name = re.sub(theirs, ours, name)
        if re.search(family.unused, name):
            continue
        if _STACKED.search(name) and value.shape[0] % 3 == 0:
            for part, one in zip(("query", "key", "value"), mx.split(value, 3, axis=0), strict=True):
                renamed[_STACKED.sub(f".{part}.", name)] = one
        else:
            renamed[name] = value
    return renamed


@dataclass(frozen=True)
class BertEmbedder:
    """Embeds text with ``"nomic"`` or ``"minilm"`` of a folder: config.json, tokenizer.json and ``*.safetensors``."""

    name: str
    path: Path
    dimensions: int = 0
    threshold: ClassVar[float] = 0.3

    def __post_init__(self) -> None:
        sizes, given = MODELS[self.name].dimensions, self.dimensions or MODELS[self.name].default
        object.__setattr__(self, "path", Path(self.path))
        if len(sizes) == 1:
            given = width_of(self.path, self.name)
        elif given not in sizes:
            allowed = ", ".join(map(str, sizes))
            raise InputError(f"The {self.name} model has {allowed} dimensions, not {given}.")
        object.__setattr__(self, "dimensions", given)

    @cached_property
    def fingerprint(self) -> str:
        made = _FAMILIES[self.name].made
        return f"{made[0]}-{_revision(self.path)}/d{self.dimensions}/{made[1]}/{RECIPE}"

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        return self._embed([_FAMILIES[self.name].document + text for text in texts])

    def embed_query(self, text: str, /) -> Vectors:
        vector: Vectors = self._embed([_FAMILIES[self.name].query + text])[0]
        return vector

    def _embed(self, texts: Sequence[str]) -> Vectors:
        def finish(means: mx.array) -> mx.array:
            # As the model card says, the mean is normalised before it is cut.
            means = mx.fast.layer_norm(means, None, None, 1e-5) if _FAMILIES[self.name].layer_norm else means
            return shorten(means, self.dimensions)

        with computing:
            model, tokenise = _OPENED[self.name](self.path)
            compute = partial(_means, model) if on_cpu() else _compiled(model)
            return embedded(texts, self.dimensions, tokenise, compute, finish)


@computing.kept
def _compiled(model: Bert) -> Any:
    return mx.compile(lambda ids, mask: _means(model, ids, mask))


def _means(model: Bert, ids: mx.array, mask: mx.array | None) -> mx.array:
    hidden = model(ids, mask).astype(mx.float32)
    if mask is None:
        return mx.mean(hidden, axis=1)
    mask = mask[:, :, None]
    return mx.sum(hidden * mask, axis=1) / mx.sum(mask, axis=1)
