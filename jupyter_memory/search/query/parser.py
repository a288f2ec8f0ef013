"""What a person typed, read: words and phrases to look for, and what sort of question it is."""

from __future__ import annotations

import re
from datetime import datetime
from operator import index
from typing import Any
from unicodedata import normalize

from jupyter_memory.errors import QueryError
from jupyter_memory.search.query.filter_syntax import split
from jupyter_memory.search.query.temporal import temporal_expression
from jupyter_memory.text.identifiers import IDENTIFIER, bigrams, is_compound, parts, plainer, without_cjk
from jupyter_memory.text.languages import STOP_WORDS
from jupyter_memory.text.unicode import encodable
from jupyter_memory.types import Filters, Query, QueryClass, Terms
from jupyter_memory.types.search import LONGEST_QUERY

# What a longer query adds costs time and finds nothing new; whole documents arrive here by copy and paste.
MAX_TERMS = 64
_MAX_WORD = 200
# More hits than any store has memories; a retriever fetches a multiple of it, which SQLite must be able to count.
_MOST = 1_000_000_000
_PHRASE = re.compile(r'"([^"]*)"')
_WORD = re.compile(rf"(?:{IDENTIFIER.pattern})(?:['’]\w+)?")
_POSSESSIVE = re.compile(r"['’]s$")


def parse(
    text: str,
    *,
    now: datetime,
    limit: int = 10,
    filters: Filters | None = None,
    prefix: bool = False,
    time: bool = True,
    **options: Any,
) -> Query:
    """Return the query for a text; ``options`` are the other fields of ``Query``.

    Filters typed in the text are taken out of it and hold together with ``filters``; where they are all there is,
    the query has no text. With ``prefix`` the last word may be unfinished, unless white space follows it. Without
    ``time`` the words name no time.

    Raises:
        QueryError: the text is empty or too long, a filter in it cannot be read, or ``limit`` is not a positive number.
    """
    if not isinstance(text, str):
        raise QueryError(f"A query is a string, not {type(text).__name__}.")
    if len(text) > LONGEST_QUERY:
        message = (
            f"The query has {len(text):,} characters; it may have up to {LONGEST_QUERY:,}. Search for the words that "
            "matter. To find what is like a whole text, add the text, then use related() with its id."
        )
        raise QueryError(message, unquoted=message)
    # Composed, as nearly all text is stored: a decomposed ü would not be the same word.
    written = normalize("NFC", encodable(text)).replace("\0", " ")
    text, typed = split(written.strip(), now)
    if not text.strip("\"' \n\t"):
        if not typed:
            raise QueryError("There is nothing to search for: type some words.")
        text = ""
    return Query(
        text,
        now=now,
        terms=terms(text, unfinished=prefix and not written[-1:].isspace()),
        query_class=query_class(text),
        limit=_count(limit),
        filters=(filters or Filters()) & typed,
        temporal=temporal_expression(text, now) if time else None,
        written=written.strip(),
        **options,
    )


def terms(text: str, *, unfinished: bool = False) -> Terms:
    """Return what the keyword retriever looks for; ``unfinished`` says that the last word may go on.

    Words are lower-cased; stop words and single characters are dropped unless nothing would be left. Quoted phrases
    stay phrases. An identifier is looked for whole, as its parts in a row, and by each of them, CJK text by bigrams.

    >>> terms('how does "left join" work in FileSyncService').words
    ('work', 'filesyncservice', 'file sync service', 'file', 'sync', 'service')
    """
    phrases = [phrase.strip() for phrase in _PHRASE.findall(text) if re.search(r"\w", phrase)]
    pairs = bigrams(text)
    kept: dict[str, None] = {}
    for word in content_words(text, alone=not phrases and not pairs):
        kept[word.lower()] = None
        kept.update(dict.fromkeys(plain.lower() for plain in plainer(word)))
        if is_compound(word) and "'" not in word and "’" not in word:
            pieces = parts(word)
            # Where a word has other characters than letters and digits, the index parts it by itself.
            if word.isalnum():
                kept[" ".join(pieces)] = None
            kept.update(dict.fromkeys(piece for piece in pieces if _tells(piece) and not piece.isdigit()))
    return Terms(
        words=tuple(kept)[:MAX_TERMS],
        phrases=tuple(dict.fromkeys(phrases))[:MAX_TERMS],
        ident=tuple(dict.fromkeys(pairs))[:MAX_TERMS],
        prefix=_last_word(text) if unfinished else None,
    )


def content_words(text: str, *, alone: bool = True) -> list[str]:
    """Return the words outside quotes that say something, as they are written, without ``'s``.

    Stop words and single characters say nothing, unless the words are ``alone`` and there are no others.

    >>> content_words('how does the "left join" work in FileSyncService'), content_words("to be")
    (['work', 'FileSyncService'], ['to', 'be'])
    """
    words = [word for word in _WORD.findall(without_cjk(_PHRASE.sub(" ", text))) if len(word) <= _MAX_WORD]
    telling = [word for word in words if _tells(word)]
    return [_POSSESSIVE.sub("", word) for word in telling or (words if alone else [])]


def _last_word(text: str) -> str | None:
    """Return the word at the end of a text, None where it ends in anything else or the word is a single letter."""
    words = list(_WORD.finditer(_PHRASE.sub(lambda match: '"' * len(match[0]), text)))
    if not words or words[-1].end() != len(text) or not 2 <= len(words[-1][0]) <= _MAX_WORD:
        return None
    return None if bigrams(words[-1][0]) else words[-1][0].lower()


def _tells(word: str) -> bool:
    return len(word) > 1 and word.lower().replace("’", "'") not in STOP_WORDS


def query_class(text: str) -> QueryClass:
    """Return keyword (1-3 words), balanced (4-6) or semantic (7 and more), as trovella does; nothing ranks by it."""
    # Two characters of a script without spaces are about a word.
    count = len(without_cjk(text).split()) + (len(bigrams(text)) + 1) // 2
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
    return min(count, _MOST)
