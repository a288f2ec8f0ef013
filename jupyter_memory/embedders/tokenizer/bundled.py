"""The bundled static model's files: found in this package, checked; and its tokenizer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.tokenizer.tokens import Tokens
from jupyter_memory.embedders.tokenizer.wordpiece import UNKNOWN, WordPiece
from jupyter_memory.errors import EmbedderUnavailable

_FOLDER = Path(__file__).parents[1] / "bundled"
# (name, sha256)
_FILES = {
    "weights": ("weights.safetensors", "6b3a92efaa7ca9620b977558a112802d69ec6d03b3d9709480bbdb0c6acf3e6e"),
    "vocabulary": ("vocabulary.txt", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
}
# The first digits of the weights' sha256, for the fingerprint of vectors.
WEIGHTS = _FILES["weights"][1][:8]


@cache
def bundled_file(which: str) -> Path:
    """Return the path of ``"weights"`` or ``"vocabulary"``, its content checked.

    Raises:
        EmbedderUnavailable: the file is missing, or not the one that this version was made for.
    """
    name, sha256 = _FILES[which]
    path = _FOLDER / name
    try:
        if hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
            return path
        problem = _cut_short(path) or "is not the expected one: its content differs (sha256)"
    except OSError as error:
        problem = "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
    raise EmbedderUnavailable(
        f"The static model's file {path.name} {problem}. Install it again with: "
        "pip install --force-reinstall --no-deps jupyter-memory"
    )


def _cut_short(path: Path) -> str:
    """Say how much of a safetensors file is there, if its end is missing."""
    size = path.stat().st_size
    try:
        begin, tensor = _header(path)
        whole = begin + tensor["data_offsets"][1]
    except (ValueError, KeyError, TypeError):
        return ""
    return f"is cut short: it has {size:,} of {whole:,} bytes" if size < whole else ""


def _header(path: Path) -> tuple[int, dict[str, list[int]]]:
    """Return where the tensors of a safetensors file begin, and what its header says of the only one."""
    with path.open("rb") as file:
        # The length of a JSON header, the header, the tensors (https://github.com/huggingface/safetensors).
        size = int.from_bytes(file.read(8), "little")
        if size > path.stat().st_size:
            raise ValueError("the header is cut short")
        [tensor] = (one for name, one in json.loads(file.read(size)).items() if name != "__metadata__")
    return 8 + size, tensor


def half_precision(path: Path) -> NDArray[np.float16]:
    """Return the table of a checked file in half precision; rows are read from the disk as they are asked for."""
    begin, tensor = _header(path)
    rows, width = tensor["shape"]
    return np.memmap(path, np.float16, "r", begin + tensor["data_offsets"][0], (rows, width))


@cache
def bundled_tokenizer() -> WordPiece:
    """Return the static model's tokenizer; chunks are counted in its tokens whatever the embedding model.

    Raises:
        EmbedderUnavailable: the vocabulary is missing or damaged.
    """
    return WordPiece(_vocabulary(), part_camel=True)


@cache
def unknown() -> int:
    """Return the token that stands for a text without words."""
    return _vocabulary().index(UNKNOWN)


def _vocabulary() -> list[str]:
    return bundled_file("vocabulary").read_text("utf-8").splitlines()


def tokens(texts: Iterable[str]) -> Tokens:
    """Return the tokens of texts; one without words has none.

    Raises:
        EmbedderUnavailable: the vocabulary is missing or damaged.
    """
    return bundled_tokenizer().tokens(texts)


def starts(text: str) -> NDArray[np.int64]:
    """Return the offset at which each token of a text begins.

    Raises:
        EmbedderUnavailable: the vocabulary is missing or damaged.
    """
    return bundled_tokenizer().starts(text)
