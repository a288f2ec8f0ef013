"""The terms of a query as what is looked up in the keyword index: words, phrases, beginnings, and words with forms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from jupyter_memory.storage.postgres.indexes.words import keyed, stems
from jupyter_memory.types import Terms

# The weight of a match of another spelling, where a match of the word itself has 1.
_RESPELLED = 0.5
# That of a match of a compound with the word, or of one of its parts.
_COMPOUND = 0.8
# Below this many chunks a frequent word takes no time, and leaving it out could lose a badge.
_SMALL = 5_000
# How many chunks hold a word in a set of columns, and in that of the columns where most do.
Frequency = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Match:
    """Words side by side, the last of them perhaps only begun; ``weight`` is what a match of it counts.

    Matches of one ``group`` are forms of one word, whose rarity they share. ``pair`` is of a text without spaces: it is
    looked for among identifiers only.
    """

    stems: tuple[str, ...]
    group: int
    weight: float = 1.0
    begun: bool = False
    pair: bool = False

    @property
    def is_word(self) -> bool:
        """Return whether it is one whole word."""
        return len(self.stems) == 1 and not self.begun


def matches_of(terms: Terms) -> list[Match]:
    """Return what is looked up for the terms; what holds no letter is left out."""
    return [replace(one, group=group) for group, of_it in enumerate(_groups(terms)) for one in of_it if one.stems]


def _groups(terms: Terms) -> Iterator[list[Match]]:
    inflected = {one.word: one.inflected for one in terms.forms if one.inflected}
    for stem in terms.respelled:
        yield [Match((keyed(stem),), 0, _RESPELLED)]
    for stem in terms.compounded:
        yield [Match((keyed(stem),), 0, _COMPOUND)]
    for word, forms in inflected.items():
        yield [Match(_keys(form), 0) for form in (word, *forms)]
    for words in (*terms.phrases, *(word for word in terms.words if word not in inflected)):
        yield [Match(_keys(words), 0)]
    if terms.prefix:
        yield [Match(_keys(terms.prefix), 0, begun=True)]
    for pair in terms.ident:
        # A single character is looked for as the first of any pair.
        yield [Match(_keys(pair), 0, begun=len(pair) == 1, pair=True)]


def begun(terms: Terms, held: Callable[[str, Collection[str]], Collection[str]]) -> Terms:
    """Return the terms with the stem of what is being typed in place of a prefix that no stem has.

    "electri" is longer than the stem "electr" of the words that begin with it. ``held`` returns those of some stems
    that the index holds, and the first with a beginning.
    """
    stem = stems(terms.prefix)[-1:] if terms.prefix else []
    if not stem:
        return terms
    shorter = [stem[0][:length] for length in range(len(stem[0]) - 1, max(3, len(stem[0]) - 4), -1)]
    there = held(stem[0], shorter)
    if any(one.startswith(stem[0]) for one in there):
        return terms
    word = next((one for one in shorter if one in there), None)
    return terms if word is None else replace(terms, words=(*terms.words, word), prefix=None)


def without_common(terms: Terms, total: int, frequency: Frequency) -> Terms:
    """Leave out words that more than half of the chunks hold: they have no weight, yet all their rows are read.

    ``frequency`` returns how many chunks hold a stem in the one of the searched columns where most do.
    """
    inflected = {one.word for one in terms.forms if one.inflected}
    words = tuple(word for word in terms.words if word not in inflected)
    if total < _SMALL or len(words) < 2:
        return terms

    def is_rare(word: str) -> bool:
        found = stems(word)
        return len(found) != 1 or frequency(found[0]) * 2 <= total

    rare = {word for word in words if is_rare(word)}
    return replace(terms, words=tuple(word for word in terms.words if word in rare | inflected)) if rare else terms


def _keys(words: str) -> tuple[str, ...]:
    return tuple(map(keyed, stems(words)))
