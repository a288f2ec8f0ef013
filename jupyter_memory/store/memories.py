"""The memories of a store: how they are added, read and changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol, overload

from jupyter_memory.config import JupyterMemory
from jupyter_memory.errors import InputError
from jupyter_memory.ingest import preparation
from jupyter_memory.ingest.preparation import prepare
from jupyter_memory.runtime import batches, shown
from jupyter_memory.search.query.parser import filters_from
from jupyter_memory.storage.writing import Storage
from jupyter_memory.store.models.choice import ModelChoice
from jupyter_memory.store.scope import Scope
from jupyter_memory.store.searching import Moment
from jupyter_memory.types import Draft, Filters, Memory
from jupyter_memory.types.memory import Thumbnail
from jupyter_memory.types.protocols import Embedder

# After this many memories at once the model is calibrated.
_MANY = 50
_CHANGED = set(preparation.KNOWN) - {"kind", "source"}
# Every memory has these: None leaves them as they are.
_NEVER_EMPTY = ("text", "tier", "event_at")


class Get(Protocol):
    """The method ``get`` as callers see it: one memory for an id, a list for several."""

    @overload
    def __call__(self, memory_id: str) -> Memory: ...

    @overload
    def __call__(self, memory_id: list[str] | tuple[str, ...]) -> list[Memory]: ...


class Memories:
    """The memories of one store."""

    def __init__(self, storage: Storage, model: ModelChoice, settings: JupyterMemory, scope: Scope) -> None:
        self._storage = storage
        self._model = model
        self._settings = settings
        self._scope = scope

    def add(
        self,
        text: str,
        *,
        title: str | None = None,
        tags: str | Sequence[str] = (),
        tier: str = "note",
        kind: str = "note",
        source: str | None = None,
        event_at: Moment = None,
        severity: str | None = None,
        domain: str | None = None,
        valid_from: Moment = None,
        valid_until: Moment = None,
        session: str | None = None,
        space: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Memory:
        """Remember a text.

        Known content (same title, text, kind, source and space) is not stored twice: the stored memory is returned,
        with the new tags and metadata merged into it. A mark replaces secrets such as passwords and tokens before
        anything is written.

        Parameters
        ----------
        tier : {"note", "mcp", "file", "core"}
            Where it comes from; ``"core"`` stores a note and pins it.
        event_at : str, date or datetime, optional
            When it happened, now if left out. Naive times are local.
        severity : {"critical", "warning", "suggestion"}, optional
        valid_from, valid_until : str, date or datetime, optional
            From when and until when it holds.
        metadata : mapping, optional
            JSON values of your own.

        Returns
        -------
        Memory

        Raises
        ------
        InputError
            The text is empty, or a value is unknown.
        """
        record = {name: value for name, value in locals().items() if name not in ("self", "text")}
        return self.add_many([{"text": text, **record}], progress=False)[0]

    def add_many(self, records: Iterable[Mapping[str, Any]], progress: bool = True) -> list[Memory]:
        """Remember many texts: dicts with the keys that ``add`` takes, and ``lang``, the language of a piece of code.

        They are written in batches. If one record is wrong, nothing of its batch is stored.
        """
        self._model.for_writing()  # raises before anything is read, where the model does not fit
        added: list[Memory] = []
        for batch in batches(shown(records, progress, "Remembering"), 512):
            drafts = [self._draft(record) for record in batch]
            merged = self._storage.writer.merge(drafts)
            fresh = [draft for draft, memory in zip(drafts, merged, strict=True) if memory is None]
            written = iter(self._model.writing(partial(self._remember, fresh)) if fresh else ())
            added += [memory if memory is not None else next(written) for memory in merged]
        if len(added) >= _MANY:
            self._model.calibrate()
        return added

    @overload
    def get(self, memory_id: str) -> Memory: ...

    @overload
    def get(self, memory_id: list[str] | tuple[str, ...]) -> list[Memory]: ...

    def get(self, memory_id: str | list[str] | tuple[str, ...]) -> Memory | list[Memory]:
        """Return a memory by its id, or several, in the order of their ids; raises ``UnknownMemory`` for others."""
        ids = memory_id if isinstance(memory_id, (list, tuple)) else [memory_id]
        with self._storage.snapshot() as snapshot:
            keys = [snapshot.key_of(one) for one in ids]
            found = snapshot.memories(list(dict.fromkeys(keys)))
        return [found[key] for key in keys] if ids is memory_id else found[keys[0]]

    def bound(self, filters: Filters) -> Filters:
        """Return filters as they hold in this store: in its space, with paths by every name that it knows."""
        return self._scope.bound(filters, every_name=True)

    def among(self, ids: Sequence[str], filters: Filters | Mapping[str, Any] | None = None) -> list[Memory]:
        """Return those of these memories that are there and that the filters let through, in the order of the ids."""
        chosen = self._scope.bound(filters_from(filters, None, None, datetime.now(UTC)))
        with self._storage.snapshot() as snapshot:
            found = snapshot.memories(snapshot.keys(chosen, ids)).values()
        by_id = {memory.id: memory for memory in found}
        return [by_id[one] for one in dict.fromkeys(ids) if one in by_id]

    def thumbnail(self, memory_id: str, place: int = 0) -> Thumbnail | None:
        """Return a picture that a memory shows, counted from 0, as it is kept: scaled down. None where there is none.

        Raises
        ------
        UnknownMemory
            No memory has this id.
        """
        return self._storage.thumbnails.get(memory_id, place)

    def update(self, /, memory_id: str, **changes: Any) -> Memory:
        """Change a memory and return it: any of the keywords of ``add`` but ``kind`` and ``source``.

        Tags and metadata are replaced, not merged. None removes a value, except for text, tier and event_at, which
        every memory has: there it changes nothing. A pin stays until ``unpin``, whatever the tier.

        Raises
        ------
        InputError
            Another memory says the same already, or a value cannot be stored.
        UnknownMemory
            No memory has this id.
        """
        if unknown := sorted(set(changes) - _CHANGED):
            raise InputError(f"update() cannot set {', '.join(unknown)}. It sets: {', '.join(sorted(_CHANGED))}.")
        memory = self.get(memory_id)
        kept = {name for name in _NEVER_EMPTY if preparation.is_missing(changes.get(name))}
        changes = {name: value for name, value in changes.items() if name not in kept}
        draft = replace(self._draft({**preparation.record_of(memory), **changes}), location=memory.location)
        self._refuse_copy(draft, memory)
        values, writer = _values(draft, changes), self._storage.writer
        # The date of a note is among the words that are searched.
        redated = "event_at" in changes and memory.kind == "note"
        if redated or (draft.text, draft.title, draft.lang) != (memory.text, memory.title, memory.lang):
            placed = self._in_place(draft, memory)
            return self._model.writing(
                lambda embedder: writer.update(
                    memory.id, values, prepared=prepare([placed], embedder)[0], embedder=embedder
                )
            )
        tags = draft.tags if set(draft.tags) != set(memory.tags) else None
        return writer.update(memory.id, values, tags=tags)

    def pin(self, memory_id: str) -> Memory:
        """Mark a memory as permanently important: while it is pinned, its tier is core."""
        return self._storage.writer.update(memory_id, {"pinned": True})

    def unpin(self, memory_id: str) -> Memory:
        """Take the pin off a memory, which then has the tier again that it was stored with."""
        return self._storage.writer.update(memory_id, {"pinned": False})

    def _refuse_copy(self, draft: Draft, memory: Memory) -> None:
        """Keep a change from making one memory the copy of another."""
        with self._storage.snapshot() as snapshot:
            [key] = snapshot.same_content([draft])
            if key is not None and key != snapshot.key_of(memory.id):
                other = snapshot.memories([key])[key]
                raise InputError(
                    f"Nothing was changed: memory {other.id} says the same already. Forget one of the two instead."
                )

    def _in_place(self, draft: Draft, memory: Memory) -> Draft:
        """Return the new words of what came from a document with the place in it that they still have."""
        if memory.kind == "note":
            return draft
        with self._storage.snapshot() as snapshot:
            contexts = snapshot.first_contexts([memory.id])
        return replace(draft, context=contexts.get(memory.id, ""))

    def _remember(self, drafts: Sequence[Draft], embedder: Embedder | None) -> list[Memory]:
        return self._storage.writer.add(prepare(drafts, embedder), embedder)

    def _draft(self, record: Mapping[str, Any]) -> Draft:
        if not isinstance(record, Mapping):
            raise InputError(
                f"A record is a dict such as {{'text': 'prices are net of tax'}}, not {type(record).__name__}. "
                "Those of a DataFrame are df.to_dict('records')."
            )
        return preparation.draft_from(record, space=self._scope.space, redacting=self._settings.redact)


def _values(draft: Draft, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that change as they are, without the index."""
    values: dict[str, Any] = {
        name: getattr(draft, name) for name in (*preparation.PLAIN, *preparation.TIMES) if name in changes
    }
    if "metadata" in changes:
        values["metadata"] = draft.metadata
    if "tier" in changes:
        # Only unpin() takes a pin off: below it, the tier is that which unpinning brings back.
        values |= {"pinned": True} if draft.pinned else {"tier": draft.tier}
    return values
