"""Words put together from a vocabulary: the tokenizer's own tokens, or none."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jupyter_memory.embedders.tokenizer import pieces
from jupyter_memory.embedders.tokenizer.bundled import bundled_tokenizer, bundled_vocabulary
from jupyter_memory.embedders.tokenizer.merges import merged

WORDS = (
    "how did we normalise the prices in Zürich for λ = 3.2? df.groupby('shop')['preis_eur'].transform(np.mean) "
    "  # 東京 🚚 ====== aaaaaaaa hahahaha banananana \u2581\u2581x </div> <0x0A> unnormalisable"
)
FRESH = """
import sys
from jupyter_memory.embedders.tokenizer import pieces
found = pieces.tokens([{text!r}])
print(found.ids.tolist(), "tokenizers" in sys.modules)
"""


def tokenised(piece):
    # On a line of its own, as the tokenizer puts a space before a text.
    return bundled_tokenizer().encode("\n" + piece, add_special_tokens=False).ids[2:]


def test_the_vocabulary():
    """The numbers of the tokens are the tokenizer's."""
    assert bundled_vocabulary() == bundled_tokenizer().get_vocab()


@given(text=st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.text("ab =_", min_size=2, max_size=30)))
@example(text=WORDS)
@settings(max_examples=400, deadline=None)
def test_the_tokenizers_tokens(text):
    """Of every piece of a text, the tokens are the tokenizer's where there are any."""
    for piece in set(pieces._PIECE.findall(text)) - {"\n"}:
        assert merged(piece, bundled_vocabulary()) in (None, tokenised(piece)), piece


def test_every_token_as_a_word():
    """The text of a token is put together as the tokenizer does it; next to none is left to the tokenizer."""
    words = [token.replace("\u2581", " ") for token in bundled_vocabulary() if token.isalpha() and token.isascii()]
    found = [merged(word, bundled_vocabulary()) for word in words]

    expected = pieces._tokenised([*words, *map(str, range(pieces._FEW))])  # many: the tokenizer is asked
    split = np.split(expected.ids, expected.ends)[: len(words)]
    assert len(words) > 10_000
    assert [ids for ids in found if ids is not None] == [
        ids.tolist() for ids, mine in zip(split, found, strict=True) if mine is not None
    ]
    assert found.count(None) < 20


@pytest.mark.parametrize(
    ("text", "wakes"), [("how did we normalise the prices in Zürich", False), ("Umsatz in 東京 🚚🚚", True)]
)
def test_a_question_without_the_tokenizer(text, wakes):
    """A question of common words has its tokens without loading the tokenizer; a rare letter needs it."""
    done = subprocess.run(
        [sys.executable, "-c", FRESH.format(text=text)], capture_output=True, text=True, check=True, timeout=100
    )

    expected = bundled_tokenizer().encode(text, add_special_tokens=False).ids
    assert done.stdout.strip() == f"{expected} {wakes}"
