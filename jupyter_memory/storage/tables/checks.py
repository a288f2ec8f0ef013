"""What `doctor` finds in what both databases hold, each with what to do about it.

Texts are read as bytes: what a program or a person changed by hand may be no UTF-8.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any
from unicodedata import normalize

from jupyter_memory.runtime import batches
from jupyter_memory.storage.base import VectorIndex, fingerprint
from jupyter_memory.storage.sql import Session
from jupyter_memory.storage.tables import memories, models
from jupyter_memory.text.display import count_of
from jupyter_memory.types import Filters

_TOGETHER, _NAMED = 200, 3  # memories whose texts are read at once, and those that a cure names


def cure(ids: Sequence[str], restore: str) -> str:
    """Return what to do about damaged memories; ``restore`` says how to restore them."""
    named = " ".join(ids[:_NAMED]) + (" …" if len(ids) > _NAMED else "")
    return f"{restore}, or forget them: jupyter-memory forget {named}"


def lost_rows(session: Session, restore: str) -> Iterator[str]:
    """Yield a sentence if memories have no text, and one if they have no chunk."""
    dialect = session.dialect
    for what, table in (("text", "texts"), ("chunk", "chunks")):
        own = f"select 1 from {table} where {dialect.linked(table, 'memories', f'{table}.memory = memories.key')}"
        lacking = f"select id from memories where {dialect.of('memories')} and not exists ({own}) order by key"
        if ids := [str(row[0]) for row in session.rows(lacking)]:
            lacks = count_of(len(ids), "row of memories has", "rows of memories have")
            yield f"{lacks} no {what}. {cure(ids, restore)}"


def texts(session: Session, restore: str) -> Iterator[str]:
    """Yield a sentence if texts are not what was stored, and one if chunks are no part of them."""
    dialect, changed, outside = session.dialect, list[str](), list[str]()
    others = "kind || memories.space || source || location || lang || coalesce(session, '') || coalesce(domain, '')"
    for keys in batches(memories.keys_where(session, Filters()), _TOGETHER):
        chunks: dict[int, list[Any]] = defaultdict(list)
        for memory, *chunk in session.rows(
            f"""
            select memory, start, stop, {dialect.raw("chunks.text")}, {dialect.raw("context || ident")} from chunks
            where {dialect.of("chunks")} and {dialect.among("memory", "keys")} order by id
            """,
            keys=keys,
        ):
            chunks[memory].append(chunk)
        for key, id_, hash_, *texts_ in session.rows(
            f"""
            select memories.key, id, content_hash, {dialect.raw("title")}, {dialect.raw("texts.text")},
                {dialect.raw(others)}
            from memories {dialect.join("texts", "memories", "texts.memory = memories.key")}
            where {dialect.of("memories")} and {dialect.among("memories.key", "keys")} order by memories.key
            """,
            keys=keys,
        ):
            try:
                title, text, _ = (one.decode() for one in texts_)
                parts = [
                    (start, stop, part and part.decode(), more.decode()) for start, stop, part, more in chunks[key]
                ]
            except UnicodeDecodeError:
                changed.append(id_)
                continue
            if fingerprint(title, text) != hash_:
                changed.append(id_)
            elif any(not text[a:b] or text[a:b] != (text if part is None else part) for a, b, part, _ in parts):
                outside.append(id_)
    if changed:
        them = count_of(len(changed), "memory has", "memories have")
        yield f"{them} another text or title than was stored. {cure(changed, restore)}"
    if outside:
        them = count_of(len(outside), "memory has", "memories have")
        yield f"{them} chunks that are no part of the text. {cure(outside, restore)}"


def names(session: Session) -> Iterator[str]:
    """Yield a sentence if memories define names that their texts do not hold."""
    if count := len(damaged_definitions(session)):
        them = count_of(count, "memory", "memories")
        yield f"The names that {them} should define are not in the text. Read them anew with store.rebuild()."


def damaged_definitions(session: Session) -> list[int]:
    """Return the memories with a definition that their text does not hold."""
    dialect, found = session.dialect, list[int]()
    names_ = dialect.raw("defined || ' ' || assigned || ' ' || nested")
    defining = f"select memory from definitions where {dialect.of('definitions')} order by memory"
    for keys in batches(session.column(defining), _TOGETHER):
        for key, text, defined in session.rows(
            f"""
            select definitions.memory, {dialect.raw("text")}, {names_}
            from definitions {dialect.join("texts", "definitions", "texts.memory = definitions.memory")}
            where {dialect.of("definitions")} and {dialect.among("definitions.memory", "keys")}
            order by definitions.memory
            """,
            keys=keys,
        ):
            try:
                held = normalize("NFKC", text.decode())  # Python knows names in their plain characters
                if not all(name in held for name in defined.decode().split()):
                    found.append(key)
            except UnicodeDecodeError:
                found.append(key)
    return found


def vectors(session: Session, index: VectorIndex) -> Iterator[str]:
    """Yield a sentence for each model with damaged vectors, and one if tokens are damaged."""
    for model in models.every(session):
        if count := len(index.damaged(session, model)):
            them = count_of(count, f"vector of {model.name} is", f"vectors of {model.name} are")
            yield (f"{them} damaged, or of chunks that are not there. Compute them anew with store.reembed().")
    if count := len(memories.damaged_tokens(session)):
        yield f"The tokens of {count:,} chunks are damaged. Compute them anew with store.rebuild()."


def missing_vectors(session: Session, index: VectorIndex) -> Iterator[str]:
    """Yield a sentence if chunks have no vector of the model that searches use."""
    active = models.active(session)
    if active is not None and (lacking := len(index.missing(session, active, 1_000_000))):
        yield (
            f"{lacking} chunks have no vector, so the search by meaning cannot find them. "
            "Compute the vectors with store.reembed()."
        )
