"""Scores cells below the others by how much of the query their own text lacks: headings lend their words to all below.

A cell is also found by the words of its notebook's title, of the headings above it and of the Markdown just before it.
Filler is full of such borrowed words and holds few of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar
from unicodedata import combining, normalize

from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.query.asked_words import idf
from jupyter_memory.types import Query

# A longer cell is judged by its beginning.
LONGEST = 2_400


@dataclass(frozen=True, slots=True)
class OwnWords:
    """Minus the square of the share of the query that the text of a cell lacks, by idf, 0 for the best cell.

    Words also count within names. Only cells have a value. Since it is counted from the best cell, cells do not sink
    below notes and files if none of them has a word of the query. A query of stop words gives no values.
    """

    label: ClassVar[str] = "the words of the query in its own text"
    description: ClassVar[str] = (
        "0 for the cell whose text, without its headings, has most of the query; negative for what others lack."
    )

    name: str = "own_words"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        cells = [one for one in context if one.memory.kind == "cell"]
        if not cells:
            return {}
        corpus = context.corpus
        forms = {one.word: one.inflected for one in query.terms.forms}
        words = [(stem, word) for word in context.name_words.content for stem in corpus.words(word)]
        asked = {stem: (stem, *corpus.words(" ".join(forms.get(word, ())))) for stem, word in words}
        counts = corpus.frequencies(chain.from_iterable(asked.values()))
        tells = [
            (tuple(map(_root, stems)), idf(max(counts[stem] for stem in stems), corpus.chunks))
            for stems in asked.values()
        ]
        whole = sum(tell for _, tell in tells)
        if not whole:
            return {}
        found = {one.key: -((_lacking(_plain(one.memory.text[:LONGEST]), tells) / whole) ** 2) for one in cells}
        best = max(found.values())
        return {key: value - best for key, value in found.items()}


def _lacking(text: str, tells: Sequence[tuple[Sequence[str], float]]) -> float:
    return sum(tell for roots, tell in tells if not any(root in text for root in roots))


def _plain(text: str) -> str:
    """Return a text as the index compares it: in lower case, without accents.

    >>> _plain("Größe, préparé")
    'große, prepare'
    """
    text = text.lower()
    if text.isascii():
        return text
    return "".join(character for character in normalize("NFD", text) if not combining(character))


def _root(stem: str) -> str:
    """Return what each form of a word begins with, plain: the stemmer writes "entries" and "entry" as "entri".

    >>> _root("entri"), _root("price"), _root("fi")
    ('entr', 'pric', 'fi')
    """
    stem = _plain(stem)
    return stem[:-1] if len(stem) > 3 and stem[-1] in "eiy" else stem
