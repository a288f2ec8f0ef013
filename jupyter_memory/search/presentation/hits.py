"""Hits: ranked candidates with their snippets, highlights and evidence, and how many there are by facet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import nan
from operator import attrgetter

from jupyter_memory.search.fusion import Ranked
from jupyter_memory.search.presentation.code_snippets import code_snippet
from jupyter_memory.search.presentation.snippets import Span, snippet, thickest, with_literal
from jupyter_memory.search.profiles.profile import Profile
from jupyter_memory.storage.base import Snapshot
from jupyter_memory.text.code import is_code
from jupyter_memory.text.markdown import headings_above
from jupyter_memory.types import Hit, Memory, Query

COUNTED = ("kind", "lang", "tier", "tag")


def hits(
    snapshot: Snapshot,
    query: Query,
    profile: Profile,
    ranked: Sequence[Ranked],
    strengths: Sequence[float] | None = None,
) -> list[Hit]:
    """Return ranked candidates as hits, with the strength of each where it was computed."""
    spans = snapshot.spans([one.candidate.chunk for one in ranked])
    texts = {}
    for one in ranked:
        span = spans[one.candidate.chunk]
        texts[one.candidate.chunk] = one.candidate.memory.text[span.start : span.stop]
    by_words = {one.candidate.chunk: texts[one.candidate.chunk] for one in ranked if "keyword" in one.found}
    highlights = snapshot.highlights(query.terms, profile.columns, by_words)
    made = []
    for one, strength in zip(ranked, [nan] * len(ranked) if strengths is None else strengths, strict=True):
        memory, chunk = one.candidate.memory, one.candidate.chunk
        span, text = spans[chunk], texts[chunk]
        marked = with_literal(text, highlights.get(chunk, ()), query.terms.ident if chunk in by_words else ())
        shown, marks = _snippet(memory, text, marked)
        ranks = one.ranks
        first, last = thickest(text, marked)
        made.append(
            Hit(
                rank=one.rank,
                memory=memory,
                snippet=shown,
                highlights=marks,
                location=memory.place(span.line),
                score=one.score,
                strength=strength,
                kw_rank=ranks.get("keyword"),
                sem_rank=ranks.get("vector"),
                bm25=_bm25(one),
                cosine=nan if one.candidate.cosine is None else one.candidate.cosine,
                signals=one.evidence,
                context=headings_above(span.context, memory.title, memory.kind),
                span=(span.start + first, span.start + last),
            )
        )
    return made


def unranked(memories: Sequence[Memory], prefixes: Mapping[str, str]) -> tuple[Hit, ...]:
    """Return memories that were not ranked as hits, in their order; ``prefixes`` are structural ones, by id."""
    return tuple(
        Hit(
            rank=rank,
            memory=memory,
            snippet=_beginning(memory),
            highlights=(),
            location=memory.place(),
            score=nan,
            strength=nan,
            kw_rank=None,
            sem_rank=None,
            bm25=nan,
            cosine=nan,
            signals={},
            context=headings_above(prefixes.get(memory.id, ""), memory.title, memory.kind),
        )
        for rank, memory in enumerate(memories, start=1)
    )


def facets(memories: Iterable[Memory]) -> dict[str, dict[str, int]]:
    """Return counts by value for each facet, the most frequent value first; what has no value is not counted."""
    of_each = list(memories)
    counts = {facet: Counter(map(attrgetter(facet), of_each)) for facet in COUNTED if facet != "tag"}
    counts["tag"] = Counter(chain.from_iterable(memory.tags for memory in of_each))
    return {facet: in_order(found) for facet, found in counts.items()}


def in_order(counts: dict[str, int]) -> dict[str, int]:
    """Return counts with the most frequent value first, equal ones by name, the empty value left out."""
    return dict(sorted(((value, count) for value, count in counts.items() if value), key=lambda row: (-row[1], row[0])))


def _snippet(memory: Memory, text: str, spans: Sequence[Span]) -> tuple[str, tuple[Span, ...]]:
    """Return what is shown of a part of a memory: lines of code, or a stretch of prose."""
    return code_snippet(text, spans) if is_code(memory.kind, memory.lang) else snippet(text, spans)


def _beginning(memory: Memory) -> str:
    """Return what is shown of a memory that was not searched for; it may be a book."""
    return _snippet(memory, memory.text[:1000], ())[0]


def _bm25(one: Ranked) -> float:
    """Return how well a hit matches the words of the query, NaN where it does not, or the profile does not ask."""
    found = one.found.get("keyword")
    return found.score if found is not None else one.table.value("keyword", one.candidate.key)
