"""WordPiece on 100,000 varied texts, against the library with which MiniLM and nomic were trained."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from unicodedata import category, combining

import pytest
from bert_wordpiece import encoder

from jupyter_memory.embedders.tokenizer.bundled import bundled_file
from jupyter_memory.embedders.tokenizer.wordpiece import WordPiece

COUNT = 100_000
# Scripts, signs and odd characters that texts are drawn from, by the first code point and the one after the last.
RANGES = (
    (32, 127), (0, 0x250), (0x2B0, 0x700), (0x900, 0x1300), (0x1E00, 0x2070), (0x2000, 0x3200), (0x3000, 0x3100),
    (0x4E00, 0x9FFF), (0xAC00, 0xD7A4), (0xE000, 0x10000), (0x10000, 0x30000), (0x1F300, 0x1F700), (0xE0000, 0x110000),
)  # fmt: skip


def texts() -> Iterator[str]:
    """Yield stretches of this project's files, as they are and with characters of all scripts among them."""
    chance = random.Random(17)
    root = Path(__file__).parents[3]
    files = [*root.glob("docs/*.md"), *root.glob("jupyter_memory/**/*.py"), *root.glob("notebooks/**/*.ipynb")]
    whole = "\n".join(file.read_text("utf-8") for file in files)
    for number in range(COUNT):
        start = chance.randrange(len(whole))
        stretch = whole[start : start + chance.randrange(200)]
        low, high = RANGES[number % len(RANGES)]
        odd = "".join(
            chr(code)
            for code in chance.choices(range(low, high), k=chance.randrange(20))
            if not 0xD800 <= code < 0xE000
        )
        place = chance.randrange(len(stretch) + 1)
        yield stretch[:place] + odd + stretch[place:]


def _is_reordered(text: str) -> bool:
    """Return whether marks that stay may change places with others: the library's offsets are not in order then."""
    return any(combining(character) and category(character) != "Mn" for character in text)


@pytest.mark.reference
def test_the_tokens_of_100_000_texts():
    """Every text has the library's tokens, and each begins where it does there."""
    pytest.importorskip("tokenizers", reason="the reference for WordPiece needs the package tokenizers")
    differing()


def differing() -> None:
    """Compare all texts."""
    vocabulary = bundled_file("vocabulary").read_text("utf-8").splitlines()
    theirs, ours = encoder(vocabulary), WordPiece(vocabulary)
    compared = 0
    for text in texts():
        expected = theirs(text)
        assert ours.ids(text) == expected.ids, ascii(text)
        # A word that is too long begins once there, and in several places here; a syllable is up to three letters.
        if all(end - start <= 33 for start, end in expected.offsets) and not _is_reordered(text):
            assert ours.starts(text).tolist() == [start for start, _ in expected.offsets], ascii(text)
        compared += 1
    assert compared == COUNT
