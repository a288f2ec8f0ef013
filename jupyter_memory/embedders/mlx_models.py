"""Any embedding model that mlx-embeddings can load."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from jupyter_memory.embedders.base import readable
from jupyter_memory.embedders.bert_weights import check_length, read_tensors
from jupyter_memory.embedders.download import cache
from jupyter_memory.embedders.lifecycle import clear_cache, computing, in_mlx_thread
from jupyter_memory.embedders.mlx import mx, nn
from jupyter_memory.embedders.mlx_recipe import DENSE_INSIDE, UNREADABLE, Recipe, first_line, read_recipe
from jupyter_memory.embedders.mlx_runtime import batches, in_batches, shorten, slots
from jupyter_memory.errors import EmbedderUnavailable, InputError, UnknownEmbedder
from jupyter_memory.types.protocols import Vectors

# Make one vector from the vectors of a text's tokens: pooling as in sentence-transformers, then dense layers.


def pool(hidden: mx.array, mask: mx.array, modes: Sequence[str]) -> mx.array:
    """Return float32 ``(rows, len(modes) * width)`` for ``hidden`` of ``(rows, tokens, width)``.

    ``mask``, float32 ``(rows, tokens)``, is 1 for tokens and 0 for the padding behind them. Source of the formulas:
    sentence_transformers' Pooling module.
    """
    hidden = hidden.astype(mx.float32)
    return mx.concatenate([_POOLS[mode](hidden, mask[:, :, None]) for mode in modes], axis=-1)


def dense_layer(folder: Path) -> Callable[[mx.array], mx.array]:
    """Return the layer of a Dense module.

    Raises:
        EmbedderUnavailable: its files are missing or damaged.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = read_tensors(folder / "model.safetensors")
        values = [(name.removeprefix("linear."), value.astype(mx.float32)) for name, value in weights.items()]
        layer = nn.Linear(config["in_features"], config["out_features"], bias=bool(config.get("bias", True)))
        layer.load_weights(values)
        activation = _ACTIVATIONS[str(config.get("activation_function", "Tanh")).rpartition(".")[2]]
    except UNREADABLE as broken:
        raise EmbedderUnavailable(
            f"The dense layer in {folder} cannot be read: {first_line(broken)}. Fetch it again, with its "
            "model.safetensors."
        ) from broken
    mx.eval(layer.parameters())
    return lambda vectors: activation(layer(vectors))


def _cls(hidden: mx.array, mask: mx.array) -> mx.array:
    return hidden[:, 0]


def _max(hidden: mx.array, mask: mx.array) -> mx.array:
    return mx.max(mx.where(mask > 0, hidden, -float("inf")), axis=1)


def _mean(hidden: mx.array, mask: mx.array) -> mx.array:
    return mx.sum(hidden * mask, axis=1) / mx.sum(mask, axis=1)


def _mean_sqrt(hidden: mx.array, mask: mx.array) -> mx.array:
    return mx.sum(hidden * mask, axis=1) / mx.sqrt(mx.sum(mask, axis=1))


def _weighted(hidden: mx.array, mask: mx.array) -> mx.array:
    return _mean(hidden, mask * mx.arange(1, hidden.shape[1] + 1)[None, :, None])


def _last(hidden: mx.array, mask: mx.array) -> mx.array:
    last = mx.sum(mask, axis=1, keepdims=True).astype(mx.int32) - 1
    return mx.take_along_axis(hidden, last, axis=1)[:, 0]


_POOLS: dict[str, Callable[[mx.array, mx.array], mx.array]] = {
    "cls": _cls,
    "max": _max,
    "mean": _mean,
    "mean_sqrt": _mean_sqrt,
    "weighted": _weighted,
    "last": _last,
}
_ACTIVATIONS: dict[str, Callable[[mx.array], mx.array]] = {
    "Identity": lambda x: x,
    "Tanh": mx.tanh,
    "ReLU": lambda x: mx.maximum(x, 0),
    "Sigmoid": mx.sigmoid,
}

# Open a model's folder with mlx-embeddings, once for all embedders of a process.

# Few tokens are longer than this many characters, and the tokenizer needs about 100 bytes for each.
_MAX_CHARACTERS = 81_920


