"""A nomic model's folder, opened once for all embedders of a process."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from tokenizers import Tokenizer

from jupyter_memory.embedders.nomic_bert import NomicBert
from jupyter_memory.embedders.nomic_weights import load_nomic_bert
from jupyter_memory.embedders.readable import readable
from jupyter_memory.errors import EmbedderUnavailable

# The positions that the model was trained on; what a text has more is cut off.
MAX_TOKENS = 2_048
# Few tokens are longer than this many characters, and the tokenizer needs about 100 bytes for each.
_MAX_CHARACTERS = 40 * MAX_TOKENS
# Parts of a file that tell it from another: 256 pages spread over it.
_PAGES = 256
_PAGE = 4_096


# One model: half a gigabyte is not kept twice.
@lru_cache(maxsize=1)
def open_folder(folder: Path) -> tuple[NomicBert, Tokenizer]:
    """Return the model and its tokenizer.

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
    # The tokenizer raises nothing more exact.
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
    """Return 12 digits that change with the weights: a digest of 256 pages of each file.

    Raises:
        EmbedderUnavailable: there are no weights.
    """
    digest = hashlib.sha256()
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise EmbedderUnavailable(f"There are no weights in {folder}: model.safetensors is missing.")
    for file in files:
        size = file.stat().st_size
        digest.update(f"{file.name} {size}\n".encode())
        with file.open("rb") as opened:
            for page in range(_PAGES):
                opened.seek(page * size // _PAGES)
                digest.update(opened.read(_PAGE))
    return digest.hexdigest()[:12]
