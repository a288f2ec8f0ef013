"""Make the small BERT of the tests, with what transformers computes with it.

    pip install -e '.[reference]'
    python scripts/make_minilm_small.py

Writes tests/embedders/minilm_small: config.json, model.safetensors (transformers' names, float32), tokenizer.json (the
one of nomic_small) and expected.json (ids and token vectors of some texts, in float32 by torch).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

TESTS = Path(__file__).parents[1] / "tests" / "embedders"
FOLDER = TESTS / "minilm_small"
TEXTS = (
    "how did we normalise the prices",
    "We scaled the electricity prices to zero mean and unit variance before fitting the forecast.",
    "The λ of the Poisson model is 3.2 orders an hour; at night it falls to 0.4.",
    "Sales in Zürich rose by four percent after the price cut, in Genève they fell.",
    "",
)


def main() -> None:
    torch.manual_seed(21)
    model = BertModel(
        BertConfig(
            vocab_size=188,
            hidden_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            max_position_embeddings=256,
            initializer_range=0.3,
        )
    ).eval()
    # Norms and biases that do nothing would hide that they are mixed up.
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name.lower() or name.endswith("bias"):
                parameter.add_(torch.randn_like(parameter) * 0.3)
    model.save_pretrained(FOLDER)
    shutil.copy(TESTS / "nomic_small" / "tokenizer.json", FOLDER)
    made = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    expected = []
    for text in TEXTS:
        ids = made.encode(text).ids
        with torch.inference_mode():
            hidden = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
        expected.append({"text": text, "ids": ids, "tokens": _rounded(hidden)})
    (FOLDER / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n")


def _rounded(values: torch.Tensor) -> list[object]:
    return json.loads(json.dumps(values.tolist()), parse_float=lambda digits: round(float(digits), 6))


if __name__ == "__main__":
    main()
