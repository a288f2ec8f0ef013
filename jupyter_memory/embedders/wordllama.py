"""The former static model: the table of the package wordllama, for stores that still have its vectors.

It needs the extra ``wordllama``: that package, for its files alone, and tokenizers.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from tokenizers import Tokenizer

from jupyter_memory.embedders.checked import readable
from jupyter_memory.embedders.runtime.arithmetic import load_table
from jupyter_memory.embedders.runtime.token_table import TokenTable
from jupyter_memory.embedders.static import vectors_of
from jupyter_memory.embedders.tokenizer.bundled import checked_file
from jupyter_memory.embedders.tokenizer.tokens import Tokens
from jupyter_memory.protocols import Vectors

# The cosines below which a hit is noise, as benchmarks/threshold.py measured them.
_THRESHOLDS = {256: 0.21, 128: 0.24, 64: 0.25}
_WEIGHTS = (
    "weights/l2_supercat_256.safetensors",
    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
)
_TOKENIZER = (
    "tokenizers/l2_supercat_tokenizer_config.json",
    "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
)
# Texts whose tokens are held at once, and characters of a text that are read.
_BLOCK, _MOST = 256, 1_000_000
_NOTHING = "<unk>"


@dataclass(frozen=True)
class WordllamaEmbedder:
    """Embeds a text as the mean of its tokens' vectors, cut to 256, 128 or 64 dimensions."""

    dimensions: int = 256
    name: ClassVar[str] = "wordllama"

    @property
    def fingerprint(self) -> str:
        """Return what the vectors of the former static model are known by."""
        return f"static-l2-supercat-{_WEIGHTS[1][:8]}/d{self.dimensions}/mean/ctx1"

    @property
    def threshold(self) -> float:
        """Return the cosine below which a hit is noise."""
        return _THRESHOLDS[self.dimensions]

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """Return float32 ``(len(texts), dimensions)``, each row of length 1; even an empty text has one.

        Raises:
            EmbedderUnavailable: the package's files are missing or damaged.
        """
        blocks = [self._embedded(texts[start : start + _BLOCK]) for start in range(0, len(texts), _BLOCK)]
        return np.concatenate(blocks) if blocks else np.empty((0, self.dimensions), np.float32)

    def embed_query(self, text: str, /) -> Vectors:
        """Return float32 ``(dimensions,)`` of length 1.

        Raises:
            EmbedderUnavailable: the package's files are missing or damaged.
        """
        vector: Vectors = self._embedded([text])[0]
        return vector

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        some = [readable(text[:_MOST]) or _NOTHING for text in texts]
        ids = [encoding.ids for encoding in _tokenizer().encode_batch_fast(some, add_special_tokens=False)]
        found = Tokens(np.concatenate(ids).astype(np.int32), np.cumsum([len(one) for one in ids], dtype=np.int64))
        return vectors_of(_table(), found, self.dimensions, nothing=0)


@cache
def _table() -> TokenTable:
    return load_table(_file(*_WEIGHTS))


@cache
def _tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(_file(*_TOKENIZER)))


def check_files() -> None:
    """Raise ``ImportError`` where the package is missing, ``EmbedderUnavailable`` where its files are damaged."""
    _file(*_WEIGHTS), _file(*_TOKENIZER)


@cache
def _file(relative: str, sha256: str) -> Path:
    # find_spec runs no code of the package, whose import would wake pydantic and requests.
    spec = importlib.util.find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'wordllama'")
    return checked_file(
        Path(spec.origin).parent / relative, sha256, "pip install --force-reinstall --no-deps wordllama"
    )
