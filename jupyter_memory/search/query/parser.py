"""A query taken apart: its words, phrases and filters."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from operator import index
from pathlib import Path
from typing import Any
from unicodedata import normalize

from jupyter_memory.errors import QueryError, guess
from jupyter_memory.search.query.temporal import asks_what_was_done, temporal_expression
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.text.identifiers import IDENTIFIER, bigrams, is_compound, parts, pictures, plainer, without_cjk
from jupyter_memory.text.languages import STOP_WORDS
from jupyter_memory.text.moments import last_moment, moment, parse_day, parse_moment
from jupyter_memory.text.paths import plain_path
from jupyter_memory.text.unicode import encodable, storable
from jupyter_memory.types import FACETS, KINDS, TIERS, Filters, Query, QueryClass, ScoredChunk, Terms
from jupyter_memory.types.search import LONGEST_QUERY, OUTCOMES, PARTS

_KNOWN = {"kind": KINDS, "tier": TIERS, "part": PARTS, "outcome": OUTCOMES}
_TIMES = ("since", "until", "as_of")
_NAMES = tuple(one.name for one in fields(Filters) if one.name not in ("also", "source", "not_source", "only"))
_MOST_PATHS = 1_000


def filters_from(
    filters: Filters | Mapping[str, Any] | None, since: Any, until: Any, now: datetime, as_of: Any = None
) -> Filters:
    """Return filters from a mapping or ``Filters``, with the times given beside it; others are read as of ``as_of``."""
    if isinstance(filters, Filters):
        given = {name: getattr(filters, name) for name in _NAMES}
    elif filters is None or isinstance(filters, Mapping):
        given = {name: value for name, value in (filters or {}).items() if value is not None}
    else:
        raise QueryError(f"filters is a mapping such as {{'kind': 'cell'}}, not {type(filters).__name__}.")
    beside = (("since", since), ("until", until), ("as_of", as_of))
    given |= {name: value for name, value in beside if value is not None}
    if (as_of := last_moment(given.pop("as_of", None), now)) is not None:
        now = min(now, as_of)
    base = filters if isinstance(filters, Filters) else Filters(also=given.pop("also", None))
    chosen: dict[str, Any] = {"as_of": as_of}
    for name, value in given.items():
        if name not in _NAMES:
            raise QueryError(f"There is no filter {name!r}.{guess(name, _NAMES)} Known: {', '.join(_NAMES)}.")
        chosen[name] = moment(value, now, end=name == "until") if name in _TIMES else _values(name, value)
    result = replace(base, **chosen)
    if result.since is not None and result.until is not None and result.since >= result.until:
        raise QueryError(unquoted="since is not before until, so nothing can lie between them.")
    return result


def from_folder(filters: Filters, folder: str) -> Filters:
    """Return filters whose relative paths are read from a folder, those of ``also`` as well; other sources stay."""

    def from_root(_: str, path: str) -> list[str]:
        return [path if path.startswith("~") or "://" in path else str(plain_path(Path(folder, path)))]

    return filters.meaning(("path", "not_path"), from_root)


def _values(name: str, value: Any) -> tuple[str, ...]:
    several = value if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    values = tuple(os.fspath(one) if isinstance(one, os.PathLike) else one for one in several)
    if not all(isinstance(one, str) for one in values):
        raise QueryError(f"The filter {name!r} takes a string or several.")
    values = tuple(map(storable, values))  # as the text that they are compared with
    if name.endswith("path") and not all(one.strip() for one in values):
        raise QueryError(unquoted="The filter 'path' is empty. Name a file or a folder.")
    if name.endswith("path") and len(values) > _MOST_PATHS:
        raise QueryError(
            f"The filter 'path' takes up to {_MOST_PATHS:,} values. Name the folders instead of the files."
        )
    known = _KNOWN.get(name.removeprefix("not_"))
    if known is None:
        return values
    for one in values:
        if one.lower() not in known:
            kind, listed = name.removeprefix("not_"), f"Known: {', '.join(known)}."
            raise QueryError(
                f"There is no {kind} {one!r}.{guess(one.lower(), known)} {listed}",
                unquoted=f"There is no such {kind}. {listed}",
            )
    return tuple(map(str.lower, values))


# Filters typed among the words of a query: ``tag:"two words" -kind:cell after:2026-03 prices``.

# "after" and "before" leave out the day that is named, as people say them; "since" and "until" include it. After a
# month or a year that is written in numbers means from its first day on.
_MONTH = re.compile(r"\d{4}(?:-\d{2})?$")
TIMES = ("after", "before", "on", "since", "until")
# A quoted phrase stays one, whatever stands in it; a filter has its value right behind its colon.
_TYPED = re.compile(
    r'"[^"]*"|(?<!\S)(?P<without>-?)'
    rf'(?P<name>{"|".join((*FACETS, "in", "outcome", *TIMES))}):(?P<value>"[^"]*"|[^\s":][^\s"]*)(?!\S)'
    r"|(?<!\S)/(?=\S)(?P<regex>(?:[^/\\\n]|\\.)+)(?<!\s)/(?!\S)"
)
# "-pandas", "NOT pandas", "AND NOT pandas": a word that nothing may hold. Shorter ones are switches of other programs:
# "ls -la". A word in capitals belongs to SQL: "IS NOT NULL".
_WITHOUT = re.compile(
    r'"[^"]*"|(?<!\S)(?:-|(?:AND[ \t]{1,9})?NOT[ \t]{1,9}(?=\S*[^\W\d_A-Z]))(?P<word>[^\W\d_]\w{2,})(?!\S)'
)
# "tags:x" is like a filter, and "x AND y" like one program's query for both.
_ALIKE = re.compile(r'"[^"]*"|(?<!\S)(-?)(\w{3,}):(?!//)("[^"]*"|[^\s":][^\s"]*)(?!\S)')
_BOTH = re.compile(r"\w[ \t]+(?:AND|OR)[ \t]+(?=\w*[^\W\d_A-Z])(\w+)")
# "mould*": a word that may go on.
_BEGUN = re.compile(r"(?<![\w*])([^\W\d_]\w+)\*(?!\S)")
# A longer text, or one of several lines, was pasted: its dashes are its own.
_LONGEST = 200
_ONE_OF_SEVERAL = frozenset({"tag", "kind", "tier", "lang", "part", "outcome"})


def split(text: str, now: datetime) -> tuple[str, Filters]:
    """Return the text without the filters typed in it, and those filters.

    Several values of a facet are any of them, with a minus before it none of them. What only looks like a filter
    (``std::sort``, ``dict: key``, ``author:x``, anything within quotation marks) stays text.
    """
    typed = len(text) <= _LONGEST and "\n" not in text
    chosen: dict[str, list[str]] = {}
    bounds: dict[str, datetime] = {}
    rest, end = [], 0
    for match in _TYPED.finditer(text):
        if match["name"] is None and not (match["regex"] and typed):
            continue
        rest.append(text[end : match.start()])
        end = match.end()
        if match["regex"]:
            chosen.setdefault("regex", []).append(match["regex"])
            continue
        if match["name"] in TIMES:
            for bound, moment in _times(match, now).items():
                narrower = max if bound == "since" else min
                bounds[bound] = narrower(bounds.get(bound, moment), moment)
            continue
        name, value = "part" if match["name"] == "in" else match["name"], match["value"]
        several = value.split(",") if name in _ONE_OF_SEVERAL else [value]
        values = list(filter(None, [value[1:-1]] if value.startswith('"') else several))
        if not any(one.strip() for one in values):
            told = "has no value: write one after the colon, or remove the filter."
            raise QueryError(f"{match[0]} {told}", unquoted=f"{match['name']}: {told}")
        chosen.setdefault(("not_" if match["without"] else "") + name, []).extend(values)
    remaining = " ".join(part.strip() for part in (*rest, text[end:]) if part.strip()) if end else text
    if typed:
        unwanted = list(filter(None, _WITHOUT.findall(remaining)))
        if unwanted:
            chosen["not_word"] = unwanted
            remaining = " ".join(_WITHOUT.sub(lambda match: "" if match["word"] else match[0], remaining).split())
    if not chosen and not bounds:
        return text, Filters()
    return remaining, filters_from({**chosen, **bounds}, None, None, now)


def _misread(text: str) -> Iterator[str]:
    # Imported late, as in `guess`: of so short names, what is less alike is another word.
    from difflib import get_close_matches

    for minus, name, value in _ALIKE.findall(text) if len(text) <= _LONGEST and ":" in text else ():
        if near := get_close_matches(name.lower(), (*FACETS, "outcome", *TIMES), n=1, cutoff=0.85):
            yield f"Did you mean {minus}{near[0]}:{value}?"
    if len(text) <= _LONGEST and (both := _BOTH.search(_PHRASE.sub(" ", text))):
        yield f"AND and OR are read as words. To require a word, put it between slashes: /{both[1]}/."


def _times(match: re.Match[str], now: datetime) -> dict[str, datetime]:
    name, value = match["name"], match["value"].strip('"')
    if match["without"]:
        told = "a time cannot be excluded. Use before: or after: instead."
        raise QueryError(f"{match[0]}: {told}", unquoted=f"-{name}: {told}")
    try:
        if name == "on":
            return dict(zip(("since", "until"), parse_day(value, now), strict=True))
        moment = parse_moment(value, now=now, end=name == "until" or (name == "after" and not _MONTH.match(value)))
    except QueryError as error:
        told = "To search for the words, put them in quotation marks."
        raise QueryError(f"{match[0]}: {error} {told}", unquoted=f"{name}: {error.unquoted} {told}") from None
    return {"since" if name in ("after", "since") else "until": moment}


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
    the query has no text, and so it is where the words ask but what was done in a time. With ``prefix`` the last word
    may be unfinished, unless white space follows it. Without ``time`` the words name no time.
    """
    if not isinstance(text, str):
        raise QueryError(f"A query is a string, not {type(text).__name__}.")
    if len(text) > LONGEST_QUERY:
        raise QueryError(
            unquoted=f"The query has {len(text):,} characters; it may have up to {LONGEST_QUERY:,}. Search for the "
            "words that matter. To find what is like a whole text, add the text, then use related() with its id."
        )
    # Composed, as nearly all text is stored: a decomposed ü would not be the same word.
    written = normalize("NFC", encodable(text)).replace("\0", " ")
    text, typed = split(written.strip(), now)
    if not text.strip("\"' \n\t"):
        if not typed:
            raise QueryError(unquoted="There is nothing to search for: type some words.")
        text = ""
    temporal = temporal_expression(text, now) if time else None
    if temporal is not None and asks_what_was_done(text, temporal):
        text, typed = "", typed & Filters(since=temporal.since, until=temporal.until)
    try:
        count = index(limit)
    except TypeError:
        count = 0
    if count < 1:
        raise QueryError(f"limit is the number of hits wanted, 1 or more; it was {limit!r}.")
    return Query(
        text,
        now=now,
        terms=terms(text, unfinished=prefix and not written[-1:].isspace()),
        query_class=query_class(text),
        limit=min(count, _MOST),
        filters=(filters or Filters()) & typed,
        time=time,
        temporal=temporal,
        written=written.strip(),
        notices=tuple(_misread(text)),
        **options,
    )


