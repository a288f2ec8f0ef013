"""Checks of what a store holds: texts are what was stored, chunks and names are in them, counts and vectors are right.

The server checks its own pages; a check here is for what a program or a person may have changed by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from unicodedata import normalize

from jupyter_memory.runtime import batches
from jupyter_memory.storage.cell_matching import fingerprint
from jupyter_memory.storage.postgres import postings
from jupyter_memory.storage.postgres.database import Session, of
from jupyter_memory.storage.postgres.vectors import VECTORS
from jupyter_memory.storage.tables import memories, models

_NAMED = 3
_TOGETHER = 2_000


def problems(session: Session) -> Iterator[str]:
    """Yield what is wrong with a store, each with what to do."""
    rows = session.execute(
        f"""
        select id, content_hash, title, text
        from memories left join texts on texts.space = memories.space and texts.memory = memories.key
        where {of("memories")} order by key
        """
    )
    changed: list[str] = []
    for some in batches(rows, _TOGETHER):
        changed += [id_ for id_, hash_, title, text in some if text is None or fingerprint(title, text) != hash_]
    if changed:
        yield f"{_memories(len(changed))} another text or title than was stored. {_cure(changed)}"
    foreign = session.rows(
        f"""
        select distinct memories.id
        from memories join texts on texts.space = memories.space and texts.memory = memories.key
        left join chunks on chunks.space = memories.space and chunks.memory = memories.key
        where {of("memories")} and (
            chunks.id is null
            or substr(texts.text, chunks.start + 1, chunks.stop - chunks.start) <> coalesce(chunks.text, texts.text)
        )
        order by 1
        """
    )
    if outside := [row[0] for row in foreign]:
        yield f"{_memories(len(outside))} chunks that are no part of the text. {_cure(outside)}"
    if count := len(damaged_definitions(session)):
        yield f"The names that {count:,} memories should define are not in the text. Repair them with store.rebuild()."
    if not _counts_fit(session):
        yield "The keyword index does not match the memories. Repair it with store.rebuild()."
    for model in models.every(session):
        if count := len(VECTORS.damaged(session, model)):
            yield f"{count:,} vectors of {model.name} are damaged. Compute them anew with store.reembed()."
    if count := len(memories.damaged_tokens(session)):
        yield f"The tokens of {count:,} chunks are damaged. Compute them anew with store.rebuild()."
    active = models.active(session)
    if active is not None and (lacking := len(VECTORS.missing(session, active, 1_000_000))):
        yield (
            f"{lacking} chunks have no vector, so the search by meaning cannot find them. "
            "Compute the vectors with store.reembed()."
        )


def damaged_definitions(session: Session) -> list[int]:
    """Return the memories with a definition that their text does not hold."""
    rows = session.rows(
        f"""
        select definitions.memory, texts.text, defined || ' ' || assigned || ' ' || nested
        from definitions join texts on texts.space = definitions.space and texts.memory = definitions.memory
        where {of("definitions")} order by definitions.memory
        """
    )
    # Python knows names in their plain characters.
    return [key for key, text, names in rows if not all(name in normalize("NFKC", text) for name in names.split())]


def _counts_fit(session: Session) -> bool:
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
    return (totals.chunks, totals.words) == tuple(held) and not wrong and not lost


def _memories(count: int) -> str:
    return "1 memory has" if count == 1 else f"{count:,} memories have"


def _cure(ids: list[str]) -> str:
    named = " ".join(ids[:_NAMED]) + (" …" if len(ids) > _NAMED else "")
    return f"Restore them from a dump with pg_restore, or forget them: jupyter-memory forget {named}"
