"""Checks of what a store holds: texts are what was stored, chunks and names are in them, counts and vectors are right.

The server checks its own pages; a check here is for what a program or a person may have changed by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_memory.storage.postgres import postings
from jupyter_memory.storage.postgres.database import Session, of
from jupyter_memory.storage.postgres.vectors import VECTORS
from jupyter_memory.storage.tables import checks

_RESTORE = "Restore them from a dump with pg_restore"


def problems(session: Session) -> Iterator[str]:
    """Yield what is wrong with a store, each with what to do."""
    yield from checks.lost_rows(session, _RESTORE)
    yield from checks.texts(session, _RESTORE)
    yield from checks.names(session)
    yield from checks.vectors(session, VECTORS)
    yield from checks.missing_vectors(session, VECTORS)

    # Counts are of the postings, and postings of the chunks.
    totals = session.totals
    [held] = session.rows(f"select count(*), coalesce(sum(words), 0)::bigint from chunks where {of('chunks')}")
    wrong = session.value(
        f"""
        select exists (
            select space, term, columns, sum(chunks) from (
                select space, term, columns, chunks from frequencies where {of("frequencies")}
                union all
                select space, term, {postings.HOLDING}, -1 from postings where {of("postings")}
            ) as both_of_them
            group by 1, 2, 3 having sum(chunks) <> 0
        )
        """
    )
    lost = session.value(
        f"""
        select exists (
            select 1 from postings where {of("postings")} and not exists (
                select 1 from chunks where chunks.space = postings.space and chunks.id = postings.chunk
            )
        ) or exists (
            select 1 from chunks where {of("chunks")} and words > 0 and not exists (
                select 1 from postings where postings.space = chunks.space and postings.chunk = chunks.id
            )
        )
        """
    )
    if (totals.chunks, totals.words) != tuple(held) or wrong or lost:
        yield "The keyword index does not match the memories. Repair it with store.rebuild()."