def terms(text: str, *, unfinished: bool = False) -> Terms:
    """Return what the keyword retriever looks for; ``unfinished`` says that the last word may go on.

    Words are lower-cased; stop words and single characters are dropped unless nothing would be left. Quoted phrases
    stay phrases. An identifier is looked for whole, as its parts in a row, and by each of them, CJK text by bigrams,
    emoji as ``ident`` has them. Of the words with an asterisk behind them, the last one may go on.

    >>> terms('how does "left join" work in FileSyncService').words
    ('work', 'filesyncservice', 'file sync service', 'file', 'sync', 'service')
    """
    phrases = [phrase.strip() for phrase in _PHRASE.findall(text) if re.search(r"\w", phrase)]
    pairs = bigrams(text) + pictures(text)
    kept: dict[str, None] = {}
    for word in content_words(text, alone=not phrases and not pairs):
        kept[word.lower()] = None
        kept.update(dict.fromkeys(map(str.lower, plainer(word))))
        if is_compound(word) and "'" not in word and "’" not in word:
            pieces = parts(word)
            # Where a word has other characters than letters and digits, the index parts it by itself.
            if word.isalnum():
                kept[" ".join(pieces)] = None
            kept.update(dict.fromkeys(piece for piece in pieces if _tells(piece) and not piece.isdigit()))
    # Words that the characters within them would part.
    kept.update(dict.fromkeys(map(str.lower, plainer(_PHRASE.sub(" ", text)))))
    begun = _BEGUN.findall(_PHRASE.sub(" ", text))
    prefix = begun[-1].lower() if begun and len(begun[-1]) <= _MAX_WORD and not bigrams(begun[-1]) else None
    if unfinished and not prefix:
        words = list(_WORD.finditer(_PHRASE.sub(lambda match: '"' * len(match[0]), text)))
        if words and words[-1].end() == len(text) and 2 <= len(words[-1][0]) <= _MAX_WORD and not bigrams(words[-1][0]):
            prefix = words[-1][0].lower()
    return Terms(
        words=tuple(kept)[:MAX_TERMS],
        phrases=tuple(dict.fromkeys(phrases))[:MAX_TERMS],
        ident=tuple(dict.fromkeys(pairs))[:MAX_TERMS],
        prefix=prefix,
    )


