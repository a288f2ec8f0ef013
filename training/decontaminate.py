"""Leaves out pairs that a judged set could have been taken from."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from training.pairs import Pair
from training.text import words

Hashes = NDArray[np.uint64]

# So many words in a row are no accident.
RUN = 12
_SHORTEST_SENTENCE = 4
_POWERS = np.array([pow(1_000_003, place, 2**64) for place in range(RUN)], np.uint64)


def runs(text: str) -> Hashes:
    """Return a hash of every twelve words in a row of a text."""
    found = words(text)
    if len(found) < RUN:
        return np.zeros(0, np.uint64)
    hashed = np.array([zlib.crc32(word.encode()) for word in found], np.uint64)
    rows = np.lib.stride_tricks.sliding_window_view(hashed, RUN)
    return (rows * _POWERS).sum(axis=1, dtype=np.uint64)


class HeldOut:
    """The texts that no pair may share twelve words in a row with, and sentences that no question may be."""

    def __init__(self, texts: Iterable[str], sentences: Iterable[str] = ()) -> None:
        self._runs = np.unique(np.concatenate([np.zeros(0, np.uint64), *map(runs, texts)]))
        self._sentences = {" ".join(words(sentence)) for sentence in sentences}

    def __len__(self) -> int:
        return len(self._runs)

    def holds(self, text: str) -> bool:
        """Return whether a text shares twelve words in a row with a held-out one."""
        found = runs(text)
        # Not `isin`, which would sort the held-out hashes each time.
        places = np.minimum(np.searchsorted(self._runs, found), max(len(self._runs) - 1, 0))
        return bool(len(found) and len(self._runs) and (self._runs[places] == found).any())

    def asks(self, question: str) -> bool:
        """Return whether a question is a held-out sentence of some length."""
        asked = words(question)
        return len(asked) >= _SHORTEST_SENTENCE and " ".join(asked) in self._sentences


class Decontaminated:
    """The pairs that may be trained on; ``dropped`` counts the others by reason and source once all are read."""

    def __init__(self, pairs: Iterable[Pair], held_out: HeldOut) -> None:
        self._pairs = pairs
        self._held_out = held_out
        self.dropped: Counter[tuple[str, str]] = Counter()

    def __iter__(self) -> Iterator[Pair]:
        for pair in self._pairs:
            if reason := self._reason(pair):
                self.dropped[reason, pair.source] += 1
            else:
                yield pair

    def _reason(self, pair: Pair) -> str:
        if self._held_out.asks(pair.question):
            return "a judged docstring's sentence"
        if self._held_out.holds(pair.question) or self._held_out.holds(pair.answer):
            return "twelve words of a judged set"
        return ""
