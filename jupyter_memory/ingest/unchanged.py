"""What a changed file still holds as it was: a cell that nobody touched keeps its date and its vectors.

The time of a file says when something in it was changed, not what. Without this, one edited cell would date, and embed,
all cells of its notebook anew. Where only the date of a text is another, its vectors stay too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from jupyter_memory.storage.base import EmbeddedParts, Snapshot
from jupyter_memory.text.markdown import day, embedding_text
from jupyter_memory.types import Draft, Memory
from jupyter_memory.types.protocols import Embedder, Vectors

# The path, kind, location, title and text of a memory.
_Content = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The dates of what files held, and what was embedded for it, with the vectors."""

    dates: Mapping[_Content, datetime] = field(default_factory=dict)
    embedded: Sequence[tuple[EmbeddedParts, Vectors]] = ()

    def dated(self, draft: Draft) -> Draft:
        """Return a draft with its earlier date, if it says what it said and nothing but its file dates it."""
        earlier = self.dates.get(_content(draft)) if draft.dated_by_file else None
        if earlier is None or draft.event_at is None or earlier == draft.event_at:
            return draft
        prefix = draft.context.removesuffix(day(draft.event_at))
        dated = f"{prefix}{day(earlier)}" if prefix != draft.context else draft.context
        return replace(draft, event_at=earlier, context=dated)

    def vectors(self, drafts: Sequence[Draft]) -> dict[str, Vectors]:
        """Return the vectors by the texts that they are of, also as those texts are with the new dates of drafts."""
        found = {embedding_text(*parts): vector for parts, vector in self.embedded}
        for before, after in self._new_days(drafts) if self.embedded else ():
            for parts, vector in self.embedded:
                if before in parts.context:
                    dated = parts._replace(context=parts.context.replace(before, after))
                    found.setdefault(embedding_text(*dated), vector)
        return found

    def _new_days(self, drafts: Sequence[Draft]) -> set[tuple[str, str]]:
        """Return which days have become others."""
        moments = {(self.dates.get(_content(draft)), draft.event_at) for draft in drafts}
        days = {(day(before), day(after)) for before, after in moments if before is not None and after is not None}
        return {(before, after) for before, after in days if before != after}


def unchanged(snapshot: Snapshot, paths: Sequence[str], space: str, embedder: Embedder | None) -> Unchanged:
    """Return what is known of the memories of files; with an embedder, also the vectors that it gave them."""
    keys = snapshot.file_keys(paths, space)
    if not keys:
        return Unchanged()
    dates = {_content(memory): memory.event_at for memory in snapshot.memories(keys).values()}
    model = None if embedder is None else snapshot.model(embedder.fingerprint)
    if model is None:
        return Unchanged(dates)
    chunks = snapshot.chunks_of(keys)
    parts = snapshot.embedded_parts(chunks)
    found = snapshot.vectors(model, chunks)
    return Unchanged(
        dates, [(parts[int(chunk)], vector) for chunk, vector in zip(found.ids, found.vectors, strict=True)]
    )


def _content(one: Draft | Memory) -> _Content:
    return one.source, one.kind, one.location, one.title, one.text
