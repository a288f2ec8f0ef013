"""What the words of a query say in this store: names, other forms and spellings."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, filterfalse
from math import log1p, sqrt
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.base import tokens
from jupyter_memory.search.query.parser import MAX_TERMS, content_words
from jupyter_memory.storage.base import Corpus
from jupyter_memory.text.identifiers import COLUMNS, IDENTIFIER, is_compound, parts, plainer, telling_bigrams
from jupyter_memory.text.languages import (
    LANGUAGES,
    SHORTEST,
    STOP_WORDS,
    Prose,
    asked_in,
    forms,
    halves,
    is_form,
    without_elision,
)
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import Query
from jupyter_memory.types.search import WordForms

# The nearest spellings of a word that a store does not hold: one slip in a short word, two in a long one whose stem is
# long as well; shorter words are near to too many others.
_SHORTEST, _LONG, _LONG_STEM, _SHORTEST_ROOT = 4, 8, 7, 4
# A form of a word, from its stem on.
_INFLECTION = re.compile(r"(?:e?s|ed|ing)")
# How British and American spellings of a stem differ: colour, centre, catalogue, grey; analyse and defence below.
_BRITISH = re.compile(r"(?<=o)u(?=r)|(?<=t)r$|(?<=og)u$|(?<=gr)e(?=i$)")
_AMERICAN = {"u": "", "r": "er", "e": "a"}
_HISSING = str.maketrans("cz", "ss")
# An umlaut that is written out: the index has Müller as "muller".
_UMLAUT = re.compile(r"(?<=[aou])e(?=[^aeiou])")
# Of more that are near, those with the fewest slips are looked up.
_COUNTED = 12
# Words of a query that are looked up: what is longer was pasted.
CHECKED = 16
_MOST_SPELLINGS = 3


def respelled(query: Query, corpus: Corpus, columns: Collection[str]) -> tuple[Query, tuple[str, ...]]:
    """Return the query with other spellings of the words that the store does not hold, and a sentence on each word.

    Identifiers, their parts and quoted phrases are looked for as they are, and so is a word that is still typed.
    """
    fixed = _as_they_are(query) | {one.word for one in query.terms.forms}
    words = query.terms.words[:CHECKED]
    if set(columns) == set(COLUMNS):
        of_each = dict(zip(words, map(corpus.words, words), strict=True))
        found = corpus.frequencies(chain.from_iterable(of_each.values()), searched=True)
        fixed |= {word for word, of_it in of_each.items() if all(map(found.__getitem__, of_it))}
    else:
        fixed.update(word for word in words if corpus.holds_word(word, columns))
    stems_tried: dict[str, None] = {}
    notices = []
    for word in words:
        near = [] if word in fixed else _nearest(word, corpus, columns)
        if near:
            stems_tried.update(dict.fromkeys(near))
            listed = ", ".join(f"{stem}…" for stem in near)
            notices.append(
                f"No memory contains “{word}”, so the search also tried {listed}. "
                "Put the word in quotes to search for it exactly."
            )
    terms = replace(query.terms, respelled=tuple(stems_tried)) if stems_tried else query.terms
    return replace(query, terms=terms), tuple(notices)


def _as_they_are(query: Query) -> set[str]:
    # Identifiers with their parts, and the word that is still typed, have no other form or spelling.
    pieces = {query.terms.prefix} if query.terms.prefix else set[str]()
    for name in filter(is_compound, IDENTIFIER.findall(query.text)):
        pieces |= {name.lower(), *parts(name)}
    return pieces


def _nearest(word: str, corpus: Corpus, columns: Collection[str]) -> list[str]:
    # Those that most chunks hold first; all are as many slips away. A slip is a letter too many, too few, another, or
    # two that changed places (Damerau 1964). Names, numbers and short words have no other spelling. Compared are words
    # that begin with the same two letters, or with these the other way round, or without the second; long ones with
    # three.
    if len(word) < _SHORTEST or not word.isalpha() or not word.isascii():
        return []
    stems = corpus.words(word)
    if len(stems) != 1 or len(stems[0]) < _SHORTEST - 1:
        return []
    (stem,) = stems
    first, second, third = stem[0], stem[1], stem[2:3]
    if len(word) >= _LONG and len(stem) >= _LONG_STEM:
        allowed, begins = 2, {stem[:3], first + third + second, second + first + third, first + second + stem[3:4]}
    else:
        allowed, begins = 1, {first + second, second + first, first + third}
    lengths = range(len(stem) - allowed, len(stem) + allowed + 1)
    terms = [term for term in chain.from_iterable(map(corpus.beginning, begins)) if len(term) in lengths]
    if not terms:
        return []

    slips = _slips(stem, terms, allowed)
    near = sorted((int(slips[place]), terms[place]) for place in np.flatnonzero(slips <= allowed))
    root = stem.removesuffix("e")
    # A word of everyday language was meant as it is, so that only its British or American form is looked for, or that
    # with an umlaut.
    meant = _is_everyday(word)
    if not meant and word.startswith(root) and _INFLECTION.fullmatch(word, len(root)):
        # Shorter ones are often abbreviations: "prces" is no form of "prc".
        meant = any(len(one) >= _SHORTEST_ROOT and _is_everyday(one) for one in (root, f"{root}e"))
    if meant:
        near = [(slip, term) for slip, term in near if _alike(term) == _alike(stem)]
    counted = ((slip, -corpus.chunk_count(term, columns), term) for slip, term in near[:_COUNTED])
    found = sorted(one for one in counted if one[1])
    return [term for slip, _, term in found if slip == found[0][0]][:_MOST_SPELLINGS]


def _slips(stem: str, terms: Sequence[str], most: int) -> NDArray[np.int16]:
    # How many slips are between each term and a stem (the distance of optimal string alignment), or any number above
    # `most`. The stemmer keeps or takes a final "e" by the very letters that slipped: "prices" is under "price", but
    # "pirces" under "pirc", so the stem with it counts as well. All terms are compared at once, a row for each letter
    # of the stem: after each letter of the terms, the slips so far less the letters of the term so far.
    letters = np.array(terms).view(np.uint32).reshape(len(terms), -1).T.copy()
    before = row = np.zeros((len(letters) + 1, len(terms)), np.int16)
    same_before = np.zeros(letters.shape, np.bool_)
    for letter in f"{stem}e":
        same = letters == ord(letter)
        longer = row + np.int16(1)
        np.minimum(longer[1:], row[:-1] - same, out=longer[1:])
        np.minimum(longer[2:], before[:-2] - 1, out=longer[2:], where=same_before[1:] & same[:-1])
        for _ in range(most):  # a letter that the stem lacks: more in a row are too many
            np.minimum(longer[1:], longer[:-1], out=longer[1:])
        before, row, same_before = row, longer, same
    ends = np.array([*map(len, terms)], np.int16)
    return np.minimum(before, row)[ends, np.arange(len(terms))] + ends


def _is_everyday(word: str) -> bool:
    # It is one token, and a slip hardly ever leaves one: "sales" is, "forcast" and "xgboost" are not.
    return tokens([storable(word.lower())]).ids.size == 1


def _alike(stem: str) -> str:
    return _BRITISH.sub(lambda found: _AMERICAN[found[0]], _UMLAUT.sub("", stem)).translate(_HISSING)


# A question without function words may be in any language that some of the chunks are in; where many are, its compounds
# are looked for as well, and its fillers left out.
_SOME, _MUCH = 0.02, 0.1
# One function word of another language may be a name; so many are a sentence.
SENTENCE = 2
# A word in a longer one says something from so many letters on, and the longer one has so many more.
_PART, _REST = 5, 4
# Compounds that are tried for a word, those that most chunks hold.
_COMPOUNDS = 8
# In a larger store, reading all words takes too long to find those that end alike.
_SMALL = 20_000


def inflected(query: Query, corpus: Corpus) -> Query:
    """Return the query with the other forms of its words that the store holds, and without another language's fillers.

    A question in English, or in a store that is all English, is returned as it is.
    """
    asked = asked_in(query.text)
    if asked.is_english or not query.terms.words:
        return query
    shares = {language: share(corpus, language) for language in ([asked.language] if asked.language else LANGUAGES)}
    if asked.language and (asked.words >= SENTENCE or shares[asked.language] >= _MUCH):
        query = replace(query, language=asked.language)
    least = 0 if asked.language else _SOME
    spoken = [language for language, found in shares.items() if found and found >= least]
    words = tuple(_telling_words(query.terms.words, query.language))
    # Words alone may be English, and code has its own compounds: "string" is in "tostring".
    fixed = _as_they_are(query)
    likely = [one for one in words[:CHECKED] if one not in fixed and (asked.language or not _is_everyday(one))]
    compounds = asked.language == "german" or shares.get("german", 0) >= _MUCH
    every = [_forms(word, spoken, corpus, compounds=compounds) for word in likely] if spoken else []
    held = tuple(one for one in every if one.inflected or one.compounds or one.parts)
    if words == query.terms.words and not held:
        return query
    return replace(query, terms=replace(query.terms, words=words, forms=held))


def _telling_words(words: Sequence[str], language: Prose | None) -> Sequence[str]:
    if language is None:
        return words
    stop_words = LANGUAGES[language].stop_words
    telling = [word for word in words if stop_words.isdisjoint((word.lower(), without_elision(word.lower())))]
    return telling or words


def share(corpus: Corpus, language: Prose) -> float:
    """Return about which share of a store's chunks is in a language: those that its most frequent words are in.

    The third of them counts, as another language may have one or two.
    """
    found = _counts(LANGUAGES[language].frequent, corpus)
    return sorted(found.values())[-3] / max(1, corpus.chunks)


def _counts(words: Iterable[str], corpus: Corpus) -> dict[str, int]:
    # Of what the index takes for several words, none.
    stems = {word: found[0] for word in words if len(found := corpus.words(word)) == 1}
    counted = corpus.frequencies(stems.values())
    return {word: counted[stem] for word, stem in stems.items()}


def _forms(word: str, languages: Sequence[Prose], corpus: Corpus, *, compounds: bool) -> WordForms:
    bare = without_elision(word) if "french" in languages else word
    if not bare.isalpha():
        return WordForms(word)
    held = [bare] if bare != word else []
    for language in languages:
        written = forms(bare, language)
        stems = corpus.words(" ".join(written))
        # A look at every form would take a hundred times as long as reading the words that begin alike.
        known = {term for letters in {stem[:_BEGINNING] for stem in stems} for term in corpus.beginning(letters)}
        by_stem = dict.fromkeys(corpus.words(bare), "")
        for form, stem in zip(written, stems, strict=True):
            if stem in known and is_form(form, bare, language):
                by_stem.setdefault(stem, form)
        held += filter(None, by_stem.values())
    found = WordForms(word, tuple(dict.fromkeys(held)))
    return _with_compounds(found, bare, corpus) if compounds and "german" in languages else found


def _with_compounds(found: WordForms, word: str, corpus: Corpus) -> WordForms:
    own = set(chain.from_iterable(map(corpus.words, (word, *found.inflected))))
    telling = tuple(stem for stem in own if len(stem) >= _PART)
    longer = {term for stem in telling for term in corpus.beginning(stem) if len(term) >= len(stem) + _REST}
    if telling and corpus.chunks <= _SMALL:
        longer.update(corpus.ending(telling))
    counted = corpus.frequencies(longer - own)
    best = sorted((stem for stem in counted if stem.isalpha()), key=lambda stem: (-counted[stem], stem))
    found = replace(found, compounds=tuple(best[:_COMPOUNDS]))
    if any(corpus.frequencies(own).values()):
        return found

    pairs = [pair for pair in halves(word) if min(map(len, pair)) >= SHORTEST]
    counts = _counts(dict.fromkeys(chain.from_iterable(pairs)), corpus)
    held = [pair for pair in pairs if all(map(counts.get, pair))]
    if not held:
        return found
    # The longer the shorter part, the less likely it is there by chance.
    return replace(found, parts=tuple(corpus.words(" ".join(max(held, key=lambda pair: min(map(len, pair)))))))


# The name of a tool or a library says more of what is asked for than a verb of the same idf.
NAME = 1.5

# What a library or a variable is called for short has so many letters at most: np, plt, df.
_ALIAS = 3

# In a smaller store it is chance which words are rare.
FEW_CHUNKS = 50

# Stems that are one word if they stand in a row.
Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskedWord:
    """A word, an identifier or a quoted phrase of a query.

    ``rows`` are its spellings, of which a text must hold one; ``near`` are others that it may be a slip for, and
    ``parts`` the stems of the parts of an identifier. ``count`` is how many chunks hold it, ``weight`` its idf, more
    for a name. It is ``missing`` if nothing in the store holds it, nor a word that is near in spelling.
    """

    text: str
    rows: tuple[Row, ...]
    near: tuple[Row, ...] = ()
    parts: Row = ()
    count: int = 0
    weight: float = 0.0
    is_name: bool = False
    missing: bool = False


def idf(count: int, chunks: int) -> float:
    """Return what a word tells that so many of the chunks hold, as in Lucene's BM25.

    What most of them hold tells as much as what half of them hold: it was asked for, however common it is here.

    >>> [round(idf(count, 100), 1) for count in (0, 1, 50, 100)]
    [5.3, 4.2, 0.7, 0.7]
    """
    count = min(count, (chunks + 1) // 2)
    return log1p((chunks - count + 0.5) / (count + 0.5))


def asked_words(query: Query, corpus: Corpus, columns: Mapping[str, float]) -> tuple[AskedWord, ...]:
    """Return the words of a query with what they tell in a store; stop words tell nothing."""
    terms, named = query.terms, query.temporal
    links: dict[str, None] = {}
    content = content_words(query.text, alone=not terms.phrases and not terms.ident)
    for word in _telling_words(content, query.language):
        *above, last = [word] if word.replace(".", "").isdigit() else word.split(".")
        links |= dict.fromkeys([*(link for link in above if len(link) > _ALIAS), last])
    names = list(links)[:MAX_TERMS]
    # Such a word may still go on, or it is looked for in the dates of memories.
    open_words = {terms.prefix}
    if named is not None and query.time_filters is not None:
        open_words.update(content_words(query.text[named.start : named.end].lower(), alone=False))
    # Counted at once, and kept.
    spelled = chain.from_iterable(map(_spellings, names))
    corpus.frequencies(chain.from_iterable(map(corpus.words, spelled)))

    counted = partial(_count, corpus=corpus, columns=columns)
    forms = {one.word: one for one in terms.forms}
    found = []
    for place, (before, name, after) in enumerate(zip(["", *names], names, [*names[1:], ""], strict=False)):
        its = forms.get(name.lower(), WordForms(name))
        spellings = [*_spellings(name), *its.inflected]
        if not (count := counted(spellings)):
            # "time zone" is what others write as timezone.
            spellings += [pair for pair in (before + name, name + after) if pair != name]
            count = counted(spellings)
        near: tuple[Row, ...] = tuple((stem,) for stem in its.compounds)
        # Of a pasted text, whose later words are not looked up, none is missed.
        looked_up = place < CHECKED and not near and not its.parts
        if looked_up and not count:
            # Near stems, or its parts with near ones among them.
            pieces = parts(name) if is_compound(name) else [name.lower()]
            mended = []
            for piece in pieces:
                stems = [] if corpus.holds_word(piece, columns) else _nearest(piece, corpus, columns)
                mended.append(stems[0] if stems else piece)
            if len(pieces) == 1:
                near = tuple((stem,) for stem in stems)
            elif mended != pieces and corpus.holds_phrase(" ".join(mended), columns):
                near = (tuple(corpus.words(" ".join(mended))),)
        is_name, is_missed = is_compound(name) or not _is_everyday(name), looked_up and not near
        is_missed = is_missed and any(map(str.isalpha, name))
        asked = _asked(name, spellings, count, corpus, near=near, is_name=is_name, is_missed=is_missed)
        if asked.count or name.lower() not in open_words:
            found.append(replace(asked, parts=its.parts) if its.parts else asked)
    found += [_asked(phrase, [phrase], counted([phrase]), corpus, is_missed=True) for phrase in terms.phrases]
    # A pair of characters may lie across two words, so that it is not missed.
    pairs = dict.fromkeys(telling_bigrams(query.text))
    found += [_asked(pair, [pair], counted([pair]), corpus) for pair in pairs if pair in terms.ident]
    return tuple(word for word in found if word.rows)


def _spellings(name: str) -> list[str]:
    # As it is, in plain characters, in one piece, its parts side by side.
    together = ["".join(parts(name)), " ".join(parts(name))] if is_compound(name) else []
    return [name, *plainer(name), *together]


def _count(spellings: Sequence[str], corpus: Corpus, columns: Mapping[str, float]) -> int:
    # How many chunks hold the most frequent spelling.
    found = 0
    for spelling in spellings:
        stems = corpus.words(spelling)
        rarest = min(corpus.frequencies(stems).values(), default=0)
        if rarest > found and (len(stems) == 1 or corpus.holds_phrase(spelling, columns)):
            found = rarest
    return found


def _asked(
    text: str,
    spellings: Sequence[str],
    count: int,
    corpus: Corpus,
    *,
    near: tuple[Row, ...] = (),
    is_name: bool = False,
    is_missed: bool = False,
) -> AskedWord:
    return AskedWord(
        text,
        rows=tuple(filter(None, dict.fromkeys(map(tuple, map(corpus.words, spellings))))),
        near=near,
        parts=tuple(chain.from_iterable(map(corpus.words, parts(text)))) if is_compound(text) else (),
        count=count,
        weight=idf(count, max(corpus.chunks, FEW_CHUNKS)) * (NAME if is_name else 1),
        is_name=is_name,
        missing=is_missed and not count,
    )


# A word with the names that it is reached through: `Client`, `httpx.Client.send`.
_WORD = re.compile(r"\w+(?:\.\w+)*")
# Words that are looked at; a pasted page is no name.
_MOST_CONTENT = 32
# Files and other names that are kept taken apart, some hundred bytes each.
_MOST_PATHS, _MOST_NAMES = 4_096, 16_384
# A beginning with fewer letters says little: "con" is that of config, connection and content.
_BEGINNING = 4


def words_of(text: str) -> list[str]:
    """Return the words of a query, names with dots in one piece, as Python compares names."""
    return _WORD.findall(normalize("NFKC", text))


@lru_cache(_MOST_PATHS)
def names_in(source: str) -> tuple[str, str, str]:
    """Return the names of a file: of the folder above its folder, of its folder, and its own without the ending."""
    *_, above, folder, name = ["", "", *source.replace(os.sep, "/").rsplit("/", 3)]
    return above, folder, name.rpartition(".")[0] or name


class NameWords:
    """The content words of a query, by the parts of their names; what was compared once is remembered."""

    def __init__(self, text: str, corpus: Corpus) -> None:
        written = words_of(text)
        self.written = frozenset(map(str.lower, written))
        every = dict.fromkeys(chain.from_iterable(map(parts, written)))
        content = [part for part in every if len(part) > 1 and part not in STOP_WORDS] or list(every)
        self.content = tuple(content[:_MOST_CONTENT])
        # A word that the index splits has no stem.
        self._words = [(word, (corpus.words(word) or [word])[0]) for word in self.content]
        self._meant: dict[str, int] = {}
        self._covers: dict[str, float] = {}
        # Where no beginning of any word is, there is no word.
        self._beginnings: dict[str, None] = {}
        # What means the same begins with the same letter.
        self._of_letter: dict[str, list[tuple[int, str, str]]] = {}
        for place, (word, stem) in enumerate(self._words):
            self._beginnings |= dict.fromkeys((word[:_BEGINNING], stem[:_BEGINNING]))
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

    def titles(self, texts: Iterable[str]) -> Mapping[str, float]:
        """Return how well each title answers the query, as `cover` does; its stop words do not count."""
        found = dict.fromkeys(texts, 0.0)
        for text in found:
            if (not text.isascii() or any(map(text.lower().__contains__, self._beginnings))) and (
                telling := list(filterfalse(STOP_WORDS.__contains__, _parts(text)))
            ):
                found[text] = self._cover(telling)
        return found

    def best(self, names: str) -> tuple[float, str]:
        """Return how well the best of several names, separated by blanks, answers the query, and which it is."""
        lowered, likely = names.lower(), []
        if len(lowered) != len(names):
            # Some capital letters have small ones of another length.
            likely = names.split()
        for letters in self._beginnings if len(lowered) == len(names) else ():
            at = lowered.find(letters)
            while at >= 0:
                end = lowered.find(" ", at)
                end = len(names) if end < 0 else end
                likely.append(names[lowered.rfind(" ", 0, at) + 1 : end])
                at = lowered.find(letters, end)
        best, found = 0.0, ""
        for name in likely:
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
        # A part of a name means a word: its stem or plural, or one of them begins with the other.
        found = self._meant.get(part)
        if found is None:
            found = 0
            for bit, word, stem in self._of_letter.get(part[:1], ()):
                goes_on = len(stem) >= _BEGINNING and part.startswith(stem)
                if goes_on or part in (word, stem, f"{word}s") or (len(part) >= _BEGINNING and word.startswith(part)):
                    found |= bit
            self._meant[part] = found
        return found


@lru_cache(_MOST_NAMES)
def _parts(name: str) -> tuple[str, ...]:
    return tuple(parts(name))
