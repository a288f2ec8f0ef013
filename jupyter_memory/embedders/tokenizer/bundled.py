"""The static model's files, which come inside the package wordllama: found, checked, never imported."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_memory.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# (where the versions of wordllama keep it, size in bytes, sha256)
_FILES = {
    "weights": (
        "weights/l2_supercat_256.safetensors",
        "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    ),
    "tokenizer": (
        "tokenizers/l2_supercat_tokenizer_config.json",
        "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
    ),
}


@cache
def bundled_file(which: str) -> Path:
    """Return the path of ``"weights"`` or ``"tokenizer"``, its content checked.

    Raises:
        EmbedderUnavailable: the package is missing, or the file is not the one that this version was made for.
    """
    relative, sha256 = _FILES[which]
    # find_spec runs no code of the package, whose import would wake pydantic and requests.
    spec = importlib.util.find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise EmbedderUnavailable(
            "The bundled static model is missing: its files come with the package wordllama. "
            "Install it with: pip install wordllama"
        )
    path = Path(spec.origin).parent / relative
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        raise EmbedderUnavailable(
            f"The bundled static model's file {path.name} is missing or not the expected one. "
            "Install it again with: pip install --force-reinstall --no-deps wordllama"
        )
    return path


@cache
def bundled_tokenizer() -> Tokenizer:
    """Return the static model's tokenizer; chunks are counted in its tokens whatever the embedding model."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(bundled_file("tokenizer")))


@cache
def bundled_vocabulary() -> dict[str, int]:
    """Return the tokens' numbers, read without the rest of the tokenizer, which takes far longer to load."""
    content = bundled_file("tokenizer").read_bytes()
    begin = content.index(b"{", content.index(b'"vocab"'))
    vocabulary, _ = json.JSONDecoder().raw_decode(content[begin : content.index(b'"merges"', begin)].decode())
    return dict(vocabulary)
