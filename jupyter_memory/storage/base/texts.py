"""The words of a store and the texts of its memories, as signals read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from jupyter_memory.storage.base.values import Passage
from jupyter_memory.text.code import Definitions


class Corpus(Protocol):
    """The statistics of the whole store's words; a word is a stem, as the keyword index has it."""

    @property
    def chunks(self) -> int:
        """Return how many chunks there are."""
        ...

    def words(self, text: str, /) -> list[str]:
        """Return the words of a text, in their order."""
        ...

    def frequencies(self, words: Iterable[str], /) -> Mapping[str, int]:
        """Return how many chunks hold each word; 0 where none does."""
        ...

    def beginning(self, letters: str, /) -> Sequence[str]:
        """Return the words of the keyword index, as stems, that begin with these letters."""
        ...

    def ending(self, letters: tuple[str, ...], /) -> Sequence[str]:
        """Return the words of nine letters and more, as stems, that end with any of these letters; all are read."""
        ...


class Texts(Protocol):
    """The texts of candidates, read apart from their rows: most searches show only a few of those they rank."""

    def passages(self, chunks: Sequence[int], /) -> Mapping[int, Passage]:
        """Return what the keyword index holds of chunks, by chunk."""
        ...

    def texts(self, keys: Sequence[int], /) -> Mapping[int, str]:
        """Return the whole texts of memories, by key."""
        ...

    def definitions(self, keys: Sequence[int], /) -> Mapping[int, Definitions]:
        """Return what memories in Python define, by key, for those for which it is stored."""
        ...
