"""What a person typed, read: words and phrases to look for, and what sort of question it is."""

from __future__ import annotations

import re
from datetime import datetime
from operator import index
from typing import Any
from unicodedata import normalize

from jupyter_memory.errors import QueryError
from jupyter_memory.ranking.stopwords import STOP_WORDS
from jupyter_memory.types import Query, QueryClass, Terms
from jupyter_memory.words import IDENTIFIER, bigrams, is_compound, parts, without_cjk

# What a longer query adds costs time and finds nothing new; whole documents arrive here by copy and paste.
MAX_TERMS = 64
_MAX_WORD = 200
_PHRASE = re.compile(r'"([^"]*)"')
_WORD = re.compile(rf"(?:{IDENTIFIER.pattern})(?:['’]\w+)?")
_POSSESSIVE = re.compile(r"['’]s$")


def parse(text: str, *, now: datetime, limit: int = 10, **options: Any) -> Query:
    """Return the query for a text; ``options`` are the other fields of ``Query``.

    Raises:
        QueryError: the text is empty, or ``limit`` is not a positive number.
    """
    if not isinstance(text, str):
        raise QueryError(f"A query is a string, not {type(text).__name__}.")
    # Composed, as nearly all text is stored: a decomposed ü would not be the same word.
    text = normalize("NFC", text.encode("utf-8", "replace").decode()).replace("\0", " ").strip()
    if not text:
        raise QueryError("There is nothing to search for: type some words.")
    return Query(text, now=now, terms=terms(text), query_class=query_class(text), limit=_count(limit), **options)


def terms(text: str) -> Terms:
    """Return what the keyword leg looks for.

    Words are lower-cased; stop words and single characters are dropped unless nothing would be left. Quoted phrases
    stay phrases. An identifier is looked for whole and as its parts in a row, CJK text by its bigrams.

    >>> terms('how does "left join" work in FileSyncService').words
    ('work', 'filesyncservice', 'file sync service')
    """
    phrases = [phrase.strip() for phrase in _PHRASE.findall(text) if re.search(r"\w", phrase)]
    pairs = bigrams(text)
    words = [word for word in _WORD.findall(without_cjk(_PHRASE.sub(" ", text))) if len(word) <= _MAX_WORD]
    telling = [word for word in words if len(word) > 1 and word.lower().replace("’", "'") not in STOP_WORDS]
    kept: dict[str, None] = {}
    for word in telling or ([] if phrases or pairs else words):
        word = _POSSESSIVE.sub("", word)
        kept[word.lower()] = None
        # Where a word has other characters than letters and digits, the index parts it by itself.
        if word.isalnum() and is_compound(word):
            kept[" ".join(parts(word))] = None
    return Terms(
        words=tuple(kept)[:MAX_TERMS],
        phrases=tuple(dict.fromkeys(phrases))[:MAX_TERMS],
        ident=tuple(dict.fromkeys(pairs))[:MAX_TERMS],
    )


def query_class(text: str) -> QueryClass:
    """Return keyword (1-3 words), balanced (4-6) or semantic (7 and more): a hint, by the system called trovella."""
    count = len(text.split())
    if count <= 3:
        return "keyword"
    return "balanced" if count <= 6 else "semantic"


def _count(limit: Any) -> int:
    try:
        count = index(limit)
    except TypeError:
        count = 0
    if count < 1:
        raise QueryError(f"limit is the number of hits wanted, 1 or more; it was {limit!r}.")
    return count
