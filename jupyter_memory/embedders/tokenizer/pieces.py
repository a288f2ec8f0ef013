"""Texts as the tokens of the static model, put together from a cache of their lines and words.

The tokenizer is byte-pair encoding without pre-tokenization: it works through a text as if it were one long word. But a
token is a merge of neighbours, and many neighbours stand in no token together. Between them a text can be cut, and the
tokens of its pieces are its own: letters end at punctuation, digits and newlines stand alone, and only spaces join what
follows them. The pieces of one person's work come back in cell after cell.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, count, pairwise
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.tokenizer.ascii_pieces import Slots
from jupyter_memory.embedders.tokenizer.bundled import bundled_tokenizer, bundled_vocabulary

# No token holds two characters that are parted here, which a test checks with all of them.
_PIECE = re.compile(
    r"[\n\t0-9]"
    r"| *+[A-Za-z]++(?![>\x80-\U0010ffff])"
    # Only after these two may letters join punctuation, as in `</div` and `/api`.
    r"| *+[!-/:-@\[-`{-~\r]++(?:(?<![</])(?![\x80-\U0010ffff])|(?![A-Za-z\x80-\U0010ffff]))"
    r"| *+[^ \n\t0-9]++"
    r"| ++"
)
# The tokenizer takes these out of a text before anything else, and begins anew behind them.
_SPECIAL = re.compile("(<s>|</s>|<unk>)")
_NEWLINE = 13
# Tokens that are kept of lines and of pieces; then the cache begins anew. About 30 MB.
_MOST = 500_000
# Characters of a long text whose tokens are told at once: each takes some hundred bytes.
_PART = 200_000
# So many pieces, those of a question, are not worth loading the tokenizer for.
_FEW = 64
# Characters of plain text up to which the pattern is as fast as arithmetic.
_SHORT = 1_000
# The sign for a space; that of several in a row is merged last, whatever its number.
_SPACE, _SPACES = "\u2581", "\u2581\u2581"
# Characters of a word that is put together here: merging takes the square of them.
_LONGEST_MERGED = 40


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of some texts: those of text ``i`` are ``ids[ends[i - 1]:ends[i]]``."""

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return how many tokens each text has."""
        return np.diff(self.ends, prepend=0)


def tokens(texts: Iterable[str]) -> Tokens:
    """Return the tokens of texts, which hold no lone surrogates; safe to call from several threads.

    Raises:
        EmbedderUnavailable: the tokenizer's file is missing.
    """
    parts: list[list[str]] = []
    ends = []
    for text in texts:
        parts += _parts(text)
        ends.append(len(parts))
    found = _KNOWN.tokens(parts)
    return Tokens(found.ids, np.concatenate([[0], found.ends])[np.array(ends, np.int64)])


def distinct(found: Tokens) -> list[NDArray[np.uint16]]:
    """Return the different tokens of each text, ascending."""
    texts = np.repeat(np.arange(found.ends.size, dtype=np.int64), found.counts)
    both = np.sort(texts << 16 | found.ids)
    # What `unique` does, which goes by hashes and takes ten times as long.
    both = both[np.diff(both, prepend=-1) != 0]
    ids = (both & 0xFFFF).astype(np.uint16)
    ends = np.searchsorted(both, np.arange(found.ends.size + 1, dtype=np.int64) << 16).tolist()
    return [ids[begin:end] for begin, end in pairwise(ends)]


def starts(text: str) -> NDArray[np.int64]:
    """Return the offset at which each token of a text begins; bytes of one character begin where it does.

    Raises:
        EmbedderUnavailable: the tokenizer's file is missing.
    """
    # What looks like a special token is counted as the letters it has: a little more than it is.
    text = _SPECIAL.sub(lambda match: "_" * len(match.group()), text)
    parts = [np.empty(0, np.int64)]
    begin = 0
    while begin < len(text):
        end = len(text)
        if end - begin > _PART:
            # At a space, for which the one stands that every text is given in front.
            space = text.rfind(" ", begin + 1, begin + _PART)
            end = begin + _PART if space < 0 else space
        inside = begin > 0 and text[begin] == " "
        parts.append(np.maximum(_offsets(text[begin + inside : end]) + begin - (not inside), begin))
        begin = end
    return np.concatenate(parts)


def _offsets(text: str) -> NDArray[np.int64]:
    """Return where each token begins, counted from the space that every text is given in front."""
    ids = tokens([text]).ids
    lengths, inner = _widths()
    ends: NDArray[np.int64] = np.cumsum(lengths[ids])
    return ends - lengths[ids] - inner[ids]


def _parts(text: str) -> list[list[str]]:
    """Return the parts of a text between special tokens, these too, each as its lines."""
    if not text:
        return []
    if "\u2581" in text:
        text = text.replace("\u2581", " ")
    if "<" in text and _SPECIAL.search(text):
        return [[part] if _SPECIAL.fullmatch(part) else _lines(part) for part in _SPECIAL.split(text) if part]
    return [_lines(text)]


def _lines(text: str) -> list[str]:
    return (" " + text).split("\n")


class _Runs:
    """The tokens of strings that were met: those of string ``n`` are ``ids[ends[n]:ends[n + 1]]``."""

    def __init__(self, known: Mapping[str, Sequence[int]], learn: Callable[[Sequence[str]], Tokens]) -> None:
        self._learn = learn
        self._numbers = {string: number for number, string in enumerate(known)}
        self.ids = np.fromiter(chain.from_iterable(known.values()), np.int32)
        self.ends = np.cumsum([0, *map(len, known.values())], dtype=np.int64)

    def __len__(self) -> int:
        return len(self._numbers)

    def numbers(self, strings: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of each string; those not met before are learnt."""
        # Those that are plain at the end, so that they can be learnt together.
        if new := sorted(set(strings).difference(self._numbers), key=str.isascii):
            learnt = self._learn(new)
            self.ends = np.concatenate([self.ends, self.ends[-1] + learnt.ends])
            self.ids = np.concatenate([self.ids, learnt.ids])
            self._numbers.update(zip(new, count(len(self._numbers))))
        return np.fromiter(map(self._numbers.__getitem__, strings), np.int64, len(strings))

    def counts(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many tokens strings have, by their numbers."""
        counts: NDArray[np.int64] = self.ends[numbers + 1] - self.ends[numbers]
        return counts

    def gathered(self, numbers: NDArray[np.int64], counts: NDArray[np.int64]) -> Tokens:
        """Return the first ``counts`` tokens of each of these strings."""
        ends = np.cumsum(counts)
        where = np.arange(ends[-1] if ends.size else 0) + np.repeat(self.ends[numbers] - ends + counts, counts)
        return Tokens(self.ids[where], ends)


class _Known:
    """The tokens of lines, each with the newline behind it, and below them those of the pieces that lines consist of.

    A text is read more than once, to be counted, cut and embedded, in chunks that overlap: then its lines are known.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Know nothing, as a new object does and a forked child, where what a thread noted may be half there."""
        self._lock = Lock()
        self.pieces, self.lines, self.slots = self._no_pieces(), self._no_lines(), Slots()

    def tokens(self, parts: Sequence[list[str]]) -> Tokens:
        """Return the tokens of parts of texts, each given as its lines, of which it has one at least."""
        with self._lock:
            if self.pieces.ids.size > _MOST:
                self.pieces, self.slots = self._no_pieces(), Slots()
            if self.lines.ids.size > _MOST:
                self.lines = self._no_lines()
            try:
                return self._tokens(parts)
            except BaseException:
                # Some may have been noted by half.
                self.pieces, self.lines, self.slots = self._no_pieces(), self._no_lines(), Slots()
                raise

    def _no_pieces(self) -> _Runs:
        # What cannot stand on a line of its own.
        return _Runs({"\n": [_NEWLINE]}, _tokenised)

    def _no_lines(self) -> _Runs:
        # What is none of a text's letters.
        return _Runs({"<s>": [1, _NEWLINE], "</s>": [2, _NEWLINE], "<unk>": [0, _NEWLINE]}, self._of_pieces)

    def _tokens(self, parts: Sequence[list[str]]) -> Tokens:
        ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
        numbers = self.lines.numbers(list(chain.from_iterable(parts)))
        counts = self.lines.counts(numbers)
        # Behind the last line of a part there is no newline.
        counts[ends - 1] -= 1
        found = self.lines.gathered(numbers, counts)
        return Tokens(found.ids, found.ends[ends - 1])

    def _of_pieces(self, lines: Sequence[str]) -> Tokens:
        """Return the tokens of lines, those that are plain ASCII last, and of the newline behind each."""
        plain = bisect_left(lines, True, key=str.isascii)
        numbers = np.concatenate([self._numbers(lines[:plain]), self._numbers(lines[plain:])])
        found = self.pieces.gathered(numbers, self.pieces.counts(numbers))
        return Tokens(found.ids, found.ends[numbers == 0])

    def _numbers(self, lines: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of the pieces of lines and of the newline behind each."""
        text = "\n".join((*lines, ""))
        if len(text) > _SHORT and text.isascii():
            known = self.slots.numbers(text, self.pieces.numbers)
            if known is not None:
                return known
        return self.pieces.numbers(_PIECE.findall(text))


def _tokenised(pieces: Sequence[str]) -> Tokens:
    """Return the tokens of pieces, none of which holds a newline."""
    if len(pieces) <= _FEW and not bundled_tokenizer.cache_info().currsize and (few := _merged(pieces)) is not None:
        return few
    # The model alone: what the tokenizer does around it takes longer than a piece.
    model = bundled_tokenizer().model
    return _joined([[token.id for token in model.tokenize(piece.replace(" ", "\u2581"))] for piece in pieces])


def _merged(pieces: Sequence[str]) -> Tokens | None:
    """Return the tokens of a few pieces without the tokenizer; None where one of them needs it."""
    vocabulary = bundled_vocabulary()
    found = [merged(piece, vocabulary) for piece in pieces]
    known = [ids for ids in found if ids is not None]
    if len(known) < len(found):
        return None
    return _joined(known)


def merged(word: str, vocabulary: Mapping[str, int]) -> list[int] | None:
    """Return the tokens of a word by byte-pair encoding, the vocabulary's numbers saying what is merged first.

    None where only the tokenizer knows: the word is long, or has letters that are no token, spaces in a row, or two
    ways to the same merge.

    >>> merged("aab", {"a": 0, "b": 1, "ab": 2, "aa": 3})
    [0, 2]
    """
    parts = list(word.replace(" ", _SPACE))
    if len(parts) > _LONGEST_MERGED or _SPACES in "".join(parts) or any(part not in vocabulary for part in parts):
        return None
    while joins := [(vocabulary[a + b], i) for i, (a, b) in enumerate(pairwise(parts)) if a + b in vocabulary]:
        token, place = min(joins)
        if any(other == token and parts[i] != parts[place] for other, i in joins):
            return None
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return [vocabulary[part] for part in parts]


def _joined(ids: Sequence[Sequence[int]]) -> Tokens:
    ends = np.cumsum([len(of_one) for of_one in ids], dtype=np.int64)
    return Tokens(np.fromiter(chain.from_iterable(ids), np.int32), ends)


@cache
def _widths() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many characters each token stands for, and 1 for a byte within a character.

    A character that is spelled out in bytes is counted with the first of them.
    """
    vocabulary = bundled_vocabulary()
    lengths, inner = np.zeros(len(vocabulary), np.int64), np.zeros(len(vocabulary), np.int64)
    lengths[np.fromiter(vocabulary.values(), np.int64)] = np.fromiter(map(len, vocabulary), np.int64)
    for byte in range(256):
        id_ = vocabulary[f"<0x{byte:02X}>"]
        inner[id_] = 0x80 <= byte < 0xC0
        lengths[id_] = 1 - inner[id_]
    return lengths, inner


_KNOWN = _Known()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_KNOWN.begin)
