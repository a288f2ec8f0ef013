"""How much of a query a text covers: the share of its words, by what they tell, that the text holds close together."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence

from jupyter_memory.search.query.asked_words import AskedWord, Row
from jupyter_memory.storage.base import Corpus, Passage
from jupyter_memory.text.code import EVERYDAY, language
from jupyter_memory.text.identifiers import ident_column

# An identifier of which a text holds all parts, but not in a row, and a word that may be a slip for one that it holds.
_IN_PARTS = _NEAR = 0.5
# Words are close together in this much of the text: so many words, and more of them for a long query.
_CLOSE, _FOR_EACH = 16, 3


class Coverage:
    """What a query asks for, to be looked for in texts."""

    def __init__(self, words: Sequence[AskedWord], corpus: Corpus) -> None:
        self._words = words
        self._corpus = corpus
        self._whole = sum(word.weight for word in words)
        self._stretch = max(_CLOSE, _FOR_EACH * len(words))

    def of(self, passage: Passage, lang: str) -> float:
        """Return the share of the query that a passage covers, 0 to 1.

        Half of it counts what the passage holds anywhere, the other half what it holds close together. The title and
        the context are close to everything, and so is the name of the language that it is written in.
        """
        if not self._whole:
            return 0.0
        written = {language(lang, passage.text)} - EVERYDAY
        head = _positions(self._corpus.words("\n".join((passage.title, passage.context, passage.tags))))
        body = _positions(self._corpus.words(passage.text))
        held = {*head, *body, *self._corpus.words(ident_column(str(passage)))}
        anywhere, scattered = 0.0, []
        for word in self._words:
            if word.text.lower() in written or _places(word.rows, head):
                anywhere += word.weight
            elif places := _places(word.rows, body):
                scattered.append((word.weight, places))
            else:
                slip = _places(word.near, head) or _places(word.near, body)
                anywhere += word.weight * (_NEAR if slip else _in_parts(word, held))
        total = anywhere + sum(weight for weight, _ in scattered)
        return (total + anywhere + _closest(scattered, self._stretch)) / (2 * self._whole)


def missing_share(words: Sequence[AskedWord], *, names: bool = False) -> float:
    """Return the share of a query, by what its words tell, that nothing in the store holds; or of its names alone."""
    whole = sum(word.weight for word in words)
    missing = sum(word.weight for word in words if word.missing and (word.is_name or not names))
    return missing / whole if whole else 0.0


def _positions(row: Sequence[str]) -> dict[str, list[int]]:
    """Return where each stem of a text stands."""
    positions: dict[str, list[int]] = {}
    for place, stem in enumerate(row):
        positions.setdefault(stem, []).append(place)
    return positions


def _places(rows: Sequence[Row], positions: Mapping[str, Sequence[int]]) -> list[int]:
    """Return where a text holds a spelling of a word, in order."""
    found = set()
    for first, *rest in rows:
        places = set(positions.get(first, ()))
        for distance, stem in enumerate(rest, start=1):
            places &= {place - distance for place in positions.get(stem, ())}
        found |= places
    return sorted(found)


def _in_parts(word: AskedWord, held: Collection[str]) -> float:
    """Return how much of a word a text holds that does not show it in a row: identifiers in one piece, and parts."""
    if any(len(row) == 1 and row[0] in held for row in word.rows):
        return 1.0
    return _IN_PARTS * sum(part in held for part in word.parts) / len(word.parts) if word.parts else 0.0


def _closest(scattered: Sequence[tuple[float, Sequence[int]]], stretch: int) -> float:
    """Return the greatest weight of words that one stretch of the text holds."""
    starts = {place for _, places in scattered for place in places}
    return max((_weight_in(range(start, start + stretch), scattered) for start in starts), default=0.0)


def _weight_in(stretch: range, scattered: Sequence[tuple[float, Sequence[int]]]) -> float:
    nexts = ((weight, places, bisect_left(places, stretch.start)) for weight, places in scattered)
    return sum(weight for weight, places, place in nexts if place < len(places) and places[place] in stretch)
