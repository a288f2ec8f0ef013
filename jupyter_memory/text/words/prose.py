"""The languages that notes are written in: which one a question is in, told by its function words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from jupyter_memory.text.words.stopwords import FRENCH, GERMAN, SPANISH, STOP_WORDS, listed

Prose = Literal["german", "french", "spanish"]

_WORD = re.compile(r"[^\W\d_]+")
# French words that lose their vowel before another: l'écart, qu'une.
_ELIDED = re.compile(r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)['’](?=\w)", re.IGNORECASE)
# English words that others have as well: "Qui a décidé", "so war es".
_SHARED = {"a", *STOP_WORDS & (GERMAN | FRENCH | SPANISH)}
# Words of English, of code and of file names that other languages have for function words.
_ELSEWHERE = listed(
    """
    also am an and as at bin but can car de del den die dir do du el en era es fin for fue hat has he in is it
    la le man mais me mes mi mit more no nos o on or out par plus ser set si sin so some son sur ten tu un us
    war was we will y yo
    """
)


@dataclass(frozen=True, slots=True)
class Language:
    """A language whose inflections are known.

    ``stop_words`` say nothing about what someone searches for; ``telling`` are those of them that show a question to
    be in this language. ``frequent`` are words that nearly every text of the language has.
    """

    name: str
    stop_words: frozenset[str]
    frequent: tuple[str, ...]

    @property
    def telling(self) -> frozenset[str]:
        """Return the function words that neither English nor code has."""
        return self.stop_words - _ELSEWHERE - STOP_WORDS


LANGUAGES: Mapping[Prose, Language] = {
    "german": Language("German", GERMAN, ("der", "und", "ist", "mit", "nicht", "den", "auf", "wird")),
    "french": Language("French", FRENCH, ("les", "des", "est", "une", "dans", "pour", "sur", "avec")),
    "spanish": Language("Spanish", SPANISH, ("los", "las", "una", "con", "para", "por", "del", "que")),
}
_TELLING: Mapping[Prose, frozenset[str]] = {key: one.telling for key, one in LANGUAGES.items()}


@dataclass(frozen=True, slots=True)
class Asked:
    """The language that the function words of a question show, and by how many different words.

    ``language`` is None where no such word occurs, or where two languages share those that do; ``is_english`` tells
    that English words are at least as many.
    """

    language: Prose | None = None
    words: int = 0
    is_english: bool = False


def asked_in(text: str) -> Asked:
    """Return what the function words of a question say about its language.

    >>> asked_in("Wie haben wir die Preise normalisiert?").language, asked_in("how were the prices scaled").language
    ('german', None)
    """
    words = set(_WORD.findall(text.lower()))
    english = len((words & STOP_WORDS) - _SHARED)
    counts = {key: len(words & telling) for key, telling in _TELLING.items()}
    first, second = sorted(counts, key=lambda key: -counts[key])[:2]
    most = counts[first]
    if english and english >= most:
        return Asked(is_english=True)
    return Asked(first, most) if most > counts[second] else Asked()


def without_elision(word: str) -> str:
    """Return a French word without the article or pronoun that leans on it.

    >>> without_elision("l'étalonnage"), without_elision("aujourd'hui")
    ('étalonnage', "aujourd'hui")
    """
    found = _ELIDED.match(word)
    return word[found.end() :] if found else word
