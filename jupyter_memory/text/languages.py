"""Inflection, stop words, the language of a question, and the size of a text in tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Literal, get_args

from Stemmer import Stemmer

Prose = Literal["german", "french", "spanish"]

_WORD = re.compile(r"[^\W\d_]+")
# French words that lose their vowel before another: l'écart, qu'une.
_ELIDED = re.compile(r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)['’](?=\w)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Language:
    """A language whose inflections are known; ``frequent`` are words that nearly every text of the language has."""

    name: str
    stop_words: frozenset[str]
    frequent: tuple[str, ...]
    endings: tuple[str, ...]


def _words(lang: str, key: str = "stop_words") -> tuple[str, ...]:
    return tuple(" ".join(_DATA[lang][key]).split())


# JSON, since a kernel that never searches does not load tomllib.
_DATA = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
STOP_WORDS = frozenset(_words("english"))
LANGUAGES: Mapping[Prose, Language] = {
    key: Language(_DATA[key]["name"], frozenset(_words(key)), _words(key, "frequent"), _words(key, "endings"))
    for key in get_args(Prose)
}
# English words that others have as well: "Qui a décidé", "so war es".
_SHARED = {"a"}.union(*(STOP_WORDS & one.stop_words for one in LANGUAGES.values()))
# The function words that neither English nor code has.
_TELLING = {
    key: one.stop_words.difference(STOP_WORDS, _words("english", "elsewhere")) for key, one in LANGUAGES.items()
}


@dataclass(frozen=True, slots=True)
class Asked:
    """The language that the function words of a question show, and by how many different words."""

    language: Prose | None = None  # None where none occurs or two languages share them
    words: int = 0
    is_english: bool = False  # English words are at least as many


def asked_in(text: str) -> Asked:
    """Return what the function words of a question say about its language."""
    words = set(_WORD.findall(text.lower()))
    english = len((words & STOP_WORDS) - _SHARED)
    counts = {key: len(words & telling) for key, telling in _TELLING.items()}
    first, second = sorted(counts, key=counts.__getitem__, reverse=True)[:2]
    most = counts[first]
    if english and english >= most:
        return Asked(is_english=True)
    return Asked(first, most) if most > counts[second] else Asked()


def without_elision(word: str) -> str:
    """Return a French word without the article or pronoun that leans on it."""
    found = _ELIDED.match(word)
    return word[found.end() :] if found else word


# Snowball's stemmers say which forms belong together. The index has its own stemmer, for English; so the forms that a
# word may have are written out when it is asked for, and looked up as any word is. Nothing has to be indexed for that.

# The letters of these languages, each of which the index takes for one.
_LETTERS = re.compile("[a-zß-öø-ÿœ]+")
# Shorter words have few forms, and many words that look like one.
SHORTEST = 4


# Snowball knows the endings of German verbs, but not that -ieren is one syllable more.
_IEREN = re.compile(r"ier(?:en|t|te|ten|tes|ter|tem|ung|ungen|end|ende|enden|bar|bare|baren|barer|bares|barem)$")
_SPELLED_OUT = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"}
# German verbs may end in -t where their nouns end in -ung: "wiederholt". So long ones are no other words without it.
_PARTICIPLE = 7
# The other stemmers leave "classifi" of "classifier", but "classif" of "classification".
_IFIC = re.compile(r"ific?$")
# German words may be put together from two of so many letters each; -s- and -n- may stand between them.
_PART = 4
_LINKS = ("", "s", "es", "n", "en")


@lru_cache(maxsize=4_096)
def stems(word: str, language: Prose) -> frozenset[str]:
    """Return what all forms of a word have in common, one of which is enough."""
    word = word.lower()
    if language != "german":
        return frozenset((_IFIC.sub("if", _snowball(word, language)),))
    regular, found = _IEREN.subn("ier", word)
    if found:
        return frozenset((regular,))
    is_participle = word.endswith("t") and len(word) >= _PARTICIPLE
    return frozenset(_snowball(one, language) for one in ((word, word[:-1]) if is_participle else (word,)))


@lru_cache(maxsize=1_024)
def forms(word: str, language: Prose) -> tuple[str, ...]:
    """Return the forms that a word may have; most of them are none, and only those that a store holds matter."""
    word = word.lower()
    if len(word) < SHORTEST or not _LETTERS.fullmatch(word):
        return ()
    bases = []
    for base in sorted(stems(word, language)):
        bases.append(base)
        if language == "german" and "ss" in base:
            bases.append(base.replace("ss", "ß"))
        elif base.endswith("if"):
            bases += [f"{base}i", f"{base}ic"]
        elif language == "french" and base[-1:] not in "aeiou":
            # The stemmer writes a double consonant once: "étalonner" is under "étalon".
            bases.append(base + base[-1:])
    if language == "german":
        bases.append("".join(_SPELLED_OUT.get(letter, letter) for letter in word))
    endings = ("", *LANGUAGES[language].endings)
    return tuple(dict.fromkeys(base + ending for base in (*bases, word) for ending in endings))


def is_form(form: str, word: str, language: Prose) -> bool:
    return not stems(form, language).isdisjoint(stems(word, language))


def halves(word: str) -> Iterator[tuple[str, str]]:
    """Yield the two words that a German compound may be put together from."""
    word = word.lower()
    for place in range(_PART, len(word) - _PART + 1):
        first, second = word[:place], word[place:]
        for link in _LINKS:
            if first.endswith(link) and place - len(link) >= _PART:
                yield first.removesuffix(link), second


def _snowball(word: str, language: Prose) -> str:
    # A stemmer may not be shared between threads, and takes a microsecond to make.
    return str(Stemmer(language, 0).stemWord(word))


_PARTS = re.compile(
    r"""
      (?P<word>[A-Z]?[a-z]+|[A-Z]+)             # names are read in parts: load, Csv
    | (?P<digits>[0-9]+)
    | (?P<between>(?<=\S)[ ](?=\S))             # a token of most words begins with the space before it
    | (?P<blank>[\x00-\x20\x7f]+)               # the end of a line with the indentation after it
    | (?P<marks>[!-/:-@\[-`{-~]+)
    | (?P<foreign>[^\x00-\x7f]+)
    """,
    re.VERBOSE,
)
# What the first six letters of a word cost together, and each further four.
_FIRST, _FURTHER = 6, 4
_EQUAL = re.compile(r"(.)\1*")
_RULE = 8
# No token has more characters: sixteen equal marks, or so many blanks.
LONGEST_TOKEN = 16
# By the bytes of a character in UTF-8: accents, Greek, Cyrillic; Chinese, Japanese, Korean, Hindi, Thai; emoji.
_LETTER, _IDEOGRAPH, _EMOJI = 1.0, 1.25, 3.0


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text has; of joined lines, at most their sum plus one for each line break."""
    # For English prose, code, outputs, JSON, Chinese and Japanese, this is .96 to 1.5 times what o200k, cl100k and the
    # tokenizers of Claude 2 and Gemma 3 count; for German, .85 and .91 times what Claude 2 and cl100k count.
    tokens = 0.0
    for found in _PARTS.finditer(text):
        part = found.group()
        match found.lastgroup:
            case "word":
                tokens += 1 + max(0, ceil((len(part) - _FIRST) / _FURTHER))
            case "digits":
                tokens += len(part)
            case "marks":
                tokens += ceil(sum(ceil(len(equal[0]) / _RULE) for equal in _EQUAL.finditer(part)) / 2)
            case "foreign":
                tokens += sum(
                    _LETTER if letter < "\u0800" else _IDEOGRAPH if letter < "\U00010000" else _EMOJI for letter in part
                )
            case "blank":
                tokens += ceil(len(part) / LONGEST_TOKEN)
    return ceil(tokens)
