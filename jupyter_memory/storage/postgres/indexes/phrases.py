"""Whether a store holds words side by side, which a search asks of the compounds and phrases that it tries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jupyter_memory.storage.postgres.connection.session import Session, of
from jupyter_memory.storage.postgres.indexes.statistics import Statistics, bits_of
from jupyter_memory.storage.postgres.indexes.words import keyed, stems
from jupyter_memory.text.identifiers import COLUMNS


def holds_phrase(session: Session, corpus: Statistics, phrase: str, weights: Mapping[str, float]) -> bool:
    """Return whether any chunk holds these words side by side; the index is asked only where each of them is held."""
    terms, bits = [keyed(stem) for stem in stems(phrase)], bits_of(weights)
    held = corpus.by_columns(terms)
    if not terms or not all(any(n and columns & bits for columns, n in held[term].items()) for term in terms):
        return False
    if len(terms) == 1:
        return True
    return corpus.side_by_side(tuple(terms), bits, lambda: bool(session.value(*_side_by_side(terms, weights))))


def _side_by_side(terms: Sequence[str], weights: Mapping[str, float]) -> tuple[str, dict[str, Any]]:
    """Return a statement that looks for one chunk with these words side by side, and stops there."""
    tables = [f"p{place}" for place in range(len(terms))]
    joined = " ".join(
        f"join postings as {one} on {one}.space = p0.space and {one}.chunk = p0.chunk and {one}.term = %({one})s"
        for one in tables[1:]
    )
    follow = " and ".join(f"first_at + {place} = any({one}.places)" for place, one in enumerate(tables[1:], 1))
    columns = ", ".join(str(place) for place, column in enumerate(COLUMNS) if column in weights)
    sql = f"""
        select exists (
            select 1 from postings as p0 {joined} where {of("p0")} and p0.term = %(p0)s and exists (
                select 1 from unnest(p0.places) as first_at where first_at >> 24 in ({columns}) and {follow}
            )
        )
    """
    return sql, dict(zip(tables, terms, strict=True))
