"""The nearest spellings of a word that a store does not hold, among those that it holds."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from jupyter_memory.embedders.tokenizer.bundled import tokens
from jupyter_memory.storage.base import Corpus, Snapshot
from jupyter_memory.text.identifiers import COLUMNS, IDENTIFIER, is_compound, parts
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import Query

# One slip in a short word, two in a long one whose stem is long as well; shorter words are near to too many others.
_SHORTEST, _LONG, _LONG_STEM, _SHORTEST_ROOT = 4, 8, 7, 4
# A form of a word, from its stem on.
_INFLECTION = re.compile(r"(?:e?s|ed|ing)")
# How British and American spellings of a stem differ: colour, centre, catalogue, grey; analyse and defence below.
_BRITISH = re.compile(r"(?<=o)u(?=r)|(?<=t)r$|(?<=og)u$|(?<=gr)e(?=i$)")
_AMERICAN = {"u": "", "r": "er", "e": "a"}
_HISSING = str.maketrans("cz", "ss")
# Of more that are near, those with the fewest slips are looked up.
_COUNTED = 12
# Words of a query that are looked up: what is longer was pasted.
CHECKED = 16
_MOST = 3


class Spelling(NamedTuple):
    """A stem that the store holds, how many slips away it is, and how many chunks hold it."""

    stem: str
    slips: int
    chunks: int


def respelled(query: Query, snapshot: Snapshot, columns: Collection[str]) -> tuple[Query, tuple[str, ...]]:
    """Return the query with other spellings of the words that the store does not hold, and a sentence on each word.

    Identifiers, their parts and quoted phrases are looked for as they are, and so is a word that is still typed.
    """
    fixed = as_they_are(query) | {one.word for one in query.terms.forms}
    if set(columns) == set(COLUMNS):
        fixed |= _held(query.terms.words[:CHECKED], snapshot.corpus)
    stems_tried: dict[str, None] = {}
    notices = []
    for word in query.terms.words[:CHECKED]:
        near = [] if word in fixed else nearest(word, snapshot, columns)
        if near:
            stems_tried.update(dict.fromkeys(one.stem for one in near))
            listed = ", ".join(f"{one.stem}…" for one in near)
            notices.append(
                f"No memory contains “{word}”, so the search also tried {listed}. "
                "Put the word in quotes to search for it exactly."
            )
    terms = replace(query.terms, respelled=tuple(stems_tried)) if stems_tried else query.terms
    return replace(query, terms=terms), tuple(notices)


def as_they_are(query: Query) -> set[str]:
    """Return what has no other form or spelling: identifiers with their parts, and the word that is still typed."""
    names = [name for name in IDENTIFIER.findall(query.text) if is_compound(name)]
    pieces = {piece for name in names for piece in (name.lower(), *parts(name))}
    return pieces | ({query.terms.prefix} if query.terms.prefix else set())


def nearest(word: str, snapshot: Snapshot, columns: Collection[str]) -> list[Spelling]:
    """Return the nearest spellings of a word, those that most chunks hold first; all are as many slips away.

    A slip is a letter too many, too few, another, or two that changed places (Damerau 1964). Names, numbers and short
    words have no other spelling, and a word that the store holds needs none. A word of everyday language was meant as
    it is, so that only its British or American form is looked for. Compared are words that begin with the same two
    letters, or with these the other way round, or without the second; long ones with three.
    """
    if len(word) < _SHORTEST or not word.isalpha() or not word.isascii() or snapshot.holds_word(word, columns):
        return []
    stems = snapshot.corpus.words(word)
    if len(stems) != 1 or len(stems[0]) < _SHORTEST - 1:
        return []
    (stem,) = stems
    alike = _alike(snapshot, stem, 2 if len(word) >= _LONG and len(stem) >= _LONG_STEM else 1)
    if _is_meant(word, stem):
        alike = {term: slips for term, slips in alike.items() if _american(term) == _american(stem)}
    near = sorted((slips, term) for term, slips in alike.items())
    found = [Spelling(term, slips, snapshot.chunk_count_of(term, columns)) for slips, term in near[:_COUNTED]]
    found = sorted((one for one in found if one.chunks), key=lambda one: (one.slips, -one.chunks, one.stem))
    return [one for one in found if one.slips == found[0].slips][:_MOST]


def is_everyday(word: str) -> bool:
    """Return whether a word is one of everyday language: it is one token, and a slip hardly ever leaves one.

    >>> is_everyday("sales"), is_everyday("forcast"), is_everyday("xgboost")
    (True, False, False)
    """
    return tokens([storable(word.lower())]).ids.size == 1


def _is_meant(word: str, stem: str) -> bool:
    """Return whether a word is of everyday language, or a form of one, such as "camped"."""
    if is_everyday(word):
        return True
    root = stem.removesuffix("e")
    if not word.startswith(root) or not _INFLECTION.fullmatch(word, len(root)):
        return False
    # Shorter ones are often abbreviations: "prces" is no form of "prc".
    return any(len(one) >= _SHORTEST_ROOT and is_everyday(one) for one in (root, f"{root}e"))


def _american(stem: str) -> str:
    return _BRITISH.sub(lambda found: _AMERICAN[found[0]], stem).translate(_HISSING)


def _held(words: Sequence[str], corpus: Corpus) -> set[str]:
    """Return those of these words whose stems chunks hold, whichever column they are in."""
    of_each = {word: corpus.words(word) for word in words}
    found = corpus.frequencies(chain.from_iterable(of_each.values()))
    return {word for word, of_it in of_each.items() if all(found[stem] for stem in of_it)}


def _alike(snapshot: Snapshot, stem: str, allowed: int) -> dict[str, int]:
    """Return the stems that begin alike and are at most ``allowed`` slips away, with their slips."""
    # Imported late: its 48 modules take 10 ms, and few searches need them.
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cdist

    first, second, third = stem[0], stem[1], stem[2:3]
    if allowed > 1:
        begins = {stem[:3], first + third + second, second + first + third, first + second + stem[3:4]}
    else:
        begins = {first + second, second + first, first + third}
    words = {term for letters in begins for term in snapshot.words_beginning(letters)}
    terms = [term for term in words if abs(len(term) - len(stem)) <= allowed]
    if not terms:
        return {}
    # The stemmer keeps or takes a final "e" by the very letters that slipped: "prices" is under "price", but "pirces"
    # under "pirc". One more than allowed means any higher number of slips.
    slips = cdist([stem, f"{stem}e"], terms, scorer=OSA.distance, score_cutoff=allowed, dtype=np.uint8).min(axis=0)
    return {terms[place]: int(slips[place]) for place in np.flatnonzero(slips <= allowed)}