def content_words(text: str, *, alone: bool = True) -> list[str]:
    """Return the words outside quotes that say something, as they are written, without ``'s``.

    Stop words and single characters say nothing, unless the words are ``alone`` and there are no others.
    """
    words = [word for word in _WORD.findall(without_cjk(_PHRASE.sub(" ", text))) if len(word) <= _MAX_WORD]
    telling = [word for word in words if _tells(word)]
    return [_POSSESSIVE.sub("", word) for word in telling or (words if alone else [])]


def _tells(word: str) -> bool:
    return len(word) > 1 and word.lower().replace("’", "'") not in STOP_WORDS


def query_class(text: str) -> QueryClass:
    """Return keyword (1-3 words), balanced (4-6) or semantic (7 and more), as trovella does; nothing ranks by it."""
    # Two characters of a script without spaces are about a word.
    count = len(without_cjk(text).split()) + (len(bigrams(text)) + 1) // 2
    if count <= 3:
        return "keyword"
    return "balanced" if count <= 6 else "semantic"


# The keyword index parts a text at everything but letters and digits, so it takes ``df_groupby`` and "df groupby" for
# the same phrase. What it finds for a quoted name such as ``"df.groupby"`` is compared with the texts themselves.
_JOINED = re.compile(r"_|[^\W_]\.[^\W_]")
# Of so many texts with the words of a name, one has the name itself, if any has.
_READ = 500


