"""Quoted phrases: which of them nothing holds, and names such as ``"df.groupby"``, whose dots are meant as well.

The keyword index parts a text at everything but letters and digits, so it takes ``df_groupby`` and "df groupby" for the
same phrase. What it finds for a quoted name is compared with the texts themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from jupyter_memory.storage.base import Snapshot
from jupyter_memory.types import Filters, ScoredChunk, Terms

_JOINED = re.compile(r"_|[^\W_]\.[^\W_]")
# Of so many texts with the words of a name, one has the name itself, if any has.
_READ = 500


def keyword_matches(
    snapshot: Snapshot, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int
) -> Sequence[ScoredChunk]:
    """Return the best memories by BM25; what has but the words of a quoted name is no match for it."""
    names, others = _apart(terms)
    found = snapshot.keyword_matches(terms, weights, filters, max(count, _READ) if names else count)
    if not names:
        return found
    loose = snapshot.keyword_matches(others, weights, filters, count) if others else []
    best = {one.memory: one for one in (*loose, *_holding(names, found, snapshot))}
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
        elif not snapshot.holds_phrase(phrase, weights):
            yield f"No memory contains the phrase “{phrase}”. Remove the quotes to search for each word."


def is_phrase(quoted: str) -> bool:
    """Return whether quotes make a difference to a text: one word is no phrase, and CJK text is indexed in pairs."""
    return " " in quoted or _JOINED.search(quoted) is not None


def _apart(terms: Terms) -> tuple[list[re.Pattern[str]], Terms]:
    """Return the quoted names as patterns, and the other terms."""
    names = [phrase for phrase in terms.phrases if _JOINED.search(phrase)]
    if not names:
        return [], terms
    others = replace(terms, phrases=tuple(phrase for phrase in terms.phrases if phrase not in names))
    return [_pattern(name) for name in names], others


def _pattern(name: str) -> re.Pattern[str]:
    """Return what finds a name as it is written, in any case, and with any white space for its blanks.

    >>> [bool(_pattern("df.groupby").search(text)) for text in ("DF.groupby(λ)", "df_groupby", "pdf.groupby")]
    [True, False, False]
    """
    words = r"\s+".join(map(re.escape, name.split()))
    before, after = (r"(?<!\w)" if name[0].isalnum() else ""), (r"(?!\w)" if name[-1].isalnum() else "")
    return re.compile(before + words + after, re.IGNORECASE)


def _holding(
    names: Sequence[re.Pattern[str]], found: Sequence[ScoredChunk], snapshot: Snapshot
) -> Iterator[ScoredChunk]:
    passages = snapshot.passages([one.chunk for one in found])
    for one in found:
        passage = passages[one.chunk]
        said = "\n".join((passage.title, passage.context, passage.tags, passage.text))
        if any(name.search(said) for name in names):
            yield one
