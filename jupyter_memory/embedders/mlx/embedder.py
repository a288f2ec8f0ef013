"""Embedders for every model that mlx-embeddings runs, with the pooling, prefixes and sizes that its files name."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from jupyter_memory.embedders.download import manifest
from jupyter_memory.embedders.matryoshka import shorten
from jupyter_memory.embedders.mlx.folder import open_mlx_folder, tokenise
from jupyter_memory.embedders.mlx.sentence_recipe import Recipe, read_recipe
from jupyter_memory.embedders.runtime.batching import batches, in_batches, slots
from jupyter_memory.embedders.runtime.lifecycle import clear_cache, computing
from jupyter_memory.errors import EmbedderUnavailable, InputError, UnknownEmbedder
from jupyter_memory.types.protocols import Vectors

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
        weights = manifest.weights_identity(self.path)
        if not weights:
            raise EmbedderUnavailable(f"There are no weights in {self.path}: model.safetensors is missing.")
        files = sorted(file for pattern in _RECIPE_FILES for file in self.path.glob(pattern) if file.name not in _OWN)
        digest = hashlib.sha256()
        for folder in self.recipe.dense:
            digest.update(manifest.weights_identity(self.path / folder).encode())
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
    _check_extra(name)
    folder = Path(given).expanduser()
    if folder.is_dir():
        folder = folder.resolve()
        return MlxEmbedder(f"{PREFIX}{folder}", folder, dimensions or 0)
    return MlxEmbedder(f"{PREFIX}{given}", _cached(given), dimensions or 0)


def _check_extra(name: str) -> None:
    if find_spec("mlx_embeddings") is None:
        raise EmbedderUnavailable(
            f"The model {name!r} needs mlx-embeddings. Install it with: pip install 'jupyter-memory[models]'"
        )


def _cached(repository: str) -> Path:
    """Return the folder of a repository in the hub's cache."""
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
