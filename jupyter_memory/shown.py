"""What is shown of memories: hits with their snippets, highlights and evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan

import apsw

from jupyter_memory.search.languages import is_code
from jupyter_memory.search.pipeline import Placed
from jupyter_memory.search.presentation.code_snippets import code_snippet
from jupyter_memory.search.presentation.snippets import snippet, with_literal
from jupyter_memory.search.profiles.builtin import Profile
from jupyter_memory.storage import keyword, rows
from jupyter_memory.text.structure import headings_above
from jupyter_memory.types import Hit, Memory, Query


def hits(
    connection: apsw.Connection,
    query: Query,
    profile: Profile,
    scored: Sequence[Placed],
    strong: Sequence[float] | None = None,
) -> list[Hit]:
    """Return ranked candidates as hits, with the strength of each where it was reckoned."""
    stretches = rows.chunk_spans(connection, [one.candidate.chunk for one in scored])
    texts = {}
    for one in scored:
        start, stop, _, _ = stretches[one.candidate.chunk]
        texts[one.candidate.chunk] = one.candidate.memory.text[start:stop]
    by_words = {one.candidate.chunk: texts[one.candidate.chunk] for one in scored if "keyword" in one.found}
    spans = keyword.highlights(connection, query.terms, profile.columns, by_words)
    made = []
    for one, strength in zip(scored, [nan] * len(scored) if strong is None else strong, strict=True):
        memory, chunk = one.candidate.memory, one.candidate.chunk
        _, _, line, prefix = stretches[chunk]
        text = texts[chunk]
        marked = with_literal(text, spans.get(chunk, ()), query.terms.ident if chunk in by_words else ())
        shown, marks = code_snippet(text, marked) if is_code(memory) else snippet(text, marked)
        ranks = one.ranks
        made.append(
            Hit(
                rank=one.rank,
                memory=memory,
                snippet=shown,
                highlights=marks,
                location=memory.location or ("" if line is None else str(line)),
                score=one.score,
                strength=strength,
                kw_rank=ranks.get("keyword"),
                sem_rank=ranks.get("vector"),
                bm25=_bm25(one),
                cosine=nan if one.candidate.cosine is None else one.candidate.cosine,
                signals=one.evidence,
                context=headings_above(prefix, memory.title, memory.kind),
            )
        )
    return made


def unranked(memories: Sequence[Memory], prefixes: Mapping[str, str]) -> tuple[Hit, ...]:
    """Return memories that nobody ranked as hits in their order; ``prefixes`` are structural ones, by id."""
    return tuple(
        Hit(
            rank=rank,
            memory=memory,
            snippet=_beginning(memory),
            highlights=(),
            location=memory.location,
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


def _beginning(memory: Memory) -> str:
    """Return what is shown of a memory that nobody asked for; it may be a book."""
    text = memory.text[:1000]
    return (code_snippet(text, ()) if is_code(memory) else snippet(text, ()))[0]


def _bm25(one: Placed) -> float:
    """Return how well a hit meets the words of the query, NaN where it does not, or the profile does not ask."""
    brought, key = one.found.get("keyword"), one.candidate.key
    if brought is not None:
        return brought.score
    return next((values.get(key, nan) for column, values, _, _ in one.sheet.columns if column == "keyword"), nan)
