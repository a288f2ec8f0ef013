"""Texts as the tokens of the static model, put together from a cache of their words.

The tokenizer is byte-pair encoding without pre-tokenization: it works through a text as if it were one long word. But a
token is a merge of neighbours, and many neighbours stand in no token together. Between them a text can be cut, and the
tokens of its pieces are its own: letters end at punctuation, digits and newlines stand alone, and only spaces join what
follows them. The pieces of one person's work come back in cell after cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.bundled import bundled_tokenizer

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
# Tokens that are kept; then the cache begins anew. About 20 MB.
_MOST = 500_000
# Characters that are tokenised in one go: the tokenizer works on several texts at once.
_AT_ONCE = 4_000
# Characters of a long text whose tokens are told at once: each takes some hundred bytes.
_PART = 200_000
_BYTE = re.compile("<0x[0-9A-F]{2}>")


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
    return _KNOWN.tokens([_pieces(text) for text in texts])


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


def _pieces(text: str) -> list[str]:
    """Return a text in pieces whose tokens are the text's."""
    if not text:
        return []
    if "\u2581" in text:
        text = text.replace("\u2581", " ")
    if "<" in text and _SPECIAL.search(text):
        return list(chain.from_iterable(_around(part) for part in _SPECIAL.split(text) if part))
    return _PIECE.findall(" " + text)


def _around(part: str) -> list[str]:
    return [part] if _SPECIAL.fullmatch(part) else _PIECE.findall(" " + part)


class _Numbers(dict[str, int]):
    """Numbers pieces in the order in which they are first asked for, and lists the new ones."""

    def __init__(self) -> None:
        self.new: list[str] = []

    def __missing__(self, piece: str) -> int:
        number = self[piece] = len(self)
        self.new.append(piece)
        return number


class _Known:
    """The tokens of the pieces that were met: those of piece ``n`` are ``ids[ends[n - 1]:ends[n]]``."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._forget()

    def tokens(self, texts: Sequence[list[str]]) -> Tokens:
        """Return the tokens of texts, given their pieces."""
        with self._lock:
            if self._ids.size > _MOST:
                self._forget()
            try:
                return self._tokens(texts)
            except BaseException:
                # Numbers were given to pieces whose tokens did not come.
                self._forget()
                raise

    def _forget(self) -> None:
        self._numbers = _Numbers()
        # What cannot stand on a line of its own, or is none of a text's letters.
        self._numbers.update({"\n": 0, "<s>": 1, "</s>": 2, "<unk>": 3})
        self._ids = np.array([_NEWLINE, 1, 2, 0], np.int32)
        self._ends = np.arange(5)

    def _tokens(self, texts: Sequence[list[str]]) -> Tokens:
        sizes = [len(text) for text in texts]
        pieces = np.fromiter(map(self._numbers.__getitem__, chain.from_iterable(texts)), np.int64, sum(sizes))
        if self._numbers.new:
            self._learn(self._numbers.new)
            self._numbers.new = []
        begins = self._ends[pieces]
        counts = self._ends[pieces + 1] - begins
        ends = np.zeros(pieces.size + 1, np.int64)
        np.cumsum(counts, out=ends[1:])
        # Each piece's tokens are a run of those that are known.
        where = np.arange(ends[-1]) + np.repeat(begins - ends[:-1], counts)
        return Tokens(self._ids[where], ends[np.cumsum(sizes, dtype=np.int64)])

    def _learn(self, pieces: Sequence[str]) -> None:
        """Have new pieces tokenised, many as one text: on lines of their own they do not touch."""
        encodings = bundled_tokenizer().encode_batch_fast(list(_lines(pieces)), add_special_tokens=False)
        # Before the first line stands the space that every text is given.
        ids = np.array([id_ for encoding in encodings for id_ in (*encoding.ids[2:], _NEWLINE)], np.int32)
        breaks = np.flatnonzero(ids == _NEWLINE)
        ends = breaks - np.arange(breaks.size)
        self._ends = np.concatenate([self._ends, self._ends[-1] + ends])
        self._ids = np.concatenate([self._ids, ids[ids != _NEWLINE]])


def _lines(pieces: Sequence[str]) -> Iterator[str]:
    """Yield texts that hold one piece a line, below an empty one."""
    lines, size = [""], 0
    for piece in pieces:
        lines.append(piece)
        size += len(piece) + 1
        if size >= _AT_ONCE:
            yield "\n".join(lines)
            lines, size = [""], 0
    if size:
        yield "\n".join(lines)


@cache
def _widths() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many characters each token stands for, and 1 for a byte within a character.

    A character that is spelled out in bytes is counted with the first of them.
    """
    vocabulary = bundled_tokenizer().get_vocab()
    lengths, inner = np.zeros(len(vocabulary), np.int64), np.zeros(len(vocabulary), np.int64)
    for token, id_ in vocabulary.items():
        byte = int(token[3:5], 16) if _BYTE.fullmatch(token) else 0
        inner[id_] = 0x80 <= byte < 0xC0
        lengths[id_] = 1 - inner[id_] if _BYTE.fullmatch(token) else len(token)
    return lengths, inner


_KNOWN = _Known()
