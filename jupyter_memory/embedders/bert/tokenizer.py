"""Texts to the token ids of a model, with the vocabulary in its folder, which must be that of an uncased BERT."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_memory.embedders.checked import readable
from jupyter_memory.embedders.tokenizer.wordpiece import UNKNOWN, WordPiece
from jupyter_memory.errors import EmbedderUnavailable

# Few tokens are longer than this many characters.
_CHARACTERS = 40
_BEGIN, _END = "[CLS]", "[SEP]"
# How tokenizer.json describes what `WordPiece` does.
_UNCASED: dict[str, dict[str, Any]] = {
    "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {
        "type": "WordPiece",
        "unk_token": UNKNOWN,
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    },
}


@dataclass(frozen=True)
class BertTokenizer:
    """Marks the beginning and the end of each text; a text is cut to ``most`` tokens, those two included."""

    pieces: WordPiece
    begin: int
    end: int
    most: int

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text."""
        found = self.pieces.tokens([readable(text[: _CHARACTERS * self.most]) for text in texts])
        starts = found.ends - found.counts
        lasts = [min(end, start + self.most - 2) for start, end in zip(starts, found.ends, strict=True)]
        return [
            [self.begin, *found.ids[start:last].tolist(), self.end] for start, last in zip(starts, lasts, strict=True)
        ]


def read_tokenizer(folder: Path, known: int, most: int) -> BertTokenizer:
    """Return the tokenizer of a model whose weights know so many tokens and which reads ``most`` of a text.

    Raises:
        EmbedderUnavailable: tokenizer.json is missing, cannot be read, or is not that of an uncased BERT.
    """
    file = folder / "tokenizer.json"
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as missing:
        raise EmbedderUnavailable(
            f"The tokenizer is missing in {folder}: copy tokenizer.json of the model's repository there."
        ) from missing
    except ValueError as broken:
        raise EmbedderUnavailable(f"{file} cannot be read: {broken}. Fetch it again.") from broken
    vocabulary = _vocabulary(said)
    if not {UNKNOWN, _BEGIN, _END} <= vocabulary.keys():
        raise EmbedderUnavailable(
            f"{file} is not the tokenizer of an uncased BERT, which this model needs. Fetch it again, or use the model "
            "with mlx-embeddings: model use mlx:FOLDER"
        )
    if len(vocabulary) > known:
        raise EmbedderUnavailable(
            f"{file} is not this model's: it knows {len(vocabulary):,} tokens, the weights {known:,}."
        )
    return BertTokenizer(WordPiece(list(vocabulary)), vocabulary[_BEGIN], vocabulary[_END], most)


def _vocabulary(said: Any) -> dict[str, int]:
    """Return the tokens in the order of their numbers; none if it is the file of another tokenizer."""
    if not isinstance(said, dict):
        return {}
    for part, wanted in _UNCASED.items():
        here = said.get(part)
        if not isinstance(here, dict) or any(here.get(key) != value for key, value in wanted.items()):
            return {}
    vocabulary = said["model"].get("vocab")
    keeps_accents = said["normalizer"].get("strip_accents") is False
    if keeps_accents or not isinstance(vocabulary, dict):
        return {}
    in_order = dict(sorted(vocabulary.items(), key=lambda one: one[1]))
    return in_order if list(in_order.values()) == list(range(len(in_order))) else {}
