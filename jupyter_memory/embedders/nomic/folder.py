"""Open a nomic model's folder, once for all embedders of a process."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jupyter_memory.embedders.bert.tokenizer import BertTokenizer, read_tokenizer
from jupyter_memory.embedders.download import manifest
from jupyter_memory.embedders.nomic.bert import NomicBert
from jupyter_memory.embedders.nomic.weights import load_nomic_bert
from jupyter_memory.embedders.runtime.lifecycle import computing
from jupyter_memory.errors import EmbedderUnavailable

# The positions that the model was trained on; longer texts are cut.
MAX_TOKENS = 2_048


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