@dataclass(frozen=True)
class Opened:
    """A model that is ready: its tokenizer, and token ids to vectors.

    ``vectors`` takes int ids and a float32 mask, both ``(rows, tokens)``, the mask None where nothing is padding, and
    returns float32 ``(rows, width)``, not yet cut or of length 1.
    """

    tokenizer: Tokenizer
    vectors: Callable[[mx.array, mx.array | None], mx.array]


# One model, as it may take gigabytes.
@computing.kept
@in_mlx_thread
def open_mlx_folder(folder: Path, recipe: Recipe) -> Opened:
    """Return the model of a folder.

    Raises:
        EmbedderUnavailable: a file is missing or damaged, or mlx-embeddings cannot run such a model.
    """
    for file in folder.glob("**/*.safetensors"):
        check_length(file)
    # Imported late: mlx-embeddings comes with an extra.
    from jupyter_memory.embedders import mlx_architectures

    model = mlx_architectures.load(folder, recipe)
    dense = [] if recipe.kind in DENSE_INSIDE else [dense_layer(folder / name) for name in recipe.dense]
    vectors = partial(_vectors, model=model, dense=dense, recipe=recipe)
    return Opened(_tokenizer(folder, recipe.max_tokens), vectors)


def tokenise(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Return the token ids of each text, its beginning and end marked where the tokenizer does so."""
    encodings = tokenizer.encode_batch_fast([readable(text[:_MAX_CHARACTERS]) for text in texts])
    return [encoding.ids for encoding in encodings]


def _vectors(ids: mx.array, mask: mx.array | None, *, model: Any, dense: Sequence[Any], recipe: Recipe) -> mx.array:
    mask = mx.ones(ids.shape) if mask is None else mask
    if recipe.kind in DENSE_INSIDE:
        inside: mx.array = model(ids, attention_mask=mask).text_embeds.astype(mx.float32)
        return inside
    # The whole model returns what it has already pooled, or pools on the way.
    if recipe.kind == "modernbert":
        found: mx.array = model.model(ids, attention_mask=mask)["last_hidden_state"]
    elif recipe.kind == "qwen3":
        found = model.model(ids, attention_mask=mask)
    else:
        found = model(ids, attention_mask=mask).last_hidden_state
    vectors = pool(found, mask, recipe.pooling)

    for layer in dense:
        vectors = layer(vectors)
    return vectors


def _tokenizer(folder: Path, max_tokens: int) -> Tokenizer:
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
            f"The tokenizer in {folder} cannot be read: {first_line(broken)}. Fetch it again."
        ) from broken
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


PREFIX = "mlx:"

# Files that decide a vector, besides the weights.
_RECIPE_FILES = ("*.json", "*/config.json", "vocab.txt", "*.model")
_OWN = ("manifest.json",)
# Counts up when the text that an embedder receives is composed in another way.
_RECIPE = "ctx1"
_BLOCK = 1_024


@dataclass(frozen=True)
class MlxEmbedder:
    """Embeds text with the model of a folder, which looks as in its repository; mlx-embeddings computes it.

    The first text loads the files, once for all embedders of a process.

    Raises:
        EmbedderUnavailable: a file is missing, or requires something that is not supported here.
        InputError: the model cannot be cut to these dimensions.
    """

    name: str
    path: Path
    dimensions: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        object.__setattr__(self, "dimensions", self.dimensions or self.recipe.width)
        _check_size(self.name, self.dimensions, self.recipe)

    @cached_property
    def recipe(self) -> Recipe:
        """Return what the model's files say of pooling, prefixes and sizes."""
        return read_recipe(self.path)

    @property
    def threshold(self) -> float:
        """Return 0: how alike two unrelated texts look is every model's own, and nobody has measured it."""
        return 0.0

    @cached_property
    def fingerprint(self) -> str:
        """Return what decides a vector: model, weights, dimensions, and every file that says how texts are treated.

        Raises:
            EmbedderUnavailable: there are no weights.
        """
        weights = cache.weights_identity(self.path)
        if not weights:
            raise EmbedderUnavailable(f"There are no weights in {self.path}: model.safetensors is missing.")
        files = sorted(file for pattern in _RECIPE_FILES for file in self.path.glob(pattern) if file.name not in _OWN)
        digest = hashlib.sha256()
        for folder in self.recipe.dense:
            digest.update(cache.weights_identity(self.path / folder).encode())
        for file in files:
            digest.update(f"\0{file.relative_to(self.path)}\0".encode() + file.read_bytes())
        pooling = "+".join(self.recipe.pooling)
        return f"mlx-{self.recipe.kind}-{weights}/d{self.dimensions}/{pooling}/{digest.hexdigest()[:12]}/{_RECIPE}"

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """Return float32 ``(len(texts), dimensions)``, each row of length 1; of a long text the beginning counts.

        Raises:
            EmbedderUnavailable: the model's files are missing, damaged or of a kind that mlx-embeddings cannot run.
            EmbedderError: a vector has no direction.
        """
        return self._embed(self.recipe.document_prefix, texts)

    def embed_query(self, text: str, /) -> Vectors:
        """Return float32 ``(dimensions,)`` of length 1.

        Raises:
            EmbedderUnavailable: the model's files are missing, damaged or of a kind that mlx-embeddings cannot run.
            EmbedderError: the vector has no direction.
        """
        vector: Vectors = self._embed(self.recipe.query_prefix, [text])[0]
        return vector

    def _embed(self, prefix: str, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        with computing:
            opened = open_mlx_folder(self.path, self.recipe)
            for start in range(0, len(texts), _BLOCK):
                some = [prefix + text for text in texts[start : start + _BLOCK]]
                some = [text.lower() for text in some] if self.recipe.lower else some
                # A tokenizer that marks neither beginning nor end returns no tokens for an empty text.
                token_ids = [ids or [self.recipe.padding] for ids in tokenise(opened.tokenizer, some)]
                grouped = batches([len(ids) for ids in token_ids], slots())
                finish = partial(shorten, dimensions=self.dimensions)
                for batch, found in in_batches(opened.vectors, token_ids, grouped, finish, self.recipe.padding):
                    vectors[[start + row for row in batch.rows]] = found
            clear_cache()
        return vectors


def open_mlx(name: str, dimensions: int | None = None) -> MlxEmbedder:
    """Return the embedder of ``"mlx:FOLDER"``, or of ``"mlx:owner/repository"`` if that has been fetched.

    Nothing is fetched: a repository must be in the hub's cache on this machine.

    Raises:
        EmbedderUnavailable: mlx-embeddings is not installed, or the model is not here.
        UnknownEmbedder: the name is empty.
        InputError: the model cannot be cut to these dimensions.
    """
    given = name.removeprefix(PREFIX).strip()
    if not given:
        raise UnknownEmbedder('Say which model: "mlx:FOLDER" or "mlx:owner/repository".')
    if find_spec("mlx_embeddings") is None:
        raise EmbedderUnavailable(
            f"The model {name!r} needs mlx-embeddings. Install it with: pip install 'jupyter-memory[models]'"
        )

    folder = Path(given).expanduser()
    if folder.is_dir():
        folder = folder.resolve()
        return MlxEmbedder(f"{PREFIX}{folder}", folder, dimensions or 0)
    return MlxEmbedder(f"{PREFIX}{given}", _cached(given), dimensions or 0)


def _cached(repository: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(repository, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError) as missing:
        raise EmbedderUnavailable(
            f"{PREFIX}{repository} is not on this machine: there is no folder of this name, and the hub's cache does "
            "not hold it. Nothing is fetched for you, as nobody here knows its size and its licence. Look at "
            f"https://huggingface.co/{repository}, fetch it yourself with: hf download {repository}, and type the same "
            "again."
        ) from missing


def _check_size(name: str, dimensions: int, recipe: Recipe) -> None:
    if dimensions == recipe.width:
        return
    if not 1 <= dimensions < recipe.width or recipe.sizes is None or (recipe.sizes and dimensions not in recipe.sizes):
        sizes = sorted({recipe.width, *(recipe.sizes or ())}, reverse=True)
        known = f"{', '.join(map(str, sizes))}" + (" or fewer" if recipe.sizes == () else "")
        raise InputError(f"The model {name!r} has {known} dimensions, not {dimensions}.")
