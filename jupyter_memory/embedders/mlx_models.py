"""Any embedding model that mlx-embeddings can load."""

from __future__ import annotations

import hashlib
import json
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from tokenizers import Tokenizer

from jupyter_memory.embedders import cpu_math
from jupyter_memory.embedders.base import RECIPE, readable
from jupyter_memory.embedders.bert import check_length, read_json, read_model
from jupyter_memory.embedders.lifecycle import computing, in_mlx_thread
from jupyter_memory.embedders.mlx_runtime import Compute, embedded, mx, nn, on_cpu, read_tensors, shorten
from jupyter_memory.embedders.registry import MLX, weights_identity
from jupyter_memory.errors import EmbedderUnavailable, InputError, UnknownEmbedder
from jupyter_memory.types.protocols import Vectors

# The errors of reading files that mlx-embeddings does not check.
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RuntimeError, OSError)
# A chunk has a few hundred tokens, and attention needs memory for the square of their number.
_MOST_TOKENS = 2_048

# The keys of a Pooling module, in the order in which sentence-transformers joins their results.
_MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt",
    "pooling_mode_weightedmean_tokens": "weighted",
    "pooling_mode_lasttoken": "last",
}
_SHORT = {"mean_sqrt_len_tokens": "mean_sqrt", "weightedmean": "weighted", "lasttoken": "last"}
# The pooling of models without a Pooling module; sentence-transformers takes the mean by default.
_USUAL = {"qwen3": "last"}
# Dense layers that are part of the architecture.
_DENSE_INSIDE = ("gemma3_text",)
_DOCUMENT = ("document", "passage", "corpus")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What happens to a text before and after the transformer."""

    kind: str
    pooling: tuple[str, ...]  # what is joined to one vector
    dense: tuple[str, ...]  # the folders of the layers after it
    query_prefix: str
    document_prefix: str
    max_tokens: int
    lower: bool
    padding: int
    width: int  # of the vector then
    sizes: tuple[int, ...] | None  # that it may be cut to: None where the model does not say, () for any


def read_recipe(folder: Path) -> Recipe:
    config = _json(folder / "config.json", needed=True)
    sentence = _json(folder / "sentence_bert_config.json")
    tokenizer = _json(folder / "tokenizer_config.json")
    kind = str(config.get("model_type", "")).replace("-", "_")
    padding = int(config.get("pad_token_id") or 0)
    pooling, dense, width = _modules(folder, config, kind)

    prefixes = _json(folder / "config_sentence_transformers.json")
    prompts = prefixes.get("prompts") or {}
    usual = prompts.get(prefixes.get("default_prompt_name"), "")
    document = next((prompts[name] for name in _DOCUMENT if name in prompts), usual)

    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and kind == "xlm_roberta":
        # RoBERTa's positions begin after the padding's.
        positions -= 1 + padding
    lengths = (sentence.get("max_seq_length"), tokenizer.get("model_max_length"), positions)
    known = [length for length in lengths if isinstance(length, int) and length > 0]

    listed = config.get("matryoshka_dimensions")
    any_size = () if config.get("is_matryoshka") else None
    return Recipe(
        kind=kind,
        pooling=pooling,
        dense=dense,
        query_prefix=str(prompts.get("query", usual) or ""),
        document_prefix=str(document or ""),
        max_tokens=min([_MOST_TOKENS, *known]),
        lower=bool(sentence.get("do_lower_case")),
        padding=padding,
        width=width,
        sizes=tuple(int(size) for size in listed) if listed else any_size,
    )


def _first_line(error: BaseException) -> str:
    said = str(error).strip().splitlines()
    return said[0].rstrip(".") if said else type(error).__name__


def _modules(folder: Path, config: Mapping[str, Any], kind: str) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    try:
        width = int(config["hidden_size"])
    except (KeyError, TypeError, ValueError):
        _refuse(folder, "its config.json has no hidden_size")
    modes: tuple[str, ...] = ()
    dense: list[str] = []
    normal = False
    for module in _json(folder / "modules.json", is_list=True):
        name, path = str(module.get("type", "")).rpartition(".")[2], str(module.get("path", ""))
        if normal and name in ("Pooling", "Dense"):
            _refuse(folder, f"its modules.json has {name} after Normalize")
        if name == "Pooling":
            modes = _modes(folder, _json(folder / path / "config.json", needed=True))
            width *= len(modes)
        elif name == "Dense":
            dense.append(path)
            width = int(_json(folder / path / "config.json", needed=True).get("out_features", width))
        elif name == "Normalize":
            normal = True
        elif name not in ("Transformer", "Dropout"):
            _refuse(folder, f"its modules.json asks for {name or 'a module without a name'}")
    return modes or (_USUAL.get(kind, "mean"),), tuple(dense), width


def _modes(folder: Path, config: Mapping[str, Any]) -> tuple[str, ...]:
    if named := config.get("pooling_mode"):
        given = [named] if isinstance(named, str) else list(named)
        found = tuple(_SHORT.get(mode, mode) for mode in given)
    else:
        found = tuple(mode for key, mode in _MODES.items() if config.get(key))
    if not found or set(found) - set(_MODES.values()):
        _refuse(folder, f"its pooling is {', '.join(found) or 'not said'}")
    if not config.get("include_prompt", True):
        _refuse(folder, "its pooling leaves out the prompt")
    return found


def _json(file: Path, *, needed: bool = False, is_list: bool = False) -> Any:
    if not needed and not file.exists():
        return [] if is_list else {}
    content = read_json(file, f"There is no model in {file.parent}: {file.name} is missing. Fetch it again.")
    if is_list and not (isinstance(content, list) and all(isinstance(one, dict) for one in content)):
        raise EmbedderUnavailable(f"{file} is not a list of modules. Fetch it again.")
    if not is_list and not isinstance(content, dict):
        raise EmbedderUnavailable(f"{file} must contain a JSON object. Fetch it again.")
    return content


def _refuse(folder: Path, why: str) -> NoReturn:
    raise EmbedderUnavailable(f"The model in {folder} cannot run here: {why}. Take another model.")


def _dense_layer(folder: Path) -> Callable[[mx.array], mx.array]:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = read_tensors(folder / "model.safetensors")
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


def _mean(hidden: mx.array, mask: mx.array) -> mx.array:
    return mx.sum(hidden * mask, axis=1) / mx.sum(mask, axis=1)


# A vector of ``(rows, tokens, width)`` and a mask of ``(rows, tokens, 1)``, 1 for tokens and 0 for the padding behind
# them, by the formulas of sentence_transformers' Pooling module.
_POOLS: dict[str, Callable[[mx.array, mx.array], mx.array]] = {
    "cls": lambda hidden, mask: hidden[:, 0],
    "max": lambda hidden, mask: mx.max(mx.where(mask > 0, hidden, -float("inf")), axis=1),
    "mean": _mean,
    "mean_sqrt": lambda hidden, mask: mx.sum(hidden * mask, axis=1) / mx.sqrt(mx.sum(mask, axis=1)),
    "weighted": lambda hidden, mask: _mean(hidden, mask * mx.arange(1, hidden.shape[1] + 1)[None, :, None]),
    "last": lambda hidden, mask: mx.take_along_axis(
        hidden, mx.sum(mask, axis=1, keepdims=True).astype(mx.int32) - 1, axis=1
    )[:, 0],
}
_ACTIVATIONS: dict[str, Callable[[mx.array], mx.array]] = {
    "Identity": lambda x: x,
    "Tanh": mx.tanh,
    "ReLU": lambda x: mx.maximum(x, 0),
    "Sigmoid": mx.sigmoid,
}

# Models of images, and of a vector for every token.
_NO_TEXT = ("base", "colidefics3", "colqwen2_5", "lfm2", "llama_nemotron_vl", "qwen3_vl", "siglip")


def _load(folder: Path, recipe: Recipe) -> Any:
    if recipe.kind == "nomic_bert":
        return read_model(folder)
    # mlx-embeddings comes with an extra.
    from mlx_embeddings import models, utils

    known = sorted(module.name for module in pkgutil.iter_modules(models.__path__) if module.name not in _NO_TEXT)
    if recipe.kind not in known:
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
    except _UNREADABLE as broken:
        raise EmbedderUnavailable(
            f"mlx-embeddings cannot load the model in {folder}: {_first_line(broken)}. Fetch it again."
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


def _classes(config: Mapping[str, Any]) -> tuple[Any, ...]:
    from mlx_embeddings import utils

    model, *others = utils._get_classes(dict(config))
    kind = str(config["model_type"]).replace("-", "_")
    if kind in _DENSE_INSIDE:
        return (model, *others)

    class WithoutDense(model):  # type: ignore[misc,valid-type]
        # The dense layers of other folders are applied after the pooling.

        def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
            own = {name: value for name, value in weights.items() if not name.partition("_")[0].isdecimal()}
            sane: dict[str, mx.array] = super().sanitize(own)
            return sane

    return (WithoutDense, *others)


# Few tokens are longer than this many characters, and the tokenizer needs about 100 bytes for each.
_MAX_CHARACTERS = 81_920


# One model, as it may take gigabytes.
@computing.kept
@in_mlx_thread
def open_mlx_folder(folder: Path, recipe: Recipe) -> tuple[Tokenizer, Compute]:
    """Return the tokenizer of a folder, and its model, which returns vectors that are not yet cut or of length 1."""
    for file in folder.glob("**/*.safetensors"):
        check_length(file)
    model = _load(folder, recipe)
    dense = [] if recipe.kind in _DENSE_INSIDE else [_dense_layer(folder / name) for name in recipe.dense]

    def vectors(ids: mx.array, mask: mx.array | None) -> mx.array:
        mask = mx.ones(ids.shape) if mask is None else mask
        if recipe.kind in _DENSE_INSIDE:
            inside: mx.array = model(ids, attention_mask=mask).text_embeds.astype(mx.float32)
            return inside
        # The whole model returns what it has already pooled, or pools on the way.
        if recipe.kind == "modernbert":
            hidden: mx.array = model.model(ids, attention_mask=mask)["last_hidden_state"]
        elif recipe.kind == "qwen3":
            hidden = model.model(ids, attention_mask=mask)
        elif recipe.kind == "nomic_bert":
            hidden = model(ids, mask)
        else:
            hidden = model(ids, attention_mask=mask).last_hidden_state
        hidden = hidden.astype(mx.float32)
        found = mx.concatenate([_POOLS[mode](hidden, mask[:, :, None]) for mode in recipe.pooling], axis=-1)
        for layer in dense:
            found = layer(found)
        return found

    file = folder / "tokenizer.json"
    try:
        if file.is_file():
            tokenizer = Tokenizer.from_file(str(file))
        else:
            from transformers import AutoTokenizer

            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True).backend_tokenizer
    # The tokenizers raise no more specific error.
    except Exception as broken:
        raise EmbedderUnavailable(
            f"The tokenizer in {folder} cannot be read: {_first_line(broken)}. Fetch it again."
        ) from broken
    tokenizer.no_padding()
    tokenizer.enable_truncation(recipe.max_tokens)
    return tokenizer, vectors


# Files that decide a vector, besides the weights.
_RECIPE_FILES = ("*.json", "*/config.json", "vocab.txt", "*.model")


@dataclass(frozen=True)
class MlxEmbedder:
    """Embeds text with the model of a folder, which looks as in its repository; mlx-embeddings computes it."""

    name: str
    path: Path
    dimensions: int = 0
    # How alike two unrelated texts look differs by model, and was not measured.
    threshold: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        object.__setattr__(self, "dimensions", self.dimensions or self.recipe.width)
        width, sizes = self.recipe.width, self.recipe.sizes
        is_cut = sizes is not None and 1 <= self.dimensions < width and (not sizes or self.dimensions in sizes)
        if self.dimensions != width and not is_cut:
            known = ", ".join(map(str, sorted({width, *(sizes or ())}, reverse=True)))
            fewer = " or fewer" if sizes == () else ""
            raise InputError(f"The model {self.name!r} has {known}{fewer} dimensions, not {self.dimensions}.")

    @cached_property
    def recipe(self) -> Recipe:
        return read_recipe(self.path)

    @cached_property
    def fingerprint(self) -> str:
        weights = weights_identity(self.path)
        if not weights:
            raise EmbedderUnavailable(f"There are no weights in {self.path}: model.safetensors is missing.")
        files = {file for pattern in _RECIPE_FILES for file in self.path.glob(pattern)} - {self.path / "manifest.json"}
        digest = hashlib.sha256()
        for folder in self.recipe.dense:
            digest.update(weights_identity(self.path / folder).encode())
        for file in sorted(files):
            digest.update(f"\0{file.relative_to(self.path)}\0".encode() + file.read_bytes())
        pooling = "+".join(self.recipe.pooling)
        return f"mlx-{self.recipe.kind}-{weights}/d{self.dimensions}/{pooling}/{digest.hexdigest()[:12]}/{RECIPE}"

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        return self._embed(self.recipe.document_prefix, texts)

    def embed_query(self, text: str, /) -> Vectors:
        vector: Vectors = self._embed(self.recipe.query_prefix, [text])[0]
        return vector

    def _embed(self, prefix: str, texts: Sequence[str]) -> Vectors:
        with computing:
            tokenizer, compute = open_mlx_folder(self.path, self.recipe)

            def tokenise(texts: Sequence[str]) -> list[list[int]]:
                whole = [prefix + text for text in texts]
                whole = [text.lower() for text in whole] if self.recipe.lower else whole
                encoded = tokenizer.encode_batch_fast([readable(text[:_MAX_CHARACTERS]) for text in whole])
                # A tokenizer that marks neither beginning nor end returns no tokens for an empty text.
                return [encoding.ids or [self.recipe.padding] for encoding in encoded]

            finish = partial(shorten, dimensions=self.dimensions)
            return embedded(texts, self.dimensions, tokenise, compute, finish, self.recipe.padding)


def open_mlx(name: str, dimensions: int | None = None) -> MlxEmbedder:
    """Return the embedder of ``"mlx:FOLDER"``, or of ``"mlx:owner/repository"`` if that is in the hub's cache here."""
    given = name.removeprefix(MLX).strip()
    if not given:
        raise UnknownEmbedder('Name a model: "mlx:FOLDER" or "mlx:owner/repository".')
    if find_spec("mlx_embeddings") is None:
        raise EmbedderUnavailable(
            f"The model {name!r} needs mlx-embeddings. Install it with: pip install 'jupyter-memory[models]'"
        )
    folder = Path(given).expanduser()
    if folder.is_dir():
        folder = folder.resolve()
        return MlxEmbedder(f"{MLX}{folder}", folder, dimensions or 0)

    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        cached = Path(snapshot_download(given, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError) as missing:
        raise EmbedderUnavailable(
            f"{MLX}{given} is not on this machine: there is no folder of this name, and the hub's cache does "
            "not hold it. Nothing is fetched for you, as its size and its licence are not known here. Look at "
            f"https://huggingface.co/{given}, fetch it yourself with: hf download {given}, and type the same "
            "again."
        ) from missing
    return MlxEmbedder(f"{MLX}{given}", cached, dimensions or 0)
