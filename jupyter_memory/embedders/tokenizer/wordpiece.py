"""WordPiece, as BERT's uncased models use it, with a cache from word to tokens.

A text is normalised and parted into words, and each word into the longest pieces that the vocabulary has, from left to
right (https://github.com/google-research/bert, tokenization.py). All of this can be done word by word, and the words
of one person's work come back in cell after cell. A cache of whole lines was measured too: it makes indexing slower.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.tokenizer.tokens import Tokens
from jupyter_memory.embedders.tokenizer.unicode_8 import is_punctuation, is_removed

UNKNOWN = "[UNK]"
# A longer word is unknown.
_LONGEST = 100
# Characters of such a word for each place where it may be cut.
_STRIDE = 4
# Strings that a cache has at most, and characters of one that is kept: all caches together some 30 MB.
_MOST, _KEPT = 60_000, 120
_BYTES = 4

# Where `TCPConnector` and `parseJson` are parted.
_CAMEL = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"\S+")
# Python parts words at these, and BERT takes them out, as it does with the null character.
_JOINING = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"
_TO_NULL = dict.fromkeys(map(ord, _JOINING), "\0")
# Ideographs, each of which is a word: first and last of each block.
# Extension E, from U+2B820, begins 256 characters late, as in the library `tokenizers`, with which most models were
# trained.
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPiece:
    """Splits texts into the tokens of a vocabulary; safe to share between threads.

    ``part_camel`` parts names such as ``parseJson`` before anything else.

    >>> WordPiece(["[UNK]", "parse", "json", "##s", "."], part_camel=True).ids("parseJsons. Umsätze")
    [1, 2, 3, 4, 0]
    >>> WordPiece(["[UNK]", "json", "##s"]).ids("JSONs")
    [1, 2]
    """

    def __init__(self, vocabulary: Sequence[str], *, part_camel: bool = False) -> None:
        self._numbers = {token: number for number, token in enumerate(vocabulary)}
        self._unknown = self._numbers[UNKNOWN]
        self._longest = max(map(len, vocabulary))
        self._vocabulary = vocabulary
        self._part_camel = part_camel
        self._pieces = _Known(self._of_piece)
        self._words = _Known(self._of_word)
        self._word_starts = _Known(self._starts_in_word)

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a text, without any that mark its beginning and end."""
        ids: list[int] = self.tokens([text]).ids.tolist()
        return ids

    def tokens(self, texts: Iterable[str]) -> Tokens:
        """Return the tokens of texts; one that has no words has none."""
        found: list[bytes] = []
        last_words = []
        for text in texts:
            found += [self._words[word] for word in _plain(text).split()]
            last_words.append(len(found))
        return Tokens(_joined(found), _ends(found)[np.array(last_words, np.int64)])

    def starts(self, text: str) -> NDArray[np.int64]:
        """Return the offset at which each token of a text begins; a word that is too long for one has several."""
        words = [(match.start(), match.group()) for match in _WORD.finditer(_plain(text))]
        found = [self._word_starts[word] for _, word in words]
        begins = np.array([begin for begin, _ in words], np.int64)
        return np.repeat(begins, np.diff(_ends(found))) + _joined(found)

    @cached_property
    def _lengths(self) -> list[int]:
        """Return how many characters each token stands for."""
        return [len(token.removeprefix("##")) for token in self._vocabulary]

    def _of_word(self, word: str) -> bytes:
        """Return the tokens of what stands between two spaces."""
        if self._part_camel:
            word = _CAMEL.sub(" ", word)
        return b"".join([self._pieces[piece] for piece in word.translate(_NORMAL).split()])

    def _of_piece(self, piece: str) -> bytes:
        """Return the tokens of a word in lower case: of what is left of it, always the longest that begins there."""
        if len(piece) > _LONGEST:
            return _bytes([self._unknown])
        found, start, prefix = [], 0, ""
        while start < len(piece):
            end = min(len(piece), start + self._longest)
            while (number := self._numbers.get(prefix + piece[start:end])) is None:
                end -= 1
                if end == start:
                    return _bytes([self._unknown])
            found.append(number)
            start, prefix = end, "##"
        return _bytes(found)

    def _starts_in_word(self, word: str) -> bytes:
        """Return where in what stands between two spaces its tokens begin."""
        ids = _array(self._words[word])
        if word.isascii() and word.isprintable() and self._unknown not in ids:
            # Nothing was taken out of it or put into it.
            return _bytes(self._sums(ids))
        cuts = {match.start() for match in _CAMEL.finditer(word)} if self._part_camel else set()
        normal = [" " * (place in cuts) + word[place].translate(_NORMAL) for place in range(len(word))]
        origins = [place for place, characters in enumerate(normal) for _ in characters]
        pieces = ((match.start(), match.group()) for match in _WORD.finditer("".join(normal)))
        return _bytes([origins[begin + offset] for begin, piece in pieces for offset in self._starts_in_piece(piece)])

    def _starts_in_piece(self, piece: str) -> Iterable[int]:
        if len(piece) > _LONGEST:
            return range(0, len(piece), _STRIDE)
        return self._sums(_array(self._pieces[piece]))

    def _sums(self, ids: array[int]) -> Iterable[int]:
        """Return where tokens begin that follow each other without a gap."""
        return accumulate([self._lengths[number] for number in ids[:-1]], initial=0) if ids else ()


class _Known(dict[str, bytes]):
    """What was found for strings, as 32-bit numbers; those not met before are looked up. When full, it begins anew."""

    def __init__(self, look_up: Callable[[str], bytes]) -> None:
        super().__init__()
        self._look_up = look_up

    def __missing__(self, string: str) -> bytes:
        found = self._look_up(string)
        if len(string) <= _KEPT:
            if len(self) >= _MOST:
                self.clear()
            self[string] = found
        return found


def _bytes(numbers: Iterable[int]) -> bytes:
    return array("i", numbers).tobytes()


def _array(numbers: bytes) -> array[int]:
    return array("i", numbers)


def _joined(found: Sequence[bytes]) -> NDArray[np.int32]:
    return np.frombuffer(b"".join(found), np.int32)


def _ends(found: Sequence[bytes]) -> NDArray[np.int64]:
    """Return how many numbers there are up to the end of each, from 0 on."""
    return np.fromiter(accumulate(map(len, found), initial=0), np.int64, len(found) + 1) // _BYTES


class _Normal(dict[int, str]):
    """What BERT makes of a character: lower case without accents, a space for any space, words set apart by spaces."""

    def __missing__(self, code: int) -> str:
        normal = _normal(code)
        # Ideographs alone are some ten thousands.
        if code < 0x3000:
            self[code] = normal
        return normal


def _normal(code: int) -> str:
    if is_removed(code):
        return ""
    character = chr(code)
    if character.isspace():
        return " "
    found = "".join(map(_lower, normalize("NFD", character)))
    return f" {found} " if any(first <= code <= last for first, last in _IDEOGRAPHS) else found


def _lower(character: str) -> str:
    """Return a character in lower case; nothing for an accent."""
    code = ord(character)
    if is_removed(code):
        return ""
    return f" {character} " if is_punctuation(code) else character.lower()


_NORMAL = _Normal()


def _plain(text: str) -> str:
    """Return a text in which Python parts no words that BERT does not."""
    return text.translate(_TO_NULL) if any(character in text for character in _JOINING) else text
