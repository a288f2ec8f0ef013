"""The tokenizer of BERT, as the library `tokenizers` has it: what WordPiece of our own is compared with."""

from collections.abc import Callable, Sequence
from typing import Any


def encoder(vocabulary: Sequence[str]) -> Callable[[str], Any]:
    import tokenizers

    numbers = {token: number for number, token in enumerate(vocabulary)}
    whole = tokenizers.Tokenizer(tokenizers.models.WordPiece(numbers, unk_token="[UNK]"))
    whole.normalizer = tokenizers.normalizers.BertNormalizer()
    whole.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return lambda text: whole.encode(text, add_special_tokens=False)
