"""The forms of words in German, French and Spanish: "Preise" and "Preis", "normaliser" and "normalisation".

Snowball's stemmers say which forms belong together. The index has its own stemmer, for English; so the forms that a
word may have are written out when it is asked for, and looked up as any word is. Nothing has to be indexed for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from Stemmer import Stemmer

from jupyter_memory.text.words.prose import Prose

# The letters of these languages, each of which the index takes for one.
_LETTERS = re.compile("[a-zß-öø-ÿœ]+")
# Shorter words have few forms, and many words that look like one.
SHORTEST = 4


def _listed(text: str) -> tuple[str, ...]:
    return ("", *text.split())


_ENDINGS: Mapping[Prose, tuple[str, ...]] = {
    "german": _listed(
        """
        e en er ern es em n s se sen ses st t te ten ter tes tem et etes ete eten end ende enden ender endes
        endem ung ungen bar bare baren lich liche lichen licher liches ig ige igen iger iges igem isch ische
        ischen ischer ischem isches heit heiten keit keiten in innen ieren iert ierte ierten ierter iertes
        ierung ierungen
        """
    ),
    "french": _listed(
        """
        e s es é ée és ées er ez ent ait aient ant ante ants antes era eront erait ons ions ation ations ateur
        ateurs atrice atrices ement ements eur eurs euse euses if ifs ive ives ité ités ique iques iquement able
        ables al ale aux ales alement ir is it ie ies irent issent issait isse issant issants ition itions eux
        euse ment aire aires ence ences ance ances iste isme el elle els elles ellement
        """
    ),
    "spanish": _listed(
        """
        o a os as e es ar er ir ado ada ados adas ido ida idos idas ando iendo an en ó aba aban aron ieron ará
        arán aría amos emos imos ación aciones ador adora adores adoras amiento amientos imiento imientos ante
        antes anza able ables ible ibles ico ica icos icas icamente idad idades ivo iva ivos ivas mente amente
        al ales oso osa osos osas ista istas ería ió ción ciones or ores ora encia encias ancia ancias
        """
    ),
}
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
    """Return what all forms of a word have in common, one of which is enough.

    >>> [sorted(stems(word, "german")) for word in ("Häuser", "Groesse", "normalisiert", "wiederholt")]
    [['haus'], ['gross'], ['normalisier'], ['wiederhol', 'wiederholt']]
    """
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
    """Return the forms that a word may have; most of them are none, and only those that a store holds matter.

    >>> {"preis", "preisen"} < set(forms("Preise", "german")), len(forms("und", "german"))
    (True, 0)
    """
    if len(word) < SHORTEST or not _LETTERS.fullmatch(word.lower()):
        return ()
    return tuple(
        dict.fromkeys(base + ending for base in _bases(word.lower(), language) for ending in _ENDINGS[language])
    )


def is_form(form: str, word: str, language: Prose) -> bool:
    """Return whether two words are forms of one."""
    return not stems(form, language).isdisjoint(stems(word, language))


def halves(word: str) -> Iterator[tuple[str, str]]:
    """Yield the two words that a German compound may be put together from.

    >>> ("daten", "bank") in halves("Datenbank"), ("vertrag", "laufzeit") in halves("Vertragslaufzeit")
    (True, True)
    """
    word = word.lower()
    for place in range(_PART, len(word) - _PART + 1):
        first, second = word[:place], word[place:]
        for link in _LINKS:
            if first.endswith(link) and place - len(link) >= _PART:
                yield first.removesuffix(link), second


def _bases(word: str, language: Prose) -> Iterator[str]:
    """Yield what endings are put to: the stem, and other ways to write it."""
    for base in sorted(stems(word, language)):
        yield base
        if language == "german" and "ss" in base:
            yield base.replace("ss", "ß")
        elif base.endswith("if"):
            yield from (f"{base}i", f"{base}ic")
        elif language == "french" and base[-1:] not in "aeiou":
            # The stemmer writes a double consonant once: "étalonner" is under "étalon".
            yield base + base[-1:]
    spelled = "".join(_SPELLED_OUT.get(letter, letter) for letter in word)
    if language == "german" and spelled != word:
        yield spelled
    yield word


def _snowball(word: str, language: Prose) -> str:
    # A stemmer may not be shared between threads, and takes a microsecond to make.
    return str(Stemmer(language, 0).stemWord(word))
