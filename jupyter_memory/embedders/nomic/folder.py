"""Open a nomic model's folder, once for all embedders of a process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from tokenizers import Tokenizer

from jupyter_memory.embedders.checked import readable
from jupyter_memory.embedders.download import manifest
from jupyter_memory.embedders.nomic.bert import NomicBert
from jupyter_memory.embedders.nomic.weights import load_nomic_bert
from jupyter_memory.embedders.runtime.lifecycle import computing
from jupyter_memory.errors import EmbedderUnavailable

# The positions that the model was trained on; longer texts are cut.
MAX_TOKENS = 2_048
# Few tokens are longer than this many characters, and the tokenizer needs about 100 bytes for each.
_MAX_CHARACTERS = 40 * MAX_TOKENS


# One model, as it takes half a gigabyte.
@computing.kept
def open_folder(folder: Path) -> tuple[NomicBert, Tokenizer]:
    """Return the model and its tokenizer, loaded once.

    Raises:
        EmbedderUnavailable: a file is missing, damaged or of another model.
    """
    return read_folder(folder)


def read_folder(folder: Path) -> tuple[NomicBert, Tokenizer]:
    """Return the model and its tokenizer, loaded again.

    Raises:
        EmbedderUnavailable: a file is missing, damaged or of another model.
    """
    model = load_nomic_bert(folder)
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise EmbedderUnavailable(
            f"The tokenizer is missing in {folder}: copy tokenizer.json of the model's repository there."
        )
    try:
        tokenizer = Tokenizer.from_file(str(file))
    # The tokenizer raises no more specific error.
    except Exception as broken:
        raise EmbedderUnavailable(f"{file} cannot be read: {broken}. Fetch it again.") from broken
    if tokenizer.get_vocab_size() > model.shape.vocabulary:
        raise EmbedderUnavailable(
            f"{file} is not this model's: it knows {tokenizer.get_vocab_size():,} tokens, "
            f"the weights {model.shape.vocabulary:,}."
        )
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return model, tokenizer


def tokenise(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Return the token ids of each text, its beginning and end marked, at most `MAX_TOKENS` of them."""
    encodings = tokenizer.encode_batch_fast([readable(text[:_MAX_CHARACTERS]) for text in texts])
    return [encoding.ids for encoding in encodings]


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
