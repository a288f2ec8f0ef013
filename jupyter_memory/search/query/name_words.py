"""The words of a query, taken apart as names are, and how well a name answers them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import sqrt
from unicodedata import normalize

from jupyter_memory.storage.base import Corpus
from jupyter_memory.text.identifiers import parts
from jupyter_memory.text.languages import STOP_WORDS

# A word with the names that it is reached through: `Client`, `httpx.Client.send`.
_WORD = re.compile(r"\w+(?:\.\w+)*")
# Words that are looked at; a pasted page is no name.
_MOST = 32
# Files and other names that are kept taken apart, some hundred bytes each.
_MOST_PATHS, _MOST_NAMES = 4_096, 16_384
# A beginning with fewer letters says little: "con" is that of config, connection and content.
_BEGINNING = 4


def words_of(text: str) -> list[str]:
    """Return the words of a query, names with dots in one piece, as Python compares names.

    >>> words_of("how does httpx.Client send?")
    ['how', 'does', 'httpx.Client', 'send']
    """
    return _WORD.findall(normalize("NFKC", text))


@lru_cache(_MOST_PATHS)
def names_in(source: str) -> tuple[str, str, str]:
    """Return the names of a file: of the folder above its folder, of its folder, and its own without the ending.

    >>> names_in("/src/httpx/_transports/default.py"), names_in("notes.md")
    (('httpx', '_transports', 'default'), ('', '', 'notes'))
    """
    *_, above, folder, name = ["", "", *source.replace(os.sep, "/").rsplit("/", 3)]
    return above, folder, name.rpartition(".")[0] or name


class NameWords:
    """The content words of a query, by the parts of their names; what was compared once is remembered."""

    def __init__(self, text: str, corpus: Corpus) -> None:
        self.written = frozenset(word.lower() for word in words_of(text))
        every = dict.fromkeys(part for word in words_of(text) for part in parts(word))
        content = [part for part in every if len(part) > 1 and part not in STOP_WORDS] or list(every)
        self.content = tuple(content[:_MOST])
        # A word that the index splits has no stem.
        self._words = [(word, (corpus.words(word) or [word])[0]) for word in self.content]
        self._meant: dict[str, int] = {}
        self._covers: dict[str, float] = {}
        self._titles: dict[str, float] = {}
        # Where no beginning of any word is, there is no word.
        self._beginnings = tuple(dict.fromkeys(letters[:_BEGINNING] for word in self._words for letters in word))
        # What means the same begins with the same letter.
        self._of_letter: dict[str, list[tuple[int, str, str]]] = {}
        for place, (word, stem) in enumerate(self._words):
            for letter in {word[:1], stem[:1]}:
                self._of_letter.setdefault(letter, []).append((1 << place, word, stem))

    def cover(self, name: str) -> float:
        """Return how well a name answers the query: 1 if each has nothing that the other lacks, 0 if they share none.

        It is the geometric mean of two shares: of the words that the name has, and of its parts that the query has.
        """
        found = self._covers.get(name)
        if found is None:
            found = self._covers[name] = self._cover(_parts(name))
        return found

    def title(self, text: str) -> float:
        """Return how well a title answers the query, as `cover` does; its stop words do not count."""
        found = self._titles.get(text)
        if found is None:
            telling = [part for part in _parts(text) if part not in STOP_WORDS]
            found = self._titles[text] = self._cover(telling) if telling else 0.0
        return found

    def best(self, names: str) -> tuple[float, str]:
        """Return how well the best of several names, separated by blanks, answers the query, and which it is."""
        best, found = 0.0, ""
        for name in self._likely(names):
            if (value := self.cover(name)) > best:
                best, found = value, name
        return best, found

    def asks_for(self, name: str) -> bool:
        """Return whether the query has a name, or any part of it."""
        return name.lower() in self.written or any(map(self._words_meant, parts(name)))

    def _cover(self, parts: Sequence[str]) -> float:
        named = held = 0
        for part in parts:
            meant = self._words_meant(part)
            named |= meant
            held += meant > 0
        return sqrt(named.bit_count() / len(self._words) * held / len(parts)) if named else 0.0

    def _words_meant(self, part: str) -> int:
        """Return which words a part of a name stands for, a bit for each."""
        found = self._meant.get(part)
        if found is None:
            of_letter = self._of_letter.get(part[:1], ())
            found = self._meant[part] = sum(bit for bit, word, stem in of_letter if _is_near(word, stem, part))
        return found

    def _likely(self, names: str) -> Iterator[str]:
        """Yield the names in which some word begins anywhere, some of them more than once: most have none."""
        lowered = names.lower()
        if len(lowered) != len(names):
            # Some capital letters have small ones of another length.
            yield from names.split()
            return
        for letters in self._beginnings:
            at = lowered.find(letters)
            while at >= 0:
                end = lowered.find(" ", at)
                end = len(names) if end < 0 else end
                yield names[lowered.rfind(" ", 0, at) + 1 : end]
                at = lowered.find(letters, end)


@lru_cache(_MOST_NAMES)
def _parts(name: str) -> tuple[str, ...]:
    return tuple(parts(name))


def _is_near(word: str, stem: str, part: str) -> bool:
    """Return whether a part of a name means a word: its stem or plural, or one of them begins with the other.

    >>> _is_near("routing", "rout", "routes"), _is_near("connection", "connect", "conn"), _is_near("the", "the", "then")
    (True, True, False)
    """
    if part in (word, stem, f"{word}s"):
        return True
    return (len(stem) >= _BEGINNING and part.startswith(stem)) or (len(part) >= _BEGINNING and word.startswith(part))
