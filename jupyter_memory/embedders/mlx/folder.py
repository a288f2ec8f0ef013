"""Open a model's folder with mlx-embeddings, once for all embedders of a process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from jupyter_memory.embedders.checked import readable
from jupyter_memory.embedders.mlx.pooling import dense_layer, pool
from jupyter_memory.embedders.mlx.sentence_recipe import DENSE_INSIDE, Recipe, first_line
from jupyter_memory.embedders.runtime.lifecycle import computing
from jupyter_memory.embedders.runtime.mlx import mx
from jupyter_memory.embedders.runtime.mlx_thread import in_mlx_thread
from jupyter_memory.embedders.runtime.safetensors import check_length
from jupyter_memory.errors import EmbedderUnavailable

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
    from jupyter_memory.embedders.mlx import architectures

    model = architectures.load(folder, recipe)
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
    vectors = pool(_hidden(model, ids, mask, recipe.kind), mask, recipe.pooling)
    for layer in dense:
        vectors = layer(vectors)
    return vectors


def _hidden(model: Any, ids: mx.array, mask: mx.array, kind: str) -> mx.array:
    """Return the vectors of all tokens, ``(rows, tokens, width)``."""
    # The whole model returns what it has already pooled, or pools on the way.
    if kind == "modernbert":
        found: mx.array = model.model(ids, attention_mask=mask)["last_hidden_state"]
    elif kind == "qwen3":
        found = model.model(ids, attention_mask=mask)
    else:
        found = model(ids, attention_mask=mask).last_hidden_state
    return found


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
