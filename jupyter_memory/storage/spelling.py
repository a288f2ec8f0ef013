"""The nearest spellings of a word that a store does not hold, among those that it holds."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import apsw
import numpy as np

from jupyter_memory.storage.expressions import open_vocabulary
from jupyter_memory.storage.statistics import Statistics
from jupyter_memory.storage.tokens import stems
from jupyter_memory.types import Query
from jupyter_memory.words import COLUMNS, IDENTIFIER, is_compound, parts

# One slip in a short word, two in a long one; shorter words are near to too many others.
_SHORTEST, _LONG = 4, 8
# Of more that are near, those with the fewest slips are looked up.
_COUNTED = 12
# Words of a query that are looked up: what is longer was pasted.
_CHECKED = 16
_MOST = 3


class Spelling(NamedTuple):
    """A stem that the store holds, how many slips away it is, and how many chunks hold it."""

    stem: str
    slips: int
    chunks: int


def respelled(
    connection: apsw.Connection, query: Query, columns: Collection[str], counts: Statistics | None = None
) -> tuple[Query, tuple[str, ...]]:
    """Return the query with other spellings of the words that the store does not hold, and a sentence on each word.

    ``counts`` may know already which it holds. Identifiers, their parts and quoted phrases are looked for as they are,
    and so is a word that is still typed.
    """
    names = [name for name in IDENTIFIER.findall(query.text) if is_compound(name)]
    as_they_are = {piece for name in names for piece in (name.lower(), *parts(name))} | {query.terms.prefix}
    if counts is not None and set(columns) == set(COLUMNS):
        as_they_are |= _held(query.terms.words[:_CHECKED], counts)
    stems_tried: dict[str, None] = {}
    notices = []
    for word in query.terms.words[:_CHECKED]:
        near = [] if word in as_they_are else nearest(connection, word, columns, counts)
        if near:
            stems_tried.update(dict.fromkeys(one.stem for one in near))
            listed = ", ".join(f"{one.stem}…" for one in near)
            notices.append(
                f"Nothing here holds “{word}”, so words like {listed} were also looked for; quote it to keep it."
            )
    terms = replace(query.terms, respelled=tuple(stems_tried)) if stems_tried else query.terms
    return replace(query, terms=terms), tuple(notices)


def _held(words: Sequence[str], counts: Statistics) -> set[str]:
    """Return those of these words whose stems chunks hold, whichever column they are in."""
    of_each = {word: counts.words(word) for word in words}
    found = counts.frequencies(chain.from_iterable(of_each.values()))
    return {word for word, of_it in of_each.items() if all(found[stem] for stem in of_it)}


def is_held(connection: apsw.Connection, word: str, columns: Collection[str]) -> bool:
    """Return whether any chunk holds a word, by its stem, in one of these columns."""
    # The table of places tells the first at once; the others count all of them before.
    connection.execute("create virtual table if not exists temp.places using fts5vocab(main, keyword, instance)")
    held = "select 1 from temp.places where term = ? and col in (select value from json_each(?)) limit 1"
    named = json.dumps(list(columns))
    return all(connection.execute(held, (stem, named)).get for stem in stems(connection, word))


def nearest(
    connection: apsw.Connection, word: str, columns: Collection[str], counts: Statistics | None = None
) -> list[Spelling]:
    """Return the nearest spellings of a word, the best first: by slips, then by how many chunks hold them.

    A slip is a letter too many, too few, another, or two that changed places (Damerau 1964). Names, numbers and short
    words have no other spelling, and a word that the store holds needs none. Compared are words that begin with the
    same two letters, or with these otherwise around, or without the second; long ones with three. ``counts`` keeps
    words that were read before.
    """
    if len(word) < _SHORTEST or not word.isalpha() or not word.isascii() or is_held(connection, word, columns):
        return []
    stem = stems(connection, word)
    if len(stem) != 1 or len(stem[0]) < _SHORTEST - 1:
        return []
    allowed = 2 if len(word) >= _LONG else 1
    counts = Statistics(connection) if counts is None else counts
    near = sorted((slips, term) for term, slips in _alike(counts, stem[0], allowed).items())
    found = [Spelling(term, count, _chunks(connection, term, columns)) for count, term in near[:_COUNTED]]
    found = [one for one in found if one.chunks]
    return sorted(found, key=lambda one: (one.slips, -one.chunks, one.stem))[:_MOST]


def _chunks(connection: apsw.Connection, stem: str, columns: Collection[str]) -> int:
    """Return how many chunks hold a stem in that of these columns where most do; it may be gone since."""
    open_vocabulary(connection)
    found = connection.execute("select col, doc from temp.vocabulary where term = ?", (stem,))
    return max((count for column, count in found if column in columns), default=0)


def _alike(counts: Statistics, stem: str, allowed: int) -> dict[str, int]:
    """Return the stems that begin alike and are at most ``allowed`` slips away, with their slips."""
    # Its 48 modules take 10 ms, and few searches need them.
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cdist

    first, second, third = stem[0], stem[1], stem[2:3]
    if allowed > 1:
        begins = {stem[:3], first + third + second, second + first + third, first + second + stem[3:4]}
    else:
        begins = {first + second, second + first, first + third}
    words = {term for letters in begins for term in counts.beginning(letters)}
    terms = [term for term in words if abs(len(term) - len(stem)) <= allowed]
    if not terms:
        return {}
    # The stemmer keeps or takes a final "e" by the very letters that slipped: "prices" is under "price", but "pirces"
    # under "pirc". One more than allowed is what stands for any higher number of slips.
    slips = cdist([stem, f"{stem}e"], terms, scorer=OSA.distance, score_cutoff=allowed, dtype=np.uint8).min(axis=0)
    return {terms[place]: int(slips[place]) for place in np.flatnonzero(slips <= allowed)}
