"""The vocabulary of a model's folder: that of an uncased BERT, or refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from jupyter_memory import EmbedderUnavailable
from jupyter_memory.embedders.bert.tokenizer import read_tokenizer

SMALL = Path(__file__).parents[1] / "nomic_small"
TEXTS = ["We scaled the prices.", "", "Genève λ 3.2", "x" * 120, "normalise " * 40]


@pytest.fixture
def folder(tmp_path):
    shutil.copy(SMALL / "tokenizer.json", tmp_path)
    return tmp_path


def test_as_the_library(folder):
    """The ids are those of the library `tokenizers`, marks and cut included."""
    library = Tokenizer.from_file(str(folder / "tokenizer.json"))
    library.enable_truncation(20)

    found = read_tokenizer(folder, 188, 20).token_ids(TEXTS)

    assert found == [one.ids for one in library.encode_batch(TEXTS)]


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("normalizer", "lowercase", False),
        ("normalizer", "strip_accents", False),
        ("normalizer", "type", "NFC"),
        ("pre_tokenizer", "type", "Whitespace"),
        ("model", "type", "BPE"),
        ("model", "continuing_subword_prefix", ""),
        ("model", "vocab", {"[CLS]": 0, "[SEP]": 1}),
        ("model", "vocab", {"[CLS]": 0, "[SEP]": 1, "[UNK]": 3}),
        ("model", "vocab", ["[CLS]", "[SEP]", "[UNK]"]),
    ],
)
def test_another_tokenizer(folder, part, key, value):
    """A tokenizer that treats text in another way is refused: its ids would be others, without an error."""
    file = folder / "tokenizer.json"
    said = json.loads(file.read_text())
    said[part][key] = value
    file.write_text(json.dumps(said))

    with pytest.raises(EmbedderUnavailable, match="is not the tokenizer of an uncased BERT"):
        read_tokenizer(folder, 188, 20)


@pytest.mark.parametrize(
    ("written", "said"), [(None, "is missing"), ("{", "cannot be read"), ("[]", "uncased BERT"), ("{}", "uncased BERT")]
)
def test_no_tokenizer(folder, written, said):
    """A file that is missing or no tokenizer is named."""
    (folder / "tokenizer.json").unlink()
    if written is not None:
        (folder / "tokenizer.json").write_text(written)

    with pytest.raises(EmbedderUnavailable, match=said):
        read_tokenizer(folder, 188, 20)


def test_more_tokens_than_weights(folder):
    """A vocabulary that is larger than the model's is not this model's."""
    with pytest.raises(EmbedderUnavailable, match="knows 188 tokens, the weights 187"):
        read_tokenizer(folder, 187, 20)
