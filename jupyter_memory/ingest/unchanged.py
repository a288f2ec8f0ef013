"""What a changed file still holds as it was: a cell that nobody touched keeps its date, and so its vectors.

The time of a file says when something in it was changed, not what. Without this, one edited cell would date, and embed,
all cells of its notebook anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from jupyter_memory.protocols import Embedder, Vectors
from jupyter_memory.storage.base import Snapshot
from jupyter_memory.text.structure import day, embedding_text
from jupyter_memory.types import Draft, Memory

# The path, kind, location, title and text of a memory.
_Content = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The dates of what files held, and the vectors of the texts that were embedded for it."""

    dates: Mapping[_Content, datetime] = field(default_factory=dict)
    vectors: Mapping[str, Vectors] = field(default_factory=dict)

    def dated(self, draft: Draft) -> Draft:
        """Return a draft with its earlier date, if it says what it said and nothing but its file dates it."""
        earlier = self.dates.get(_content(draft)) if draft.dated_by_file else None
        if earlier is None or draft.event_at is None or earlier == draft.event_at:
            return draft
        prefix = draft.context.removesuffix(day(draft.event_at))
        dated = f"{prefix}{day(earlier)}" if prefix != draft.context else draft.context
        return replace(draft, event_at=earlier, context=dated)


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
    texts = {chunk: embedding_text(*parts) for chunk, parts in snapshot.embedded_parts(chunks).items()}
    found = snapshot.vectors(model, chunks)
    vectors = {texts[int(chunk)]: vector for chunk, vector in zip(found.ids, found.vectors, strict=True)}
    return Unchanged(dates, vectors)


def _content(one: Draft | Memory) -> _Content:
    return one.source, one.kind, one.location, one.title, one.text
