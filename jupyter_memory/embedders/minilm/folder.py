"""Open the folder of all-MiniLM-L6-v2, once for all embedders of a process."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jupyter_memory.embedders.bert.tokenizer import BertTokenizer, read_tokenizer
from jupyter_memory.embedders.download import manifest
from jupyter_memory.embedders.minilm.bert import Bert
from jupyter_memory.embedders.minilm.weights import load_bert
from jupyter_memory.embedders.runtime.lifecycle import computing
from jupyter_memory.errors import EmbedderUnavailable

# As published: of a longer text, the beginning counts.
MAX_TOKENS = 256


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
