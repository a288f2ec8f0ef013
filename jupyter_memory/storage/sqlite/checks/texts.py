"""Checks of texts: their hashes match, and their chunks and the names that they define are parts of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from unicodedata import normalize

import apsw

from jupyter_memory.storage.cell_matching import fingerprint

_NAMED = 3


def findings(connection: apsw.Connection) -> Iterator[str]:
    """Yield what is wrong with texts, each with what to do."""
    changed, outside = _damaged(connection)
    if changed:
        yield f"{_memories(changed)} another text or title than was stored. {cure(changed)}"
    if outside:
        yield f"{_memories(outside)} chunks that are no part of the text. {cure(outside)}"


def findings_of_names(connection: apsw.Connection) -> Iterator[str]:
    """Yield what is wrong with the names that memories define, with what to do."""
    if count := len(damaged_definitions(connection)):
        them = "1 memory" if count == 1 else f"{count:,} memories"
        yield f"The names that {them} should define are not in the text. Read them anew with store.rebuild()."


def cure(ids: Sequence[str]) -> str:
    """Return what to do about damaged memories."""
    named = " ".join(ids[:_NAMED]) + (" …" if len(ids) > _NAMED else "")
    return f"Restore a backup with `jupyter-memory restore`, or forget them: jupyter-memory forget {named}"


def _memories(ids: Sequence[str]) -> str:
    return "1 memory has" if len(ids) == 1 else f"{len(ids):,} memories have"


def _damaged(connection: apsw.Connection) -> tuple[list[str], list[str]]:
    """Return the ids of memories whose text is not what was stored, and of those whose chunks are not in it."""
    changed: list[str] = []
    outside: list[str] = []
    rows: Any = connection.execute(
        """
        select memories.id, memories.content_hash, cast(title as blob), cast(texts.text as blob),
            chunks.start, chunks.stop, cast(chunks.text as blob),
            cast(kind || space || source || location || lang || coalesce(session, '') || coalesce(domain, '') as blob),
            cast(coalesce(chunks.context, '') || coalesce(chunks.ident, '') as blob)
        from memories join texts on texts.memory = key left join chunks on chunks.memory = key
        order by key
        """
    )
    last, text, broken = "", "", False
    for id_, hash_, title_bytes, text_bytes, start, stop, part_bytes, others, of_chunk in rows:
        try:
            of_chunk.decode()
            part = None if part_bytes is None else part_bytes.decode()
            if id_ != last:
                others.decode()
                last, text = id_, text_bytes.decode()
                broken = fingerprint(title_bytes.decode(), text) != hash_
                if broken:
                    changed.append(id_)
        except UnicodeDecodeError:
            if id_ not in changed[-1:]:
                changed.append(id_)
            last, broken = id_, True
            continue
        if start is not None and not broken and id_ not in outside[-1:]:
            held = text[start:stop]
            if held != (text if part is None else part) or not held:
                outside.append(id_)
    return changed, outside


def damaged_definitions(connection: apsw.Connection) -> list[int]:
    """Return the memories with a definition that their text does not hold."""
    rows: Any = connection.execute(
        """
        select memory, cast(text as blob), cast(defined || ' ' || assigned || ' ' || nested as blob)
        from definitions join texts using (memory) order by memory
        """
    )
    return [key for key, text, names in rows if not _holds(text, names)]


def _holds(text: bytes, names: bytes) -> bool:
    try:
        # Python knows names in their plain characters.
        held = normalize("NFKC", text.decode())
        return all(name in held for name in names.decode().split())
    except UnicodeDecodeError:
        return False
