"""Inflection, stop words, the language of a question, and the size of a text in tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Literal

from Stemmer import Stemmer


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _words("""
    a about above after again all also am an and any are aren't as at be because been before being below
    between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during
    each few for from further had hadn't has hasn't have haven't having he her here hers herself him himself
    his how i if in into is isn't it its itself just let's me more most my myself no nor not of off on once
    only or other our ours ourselves out over own same she should shouldn't so some such than that the their
    theirs them themselves then there these they this those through to too under until up very was wasn't we
    were weren't what what's when where which while who whom why will with won't would wouldn't you your yours
    yourself yourselves
""")
_GERMAN = _words("""
    aber alle allem allen aller alles als also am an andere anderen anderer anderes auch auf aus bei beim bin
    bis bist da dabei dadurch dafür daher damit dann daran darauf daraus darin das dass daß davon dazu dein
    deine dem den denn der deren des deshalb dessen die dies diese diesem diesen dieser dieses doch dort du
    durch ein eine einem einen einer eines einige er es etwas euch euer für gab gegen gibt habe haben hat hatte
    hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden
    jeder jedes jetzt kann kein keine keinem keinen keiner können könnte machen macht man manche mein meine
    meinem meinen meiner mich mir mit muss müssen nach nicht nichts noch nun nur ob oder ohne sehr sein seine
    seinem seinen seiner seit sich sie sind so soll sollen sollte sondern sonst über um und uns unser unsere
    unserem unseren unserer unter viel vom von vor wann war waren warum was weil welche welchem welchen welcher
    welches wem wen wenn wer werde werden wessen weshalb wie wieder wieso wieviel will wir wird wo wobei wodurch
    wofür woher wohin womit worden wurde wurden zu zum zur zwar zwischen
""")
_FRENCH = _words("""
    afin ai aucun aucune aussi autre autres aux avait avec avez avoir avons avaient ayant bien car ce ceci cela
    celle celles celui ces cet cette ceux chaque chez combien comme comment dans de depuis des donc dont du elle
    elles en encore entre est et étaient était étant été êtes être eu eux fait faire faut fut furent il ils je
    jusque la là laquelle le lequel les lesquels leur leurs lorsque lui ma mais me même mes moi mon ne ni nos
    notre nous on ont ou où par parce pas peu peut plus pour pourquoi puis puisque quand que quel quelle quelles
    quels qui quoi sa sans se selon sera seront ses si soit sommes son sont sous suis sur ta te tes toi ton tous
    tout toute toutes très trop tu un une vers voici vos votre vous
""")
_SPANISH = _words("""
    al algo algún alguna algunas alguno algunos ante antes aquel aquella aquellas aquello aquellos aquí así aun
    aún aunque cada como cómo con contra cual cuál cuáles cuales cuando cuándo cuanta cuánta cuántas cuanto
    cuánto cuántos de del desde después donde dónde dos durante el él ella ellas ellos en entonces entre era
    eran es esa esas ese eso esos esta está están estaba estaban estamos estas este esto estos estoy fue fueron
    ha había habían hace hacemos hacen hacer han hasta hay hemos hizo la las le les lo los mas más me mi mis
    mientras muy nada ni ningún ninguna no nos nosotros nuestra nuestras nuestro nuestros o os otra otras otro
    otros para pero poco por porque puede pueden pues que qué quien quién quienes quiénes se sea según ser sí
    sido sin sino sobre sois somos son soy su sus también tan tanto te tenemos tener tenía tiene tienen toda
    todas todavía todo todos tras tu tus un una unas uno unos usted ustedes vosotros y ya yo
""")

Prose = Literal["german", "french", "spanish"]

_WORD = re.compile(r"[^\W\d_]+")
# French words that lose their vowel before another: l'écart, qu'une.
_ELIDED = re.compile(r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)['’](?=\w)", re.IGNORECASE)
# English words that others have as well: "Qui a décidé", "so war es".
_SHARED = {"a", *STOP_WORDS & (_GERMAN | _FRENCH | _SPANISH)}
# Words of English, of code and of file names that other languages have for function words.
_ELSEWHERE = _words("""
    also am an and as at bin but can car de del den die dir do du el en era es fin for fue hat has he in is it
    la le man mais me mes mi mit more no nos o on or out par plus ser set si sin so some son sur ten tu un us
    war was we will y yo
""")


@dataclass(frozen=True, slots=True)
class Language:
    """A language whose inflections are known; ``frequent`` are words that nearly every text of the language has."""

    name: str
    stop_words: frozenset[str]
    frequent: tuple[str, ...]


LANGUAGES: Mapping[Prose, Language] = {
    "german": Language("German", _GERMAN, ("der", "und", "ist", "mit", "nicht", "den", "auf", "wird")),
    "french": Language("French", _FRENCH, ("les", "des", "est", "une", "dans", "pour", "sur", "avec")),
    "spanish": Language("Spanish", _SPANISH, ("los", "las", "una", "con", "para", "por", "del", "que")),
}
# The function words that neither English nor code has.
_TELLING: Mapping[Prose, frozenset[str]] = {
    key: one.stop_words - _ELSEWHERE - STOP_WORDS for key, one in LANGUAGES.items()
}


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


_ENDINGS: Mapping[Prose, str] = {
    "german": """
        e en er ern es em n s se sen ses st t te ten ter tes tem et etes ete eten end ende enden ender endes
        endem ung ungen bar bare baren lich liche lichen licher liches ig ige igen iger iges igem isch ische
        ischen ischer ischem isches heit heiten keit keiten in innen ieren iert ierte ierten ierter iertes
        ierung ierungen
    """,
    "french": """
        e s es é ée és ées er ez ent ait aient ant ante ants antes era eront erait ons ions ation ations ateur
        ateurs atrice atrices ement ements eur eurs euse euses if ifs ive ives ité ités ique iques iquement able
        ables al ale aux ales alement ir is it ie ies irent issent issait isse issant issants ition itions eux
        euse ment aire aires ence ences ance ances iste isme el elle els elles ellement
    """,
    "spanish": """
        o a os as e es ar er ir ado ada ados adas ido ida idos idas ando iendo an en ó aba aban aron ieron ará
        arán aría amos emos imos ación aciones ador adora adores adoras amiento amientos imiento imientos ante
        antes anza able ables ible ibles ico ica icos icas icamente idad idades ivo iva ivos ivas mente amente
        al ales oso osa osos osas ista istas ería ió ción ciones or ores ora encia encias ancia ancias
    """,
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
    endings = ("", *_ENDINGS[language].split())
    return tuple(dict.fromkeys(base + ending for base in (*bases, word) for ending in endings))


def is_form(form: str, word: str, language: Prose) -> bool:
    """Return whether two words are forms of one."""
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
    """Return about how many tokens a text has, rather too many than too few.

    For English prose, code, outputs, JSON, Chinese and Japanese, this is .96 to 1.5 times what o200k, cl100k and the
    tokenizers of Claude 2 and Gemma 3 count. For German, it is .85 and .91 times what the older two of them count
    (Claude 2, cl100k). The estimate of joined lines is at most the sum of theirs, plus one for each line break.
    """
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
