"""Texts as token ids, as the product's WordPiece makes them: camelCase parted, lower case, no accents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import BertWordPieceTokenizer

from training.text import parted

UNKNOWN = 100
_STEP = 2_000


@dataclass(frozen=True)
class Tokens:
    """Token ids of several texts: text ``i`` is ``ids[ends[i - 1]:ends[i]]``; each has one token at least."""

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def starts(self) -> NDArray[np.int64]:
        return np.concatenate(([0], self.ends[:-1])).astype(np.int64)

    def chosen(self, rows: NDArray[np.integer]) -> Tokens:
        """Return the tokens of some of the texts, in the order asked for."""
        starts, lengths = self.starts[rows], np.diff(self.ends, prepend=0)[rows]
        ends = np.cumsum(lengths)
        places = np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1] if len(ends) else 0)
        return Tokens(self.ids[places], ends)


class Tokenizer:
    """Makes tokens with a vocabulary file, one token a line; ``longest`` tokens of a text are kept."""

    def __init__(self, vocabulary: Path, longest: int | None = None) -> None:
        self._tokenizer = BertWordPieceTokenizer(str(vocabulary), lowercase=True)
        if longest is not None:
            self._tokenizer.enable_truncation(longest)

    def __call__(self, texts: Sequence[str]) -> Tokens:
        ids: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
        for start in range(0, len(texts), _STEP):
            block = [parted(text) for text in texts[start : start + _STEP]]
            for encoded in self._tokenizer.encode_batch(block, add_special_tokens=False):
                ids.append(np.array(encoded.ids or [UNKNOWN], np.int32))
        return Tokens(np.concatenate(ids), np.cumsum([len(one) for one in ids[1:]], dtype=np.int64))