def keyword_matches(
    snapshot: Snapshot, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int
) -> Sequence[ScoredChunk]:
    """Return the best memories by BM25; what has but the words of a quoted name is no match for it."""
    if not any(map(_JOINED.search, terms.phrases)):
        return snapshot.keyword_matches(terms, weights, filters, count)
    names, others = _apart(terms)
    found = snapshot.keyword_matches(terms, weights, filters, max(count, _READ))
    best: dict[int, ScoredChunk] = {}
    if others:
        best = {one.memory: one for one in snapshot.keyword_matches(others, weights, filters, count)}
    passages = snapshot.passages([one.chunk for one in found])
    for one in found:
        passage = passages[one.chunk]
        said = "\n".join((passage.title, passage.context, passage.tags, passage.text))
        if any(name.search(said) for name in names):
            best[one.memory] = one
    return sorted(best.values(), key=lambda one: -one.score)[:count]


def keyword_scores(
    snapshot: Snapshot, terms: Terms, weights: Mapping[str, float], keys: Sequence[int]
) -> dict[int, float]:
    """Return BM25 of those of these memories that hold a term; quoted names are left to ``keyword_matches``."""
    _, others = _apart(terms)
    return snapshot.keyword_scores(others, weights, keys) if others else {}


def missing_phrases(terms: Terms, snapshot: Snapshot, weights: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence for each quoted phrase that no memory holds."""
    for phrase in filter(is_phrase, terms.phrases):
        if _JOINED.search(phrase):
            if not keyword_matches(snapshot, Terms(phrases=(phrase,)), weights, Filters(), 1):
                yield f"No memory contains “{phrase}” as it is written. Remove the quotes to search for its words."
        elif not snapshot.corpus.holds_phrase(phrase, weights):
            yield f"No memory contains the phrase “{phrase}”. Remove the quotes to search for each word."


def is_phrase(quoted: str) -> bool:
    """Return whether quotes make a difference to a text: one word is no phrase, and CJK text is indexed in pairs."""
    return " " in quoted or _JOINED.search(quoted) is not None


def _apart(terms: Terms) -> tuple[list[re.Pattern[str]], Terms]:
    # Patterns that find the quoted names as they are written, in any case, with any white space for their blanks.
    names = [phrase for phrase in terms.phrases if _JOINED.search(phrase)]
    if not names:
        return [], terms
    patterns = []
    for name in names:
        words = r"\s+".join(map(re.escape, name.split()))
        before, after = (r"(?<!\w)" if name[0].isalnum() else ""), (r"(?!\w)" if name[-1].isalnum() else "")
        patterns.append(re.compile(before + words + after, re.IGNORECASE))
    return patterns, replace(terms, phrases=tuple(phrase for phrase in terms.phrases if phrase not in names))
