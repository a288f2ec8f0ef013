"""The words of a query, what each of them tells in a store, and which of them nothing there holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import log1p

from jupyter_memory.search.query.inflections import telling_words
from jupyter_memory.search.query.parser import MAX_TERMS, content_words
from jupyter_memory.search.query.spelling import CHECKED, is_everyday, nearest
from jupyter_memory.storage.base import Snapshot
from jupyter_memory.text.identifiers import is_compound, parts, plainer, telling_bigrams
from jupyter_memory.types import Query
from jupyter_memory.types.search import WordForms

# The name of a tool or a library says more of what is asked for than a verb of the same idf.
NAME = 1.5

# What a library or a variable is called for short has so many letters at most: np, plt, df.
_ALIAS = 3

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


def asked_words(query: Query, snapshot: Snapshot, columns: Mapping[str, float]) -> tuple[AskedWord, ...]:
    """Return the words of a query with what they tell in a store; stop words tell nothing."""
    terms, held = query.terms, _Held(snapshot, columns)
    names = list(dict.fromkeys(_names(query, alone=not terms.phrases and not terms.ident)))[:MAX_TERMS]
    forms = {one.word: one for one in terms.forms}
    held.read_ahead(names)
    between = zip(names, ["", *names], [*names[1:], ""], strict=False)
    found = [
        _asked_name(name, before, after, held, forms.get(name.lower(), WordForms(name)), looked_up=place < CHECKED)
        for place, (name, before, after) in enumerate(between)
    ]
    # Such a word may still go on, or it is looked for in the dates of memories.
    open_words = {terms.prefix, *_of_time(query)}
    found = [word for word in found if word.count or word.text.lower() not in open_words]
    found += [_asked(phrase, [phrase], held, is_missed=True) for phrase in terms.phrases]
    # A pair of characters may lie across two words, so that it is not missed.
    found += [_asked(pair, [pair], held) for pair in dict.fromkeys(telling_bigrams(query.text)) if pair in terms.ident]
    return tuple(word for word in found if word.rows)


def _of_time(query: Query) -> list[str]:
    """Return the words of the time that a query names, where it is read as one."""
    named = query.temporal
    if named is None or query.time_filters is None:
        return []
    return content_words(query.text[named.start : named.end].lower(), alone=False)


def _names(query: Query, *, alone: bool) -> Iterator[str]:
    """Yield the words of a query; of a chain such as `df.groupby` each link, but no alias."""
    for word in telling_words(content_words(query.text, alone=alone), query.language):
        *before, last = [word] if word.replace(".", "").isdigit() else word.split(".")
        yield from (link for link in before if len(link) > _ALIAS)
        yield last


def _spellings(name: str) -> list[str]:
    """Return how a name may be written: as it is, in plain characters, in one piece, its parts side by side."""
    together = ["".join(parts(name)), " ".join(parts(name))] if is_compound(name) else []
    return [name, *plainer(name), *together]


def _is_number(name: str) -> bool:
    """Return whether a word is a number, which may stand in a memory with other digits: it was rounded."""
    return not any(letter.isalpha() for letter in name)


def _is_name(name: str) -> bool:
    """Return whether a word is a name: an identifier, or no word of everyday language."""
    return is_compound(name) or not is_everyday(name)


@dataclass(frozen=True, slots=True)
class _Held:
    """What a store holds of words."""

    snapshot: Snapshot
    columns: Mapping[str, float]

    def row(self, spelling: str) -> Row:
        """Return the stems of a spelling."""
        return tuple(self.snapshot.corpus.words(spelling))

    def read_ahead(self, names: Sequence[str]) -> None:
        """Count all words of a query at once, which takes no longer than one of them."""
        spellings = chain.from_iterable(map(_spellings, names))
        self.snapshot.corpus.frequencies(chain.from_iterable(map(self.row, spellings)))

    def count(self, spellings: Sequence[str]) -> int:
        """Return how many chunks hold one of these spellings, at most: of words in a row, the rarest is counted."""
        found = 0
        for spelling in spellings:
            stems = self.row(spelling)
            rarest = min(self.snapshot.corpus.frequencies(stems).values(), default=0)
            if rarest > found and (len(stems) == 1 or self.snapshot.holds_phrase(spelling, self.columns)):
                found = rarest
        return found

    def near(self, name: str) -> tuple[Row, ...]:
        """Return what a name may be a slip for: near stems, or its parts with near ones among them."""
        if not is_compound(name):
            return tuple((one.stem,) for one in nearest(name.lower(), self.snapshot, self.columns))
        whole = parts(name)
        mended = [next((one.stem for one in nearest(part, self.snapshot, self.columns)), part) for part in whole]
        held = mended != whole and self.snapshot.holds_phrase(" ".join(mended), self.columns)
        return (self.row(" ".join(mended)),) if held else ()


def _asked_name(name: str, before: str, after: str, held: _Held, forms: WordForms, *, looked_up: bool) -> AskedWord:
    """Return a word that stands between two others; of a pasted text, whose words are not looked up, none is missed."""
    spellings = [*_spellings(name), *forms.inflected]
    if not held.count(spellings):
        # "time zone" is what others write as timezone.
        spellings += [pair for pair in (before + name, name + after) if pair != name]
    near: tuple[Row, ...] = tuple((stem,) for stem in forms.compounds)
    if looked_up and not near and not forms.parts and not held.count(spellings):
        near = held.near(name)
    is_missed = looked_up and not near and not forms.parts and not _is_number(name)
    asked = _asked(name, spellings, held, near=near, is_name=_is_name(name), is_missed=is_missed)
    return replace(asked, parts=forms.parts) if forms.parts else asked


def _asked(
    text: str,
    spellings: Sequence[str],
    held: _Held,
    *,
    near: tuple[Row, ...] = (),
    is_name: bool = False,
    is_missed: bool = False,
) -> AskedWord:
    """Return a word with what it tells; where ``is_missed``, it is missing if nothing holds it."""
    count = held.count(spellings)
    return AskedWord(
        text,
        rows=tuple(row for row in dict.fromkeys(map(held.row, spellings)) if row),
        near=near,
        parts=tuple(chain.from_iterable(map(held.row, parts(text)))) if is_compound(text) else (),
        count=count,
        weight=idf(count, held.snapshot.corpus.chunks) * (NAME if is_name else 1),
        is_name=is_name,
        missing=is_missed and not count,
    )
