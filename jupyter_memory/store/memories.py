"""Memories added, read, changed and forgotten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any, Protocol, overload
from weakref import WeakMethod

from jupyter_memory.errors import InputError, StoreError
from jupyter_memory.runtime import batches, shown
from jupyter_memory.search.query.parser import filters_from
from jupyter_memory.storage import journal
from jupyter_memory.storage.sql import all_of
from jupyter_memory.store.searching import Moment
from jupyter_memory.store.sources import Part
from jupyter_memory.types import FACETS, Draft, Filters, Memory, Selection, Thumbnail, as_tuple
from jupyter_memory.types.memory import PINNED_BY
from jupyter_memory.types.protocols import Embedder
from jupyter_memory.types.report import Undoable

_NEVER_EMPTY = ("text", "tier", "event_at")  # every memory has these: None leaves them unchanged


class Get(Protocol):
    """The method ``get`` as callers see it: one memory for an id, a list for several."""

    @overload
    def __call__(self, memory_id: str) -> Memory: ...
    @overload
    def __call__(self, memory_id: list[str] | tuple[str, ...]) -> list[Memory]: ...


class Memories(Part):
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
        """Remember a text, its secrets (passwords, tokens) replaced by a mark.

        Known content (same title, text, kind, source and space) is not stored twice: the stored memory gets the new
        tags and metadata, and is returned.

        Args:
            tier: Where it comes from, ``"note"``, ``"mcp"`` or ``"file"``; ``"core"`` stores a note and pins it.
            event_at: When it happened, now if left out. Naive times are local.
            severity: ``"critical"``, ``"warning"`` or ``"suggestion"``.
            valid_from, valid_until: From when and until when it holds.
            metadata: JSON values of your own.

        Raises:
            InputError: the text is empty, or a value is unknown.
        """
        record = {name: value for name, value in locals().items() if name != "self"}
        return self.add_many([record], progress=False)[0]

    def add_many(self, records: Iterable[Mapping[str, Any]], progress: bool = True) -> list[Memory]:
        """Remember many texts: dicts with the keys that ``add`` takes, and ``lang``, the language of a piece of code.

        They are written in batches of 512. If one record is wrong, nothing of its batch is stored.
        """
        self._model.for_writing()  # raises before anything is read, where the model does not fit
        added: list[Memory] = []
        for batch in batches(shown(records, progress, "Remembering"), 512):
            drafts = [self._draft(record) for record in batch]
            merged = self._storage.writer.merge(drafts)
            fresh = [draft for draft, memory in zip(drafts, merged, strict=True) if memory is None]
            written = iter(self._model.writing(partial(self._remember, fresh)) if fresh else ())
            added += [memory if memory is not None else next(written) for memory in merged]
        self._model.calibrate(len(added))
        return added

    def get(self, memory_id: str | list[str] | tuple[str, ...]) -> Memory | list[Memory]:
        """Return a memory by its id, or several, in the order of their ids; raises ``UnknownMemory`` for others."""
        return self._found(memory_id) if isinstance(memory_id, (list, tuple)) else self._found([memory_id])[0]

    def bound(self, filters: Filters) -> Filters:
        """Return filters as they hold in this store: in its space, with paths by every name that it knows."""
        return self._scope.bound(filters, every_name=True)

    def among(self, ids: Sequence[str], filters: Filters | Mapping[str, Any] | None = None) -> list[Memory]:
        """Return those of these memories that exist and match the filters, in the order of the ids."""
        chosen = self._scope.bound(filters_from(filters, None, None, datetime.now(UTC)))
        with self._storage.snapshot() as snapshot:
            found = snapshot.by_id(ids, chosen)
        return [found[one] for one in dict.fromkeys(ids) if one in found]

    def thumbnail(self, memory_id: str, place: int = 0) -> Thumbnail | None:
        """Return a picture that a memory shows, counted from 0 and scaled down; None if there is none."""
        return self._storage.thumbnails.get(memory_id, place)

    def update(self, /, memory_id: str, **changes: Any) -> Memory:
        """Change a memory and return it: any of the keywords of ``add`` but ``kind`` and ``source``.

        Tags and metadata are replaced, not merged; None removes a value that may be missing.

        Raises:
            InputError: another memory says the same already, or a value cannot be stored.
            UnknownMemory: no memory has this id.
        """
        # Imported late, as everywhere in the store: a search needs nothing of what reads and prepares.
        from jupyter_memory.ingest import preparation

        known = sorted(set(preparation.KNOWN) - {"kind", "source"})
        if unknown := sorted(set(changes).difference(known)):
            raise InputError(f"update() cannot set {', '.join(unknown)}. It sets: {', '.join(known)}.")
        [memory] = self._found([memory_id])
        kept = {name for name in _NEVER_EMPTY if preparation.is_missing(changes.get(name))}
        changes = {name: value for name, value in changes.items() if name not in kept}
        record = {name: getattr(memory, name) for name in preparation.KNOWN}
        draft = replace(self._draft({**record, **changes}), location=memory.location)

        with self._storage.snapshot() as snapshot:
            [key] = snapshot.same_content([draft])
            if key is not None and key != snapshot.key_of(memory.id):
                other = snapshot.memories([key])[key]
                raise InputError(
                    f"Nothing was changed: memory {other.id} says the same already. Forget one of the two instead."
                )

        writer = self._storage.writer
        changed = [name for name in (*preparation.PLAIN, *preparation.TIMES, "metadata") if name in changes]
        values: dict[str, Any] = {name: getattr(draft, name) for name in changed}
        if "tier" in changes:
            # Only unpin() takes a pin off: below it, this is the tier that unpinning restores.
            pin = {"pinned": True, "metadata": _without_program(draft.metadata)}
            values |= pin if draft.pinned else {"tier": draft.tier}

        # The date of a note is among the words that are searched.
        redated = "event_at" in changes and memory.kind == "note"
        if redated or (draft.text, draft.title, draft.lang) != (memory.text, memory.title, memory.lang):
            if memory.kind != "note":
                with self._storage.snapshot() as snapshot:
                    draft = replace(draft, context=snapshot.first_contexts([memory.id]).get(memory.id, ""))
            return self._model.writing(
                lambda embedder: writer.update(
                    memory.id, values, prepared=self._prepared([draft], embedder)[0], embedder=embedder
                )
            )
        tags = draft.tags if set(draft.tags) != set(memory.tags) else None
        return writer.update(memory.id, values, tags=tags)

    def pin(self, memory_id: str, *, by: str = "") -> Memory:
        """Mark a memory as permanently important: while it is pinned, its tier is core.

        ``by`` names the program that pins it; what a person pinned (without ``by``), no program may unpin.
        """
        return self._pinned(memory_id, True, {PINNED_BY: by} if by else {})

    def unpin(self, memory_id: str) -> Memory:
        """Take the pin off a memory, which then has the tier again that it was stored with."""
        return self._pinned(memory_id, False, {})

    def _pinned(self, memory_id: str, pinned: bool, by: dict[str, str]) -> Memory:
        [memory] = self._found([memory_id])
        told = _without_program(memory.metadata) | by
        changed = {} if told == memory.metadata else {"metadata": told}
        return self._storage.writer.update(memory_id, {"pinned": pinned, **changed})

    def _found(self, ids: Sequence[str]) -> list[Memory]:
        with self._storage.snapshot() as snapshot:
            keys = [snapshot.key_of(one) for one in ids]
            found = snapshot.memories(list(dict.fromkeys(keys)))
        return [found[key] for key in keys]

    def _remember(self, drafts: Sequence[Draft], embedder: Embedder | None) -> list[Memory]:
        return self._storage.writer.add(self._prepared(drafts, embedder), embedder)

    def _draft(self, record: Mapping[str, Any]) -> Draft:
        if not isinstance(record, Mapping):
            raise InputError(
                f"A record is a dict such as {{'text': 'prices are net of tax'}}, not {type(record).__name__}. "
                "Those of a DataFrame are df.to_dict('records')."
            )
        from jupyter_memory.ingest.preparation import draft_from

        return draft_from(record, space=self._scope.space, redacting=self._settings.redact)


_Ids = Sequence[str]


def _without_program(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if name != PINNED_BY}


def _refuse_empty(filters: Filters) -> None:
    # An empty space or language is that of memories without one, which may be all of them.
    for one in all_of(filters):
        for name in FACETS:
            if not all(map(str.strip, (*getattr(one, name), *getattr(one, f"not_{name}")))):
                raise InputError(f"The filter {name!r} is empty. Give it a value, or leave it out.")


_LATER = 0.5  # seconds after the end of the time, so that it is over by any clock
_NOT_BOTH = "Name ids, or choose by source and filters, not both."


class Forgetting(Part):
    _timer: Timer | None = None

    def selection(
        self,
        ids: str | Sequence[str] | None = None,
        *,
        source: str | Sequence[str] | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        everything: bool = False,
    ) -> Selection:
        """Return which memories ``forget`` would remove; ``forget(selection)`` removes these, and none added later."""
        chosen = self._selected(ids, source, filters, everything)
        with self._storage.snapshot() as snapshot:
            if isinstance(chosen, Filters):
                return replace(snapshot.selection(chosen), everything=everything)
            found = list(snapshot.memories([snapshot.key_of(one) for one in chosen]).values())
        kinds = dict(Counter(memory.kind for memory in found).most_common())
        pinned, tagged = sum(memory.pinned for memory in found), sum(bool(memory.tags) for memory in found)
        return Selection(tuple(memory.id for memory in found), kinds, pinned, tagged)

    def forget(
        self,
        ids: str | Sequence[str] | Selection | None = None,
        *,
        source: str | Sequence[str] | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        everything: bool = False,
        dry_run: bool = False,
        now: bool = False,
    ) -> int:
        """Remove memories for good, from every table, index and log of the file; return the number removed.

        With the setting ``undo_minutes`` above 0, ``undo`` can take it back for that time, in which nothing finds the
        texts, although they are still in the file.

        Args:
            ids: One or more; of a ``Selection``, the memories counted in it that are still there and still fit.
            source: A file, or a folder with all below it; or several of them.
            filters: As in ``search``. With ``source``, both must fit.
            everything: All memories of the store (of its space, if it has one).
            dry_run: Remove nothing, and return how many memories would be removed; ``selection`` tells more.
            now: Leave nothing to take back, neither of this nor of what was forgotten before.

        Raises:
            InputError: nothing says what to forget, or a filter is empty.
            UnknownMemory: one of the ids is not there; nothing is forgotten then.
        """
        if isinstance(ids, Selection):
            if source is not None or filters or everything:
                raise InputError(_NOT_BOTH)
            if dry_run:
                with self._storage.snapshot() as snapshot:
                    return len(set(ids.ids).intersection(snapshot.selection(ids.filters).ids))
            return self._forget(ids.filters, ids.ids, ids.everything, now)
        if dry_run:
            return len(self.selection(ids, source=source, filters=filters, everything=everything))
        return self._forget(self._selected(ids, source, filters, everything), None, everything, now)

    def undo(self) -> int:
        """Do what ``MemoryStore.undo`` does, but for the other store of a move."""
        self.expire()
        if back := self._storage.forgotten.undo(self._scope.space):
            return back
        minutes = self._settings.undo_minutes
        why = (
            f"Nothing was forgotten in the last {minutes:g} minutes, or it was forgotten with --now."
            if minutes
            else "The setting undo_minutes is 0: what is forgotten is gone at once. To be able to undo "
            "the next one, write c.JupyterMemory.undo_minutes = 10 in jupyter_memory_config.py."
        )
        raise InputError(f"There is nothing to take back. {why}")

    def undoable(self) -> Undoable | None:
        """Return what ``undo`` would take back and until when it can, None if there is nothing."""
        self.expire()
        return next(iter(self._storage.forgotten.pending(self._scope.space)), None)

    def finish(self) -> int:
        """Remove for good what could be taken back; return the number of memories."""
        return self._storage.forgotten.drop(None)

    def expire(self) -> None:
        """Remove for good what can no longer be taken back, now and when the next time is over."""
        self.close()
        if not self._storage.read_only:
            # If the store is busy, closed or damaged, the next process that opens it does this.
            with suppress(StoreError):
                self._storage.forgotten.drop(datetime.now(UTC))
                left = [one.until for one in self._storage.forgotten.pending("")]
                if left:
                    wait = max(0.0, (min(left) - datetime.now(UTC)).total_seconds()) + _LATER
                    again = WeakMethod(self.expire)
                    self._timer = Timer(wait, lambda: (expire := again()) and expire())
                    self._timer.daemon = True
                    self._timer.start()

    def close(self) -> None:
        """Stop the timer; the next process that opens the store does the rest."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _selected(
        self,
        ids: str | Sequence[str] | None,
        source: str | Sequence[str] | None,
        filters: Filters | Mapping[str, Any] | None,
        everything: bool,
    ) -> tuple[str, ...] | Filters:
        if not isinstance(everything, bool):
            raise InputError(
                "everything= forgets the whole store, so it takes True or False and nothing else. Write "
                "everything=True for that, or leave it out."
            )
        # Filters without a value leave nothing out, and an empty source is above every file.
        chosen, sources = filters_from(filters, None, None, datetime.now(UTC)), as_tuple(source)
        if ids is None and not any(sources) and not chosen and not everything:
            raise InputError("forget() needs to know what: ids, source=, filters=, or everything=True.")
        if ids is not None:
            if source is not None or filters or everything:
                raise InputError(_NOT_BOTH)
            return as_tuple(ids) if isinstance(ids, Iterable) else (str(ids),)
        _refuse_empty(chosen)
        if sources and not any(sources):
            raise InputError("source= is empty. Name a file or a folder, or leave it out.")
        if sources and chosen.path:
            raise InputError("forget() takes one path: source= or a path among the filters, not both.")
        scopes = dict.fromkeys((replace(self._scope, folder=""), self._scope))
        # A part of a path may mean more than was thought of.
        named = replace(chosen, path=(*filter(None, sources), *chosen.path))
        for part, meant in self._scope.parts(named)[0].items():
            if all(part in scope.parts(named)[0] for scope in scopes):
                listed = f"{', '.join(sorted(meant)[:10])}{' and others' if len(meant) > 10 else ''}"
                raise InputError(f"Nothing was done: {part!r} is not a whole path. It could be {listed}.")
        chosen = self._scope.bound(chosen, every_name=True)
        if not sources:
            return chosen
        written = filters_from({"path": [one for one in sources if one]}, None, None, datetime.now(UTC))
        paths = dict.fromkeys(name for scope in scopes for name in scope.bound(written, every_name=True).path)
        return replace(chosen, path=tuple(paths))

    def moved(self, ids: _Ids, begun: datetime, to: str, new: _Ids) -> int:
        """Forget what another store has by now, the ``new`` ones since it was ``begun``; return the number removed.

        What has got another text meanwhile is kept.
        """
        return self._forget(Filters(as_of=begun), ids, False, not self.can_undo, (to, *new))

    @property
    def can_undo(self) -> bool:
        return bool(self._settings.undo_minutes) and isinstance(self._storage.path, Path)

    def _forget(self, chosen: _Ids | Filters, among: _Ids | None, everything: bool, now: bool, moved: _Ids = ()) -> int:
        minutes = 0.0 if now else self._settings.undo_minutes
        until = datetime.now(UTC) + timedelta(minutes=minutes) if minutes else None
        writer, space = self._storage.writer, self._scope.space
        self._storage.removals += everything  # searches that found nothing go, too
        gone = writer.forget(chosen, among=among, everything=everything, until=until, space=space, moved=moved)
        if everything:
            journal.empty(self._storage.path)
            if among is None:
                # A kernel may have taken in some of its runs in between.
                gone += writer.forget(self._scope.bound(Filters(kind=("history",))))
        if until is None:
            self._storage.forgotten.drop(None)
        self.expire()
        return gone
