"""Forgetting: the memories that its arguments select, their removal, and taking it back within a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Timer
from typing import Any
from weakref import ref

from jupyter_memory.config import JupyterMemory
from jupyter_memory.errors import InputError, StoreError
from jupyter_memory.search.query.parser import filters_from
from jupyter_memory.storage import journal
from jupyter_memory.storage.writing import Storage
from jupyter_memory.store.scope import Scope
from jupyter_memory.types import Filters, Selection, as_tuple
from jupyter_memory.types.report import Undoable

# Seconds after the end of the time, so that it is over by any clock.
_LATER = 0.5
_ONLY_TRUE = (
    "everything= forgets the whole store, so it takes True or False and nothing else. Write everything=True for that, "
    "or leave it out."
)
NOT_BOTH = "forget() takes ids, or a choice by source and filters, not both."


class Forgetting:
    """What is forgotten in one store."""

    def __init__(self, storage: Storage, settings: JupyterMemory, scope: Scope) -> None:
        self._storage = storage
        self._settings = settings
        self._scope = scope
        self._timer: Timer | None = None

    def selection(
        self,
        ids: str | Sequence[str] | None = None,
        *,
        source: str | Sequence[str] | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        everything: bool = False,
    ) -> Selection:
        """Return which memories ``forget`` would remove with these arguments, and what they are; nothing changes.

        ``forget(selection)`` then removes these alone: what is added in the meantime stays.

        Raises
        ------
        InputError
            Nothing says what to choose.
        UnknownMemory
            One of the ids is not there.
        """
        chosen = selected(self._scope, ids, source, filters, everything)
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
        """Remove memories for good, from every table, index and log of the file; return how many went.

        With the setting ``undo_minutes`` above 0, ``undo`` can take it back for that time. Until then the texts are
        still in the file, though nothing finds them.

        Parameters
        ----------
        ids : str, sequence of str or Selection, optional
            With a ``Selection`` none but the memories counted in it are forgotten, if they are still there and still
            fit.
        source : str or sequence of str, optional
            A file, or a folder with all below it; or several of them.
        filters : Filters or mapping, optional
            As in ``search``. With ``source``, both must fit.
        everything : bool, default False
            All memories of the store (of its space, if it has one).
        dry_run : bool, default False
            Remove nothing, and return how many memories would go; ``selection`` tells more about them.
        now : bool, default False
            Leave nothing to take back, neither of this nor of what was forgotten before.

        Raises
        ------
        InputError
            Nothing says what to forget.
        UnknownMemory
            One of the ids is not there; nothing is forgotten then.
        """
        if isinstance(ids, Selection):
            if source is not None or filters or everything:
                raise InputError(NOT_BOTH)
            if dry_run:
                with self._storage.snapshot() as snapshot:
                    return len(set(ids.ids).intersection(snapshot.selection(ids.filters).ids))
            return self._forget(ids.filters, ids.ids, ids.everything, now)
        if dry_run:
            return len(self.selection(ids, source=source, filters=filters, everything=everything))
        return self._forget(selected(self._scope, ids, source, filters, everything), None, everything, now)

    def undo(self) -> int:
        """Take the last ``forget`` back, also that of another program; return how many memories came back.

        They are as they were, with their ids, pins, tags, vectors, feedback and pictures. Called again, it takes the
        one before back.

        Raises
        ------
        InputError
            There is nothing to take back: the setting ``undo_minutes`` was 0 then, or the time is over.
        """
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
        """Remove for good at once what could be taken back; return how many memories that were."""
        return self._storage.forgotten.drop(None)

    def expire(self) -> None:
        """Remove for good what can no longer be taken back, and do so again when the next time is over."""
        self._stop()
        if not self._storage.read_only:
            # A store that is busy, closed or damaged is left to whoever opens it next: nobody asked for this.
            with suppress(StoreError):
                self._drop_expired()

    def close(self) -> None:
        """Wait no longer; whoever opens the store next removes what can no longer be taken back."""
        self._stop()

    def _drop_expired(self) -> None:
        self._storage.forgotten.drop(datetime.now(UTC))
        left = [one.until for one in self._storage.forgotten.pending("")]
        if left:
            wait = max(0.0, (min(left) - datetime.now(UTC)).total_seconds()) + _LATER
            self._timer = Timer(wait, _expire, [ref(self)])
            self._timer.daemon = True
            self._timer.start()

    def _forget(self, chosen: Sequence[str] | Filters, among: Sequence[str] | None, everything: bool, now: bool) -> int:
        minutes = 0.0 if now else self._settings.undo_minutes
        until = datetime.now(UTC) + timedelta(minutes=minutes) if minutes else None
        writer, space = self._storage.writer, self._scope.space
        gone = writer.forget(chosen, among=among, everything=everything, until=until, space=space)
        if everything:
            journal.empty(self._storage.path)
            if among is None:
                # A kernel may have taken in some of its runs in between.
                gone += writer.forget(self._scope.bound(Filters(kind=("history",))))
        if until is None:
            self._storage.forgotten.drop(None)
        self.expire()
        return gone

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _expire(forgetting: ref[Forgetting]) -> None:
    """Remove what can no longer be taken back, if its store is still there."""
    found = forgetting()
    if found is not None:
        found.expire()


def selected(
    scope: Scope,
    ids: str | Sequence[str] | None,
    source: str | Sequence[str] | None,
    filters: Filters | Mapping[str, Any] | None,
    everything: bool,
) -> tuple[str, ...] | Filters:
    """Return what the arguments of ``forget`` select: ids, or filters as they hold in this store."""
    if not isinstance(everything, bool):
        raise InputError(_ONLY_TRUE)
    # Filters without a value leave nothing out, and an empty source is above every file.
    chosen, sources = filters_from(filters, None, None, datetime.now(UTC)), as_tuple(source)
    if ids is None and not any(sources) and not chosen and not everything:
        raise InputError("forget() needs to know what: ids, source=, filters=, or everything=True.")
    if ids is not None:
        if source is not None or filters or everything:
            raise InputError(NOT_BOTH)
        return as_tuple(ids) if isinstance(ids, Iterable) else (str(ids),)
    if sources and not any(sources):
        raise InputError("source= is empty. Name a file or a folder, or leave it out.")
    if sources and chosen.path:
        raise InputError("forget() takes one path: source= or a path among the filters, not both.")
    chosen = scope.bound(chosen, every_name=True)
    return replace(chosen, path=_paths(scope, sources)) if sources else chosen


def _paths(scope: Scope, sources: Sequence[str]) -> tuple[str, ...]:
    """Return sources as they are written, which may be a note's, and as paths of the store's folder."""
    written = filters_from({"path": [one for one in sources if one]}, None, None, datetime.now(UTC))
    scopes = dict.fromkeys((replace(scope, folder=""), scope))
    return tuple(dict.fromkeys(name for one in scopes for name in one.bound(written, every_name=True).path))
