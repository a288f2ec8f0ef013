"""Make the small nomic-bert model of the tests, with what transformers computes with it.

    pip install -e '.[reference]'
    python scripts/make_nomic_small.py

Writes tests/embedders/nomic_small: config.json, model.safetensors (the hub's names, float32), tokenizer.json and
expected.json (token vectors and pooled vectors of some texts, in float32 by torch).
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import NomicBertConfig, NomicBertModel

FOLDER = Path(__file__).parents[1] / "tests" / "embedders" / "nomic_small"
TEXTS = (
    "search_query: how did we normalise the prices",
    "search_document: We scaled the electricity prices to zero mean and unit variance before fitting the forecast.",
    "search_document: The λ of the Poisson model is 3.2 orders an hour; at night it falls to 0.4.",
    "search_document: Sales in Zürich rose by four percent after the price cut, in Genève they fell.",
    "search_document: ",
)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def tokenizer() -> Tokenizer:
    """Return a WordPiece tokenizer of the same make as the real one, with 256 tokens."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))  # noqa: S106  a token of text
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.train_from_iterator(TEXTS, trainers.WordPieceTrainer(vocab_size=256, special_tokens=SPECIAL))
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return made


def main() -> None:
    torch.manual_seed(20)
    model = NomicBertModel(
        NomicBertConfig(
            vocab_size=256,
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=96,
            initializer_range=0.3,
        )
    ).eval()
    # Norms and biases that do nothing would hide that they are mixed up.
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name.lower():
                parameter.add_(torch.randn_like(parameter) * 0.3)
    model.save_pretrained(FOLDER)
    made = tokenizer()
    made.save(str(FOLDER / "tokenizer.json"))
    expected = []
    for text in TEXTS:
        ids = made.encode(text).ids
        with torch.inference_mode():
            hidden = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
        pooled = torch.nn.functional.layer_norm(hidden.mean(dim=0), (64,))
        expected.append({"text": text, "ids": ids, "tokens": _rounded(hidden), "pooled": _rounded(pooled)})
    (FOLDER / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n")


def _rounded(values: torch.Tensor) -> list[object]:
    return json.loads(json.dumps(values.tolist()), parse_float=lambda digits: round(float(digits), 6))


if __name__ == "__main__":
    main()
