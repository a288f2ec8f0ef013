"""MemoryStore: the class through which everything else uses a store. Its methods come from its parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, Unpack
from weakref import WeakValueDictionary

from jupyter_memory.config import JupyterMemory, load_config, store_path
from jupyter_memory.embedders import check_name
from jupyter_memory.embedders.lifecycle import computing
from jupyter_memory.errors import InputError, JupyterMemoryError, NoStore, QueryError, StoreError
from jupyter_memory.search.engine import QueryVectors, SearchEngine
from jupyter_memory.search.profiles import Profile, profile_named
from jupyter_memory.storage.databases import PartOfStore, Storage, open_storage
from jupyter_memory.storage.sql import delegated
from jupyter_memory.store.fixes import Fixes
from jupyter_memory.store.history import History
from jupyter_memory.store.maintenance import Activity, Maintenance
from jupyter_memory.store.memories import Forgetting, Get, Memories
from jupyter_memory.store.models import ModelChoice
from jupyter_memory.store.runnable import Runnables
from jupyter_memory.store.searching import BrowseOptions, QueryOptions, Searching, SearchOptions, keywords
from jupyter_memory.store.sources import Scope, Sources
from jupyter_memory.store.transfer import StoreTransfer
from jupyter_memory.stores import PROJECT, ListedStore, listed_stores, project_store, trusted_project
from jupyter_memory.text.paths import DatabaseAddress, StorePath, absolute, may_exist, store_at
from jupyter_memory.types import Answer, Filters, Selection, as_tuple
from jupyter_memory.types.protocols import Embedder
from jupyter_memory.types.report import CopyReport

if TYPE_CHECKING:
    import pandas as pd

    from jupyter_memory.dataframe.explorer import MemoryExplorer
    from jupyter_memory.store import Stores


class MemoryStore:
    """A store of memories in one SQLite file, or a database. ``history`` has what you ran, ``fixes`` mended errors.

    Args:
        path: The file, or the URL of a database, without a password. You alone can read a new file and its folder.
        embedder: What turns text into vectors. ``"auto"`` is the model that the store was written with; in a new store
            it is nomic if that is on this machine, else the bundled static model. None searches by words alone.
        profile: How hits are ranked unless a search names another profile.
        space: New memories go into this space, and searches see only this space.
        settings: The other settings; by default those of Jupyter's config path.
        folder: Where relative paths in a query begin (``path:notes/``), by default the working folder.
        read_only: Whether everything that would be written is refused, though it may be.

    Raises:
        StoreDamaged, StoreTooNew, StoreReadOnly: the file is not a store, of a newer major version, or cannot be made.

    >>> import tempfile
    >>> store = MemoryStore(tempfile.mkdtemp() + "/memory.sqlite")
    >>> memory = store.add("We scaled the prices to zero mean.", title="Prices", tags=["decision"])
    >>> store.search("how were prices normalised")["title"].tolist()
    ['Prices']
    >>> store.close()
    """

    def __init__(
        self,
        path: str | Path | DatabaseAddress,
        embedder: str | Embedder | None = "auto",
        profile: str | Profile = "auto",
        space: str | None = None,
        *,
        settings: JupyterMemory | None = None,
        folder: str | Path | None = None,
        read_only: bool = False,
    ) -> None:
        settings = settings if settings is not None else load_config()
        self.profile = profile_named(profile)  # a misspelt name raises before a file is created
        if isinstance(embedder, str):
            check_name(embedder)
        self.path, self.space = store_at(path), space or ""
        computing.release_after(settings.idle_minutes)
        storage = open_storage(self.path, busy_seconds=settings.busy_seconds, space=self.space, read_only=read_only)
        scope = Scope(storage, self.space, "" if folder is None else str(absolute(folder)))
        query_vectors = QueryVectors(storage, settings)
        engine = SearchEngine(storage, query_vectors.vector)
        model = ModelChoice(storage, embedder, settings)
        shared = storage, model, settings, scope
        self.memories, self.forgetting = Memories(*shared), Forgetting(*shared)
        self.sources, self.transfer = Sources(*shared), StoreTransfer(*shared)
        self.activity, self.maintenance = Activity(*shared), Maintenance(*shared)
        self.runnables = Runnables(*shared)
        self.searching = Searching(storage, engine, model, query_vectors, settings, self.profile, scope)
        self.history = History(*shared)
        self.fixes = Fixes(storage, self.history, self.searching, scope)
        self._storage, self._model, self._settings, self.closed = storage, model, settings, False
        self._stores: Stores | None = None
        _ALIVE[self.path] = self
        self.history.catch_up()
        self.forgetting.expire()

    def __repr__(self) -> str:
        return f"MemoryStore({str(self.path)!r}{', closed' if self.closed else ''})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def replaced(self) -> bool:
        """Return whether its file was moved, removed or replaced since it was opened: nothing is written to it then."""
        return self._storage.replaced

    @property
    def notices(self) -> tuple[str, ...]:
        """Return the status of the store in sentences: read-only, no write-ahead log, nearly too large."""
        return self.maintenance.notices

    @property
    def greeting(self) -> str:
        """Return which model a store that was just made chose for itself, empty for any other store."""
        return self._model.choice() if self._storage.created else ""

    @keywords(SearchOptions)
    def search(
        self,
        query: str,
        *,
        mode: Literal["full", "scan"] = "full",
        stores: str | Sequence[str] = (),
        **options: Unpack[SearchOptions],
    ) -> pd.DataFrame:
        """Return the best memories for a query as a DataFrame, indexed by rank, with where every point came from.

        Args:
            query: A question or words; ``"quoted words"`` are looked for as a phrase.
            limit: How many hits; the setting of that name, 10 unless changed, if left out.
            profile: How hits are ranked; the store's if left out.
            filters: What a memory must match: ``tag, kind, path, lang, tier, space, session, since, until``; each a
                value or several, of which any is enough.
            since, until: Bounds of the event time, such as ``"2026-03-01"`` or ``"last week"``; a day given as
                ``until`` is included.
            as_of: Only what was stored by this time, or by the end of this day; ages count from then. Texts that were
                changed or forgotten since are missing.
            now: The moment that ages are counted from.
            tags, domain: Evidence for profiles that read it; nothing is left out for it.
            mode: ``"scan"`` gives few columns, with an estimate of the tokens that each text costs.
            stores: Stores of the list to search together, by their names: ``"own"`` is this one, ``"all"`` all of them.

        Raises:
            QueryError: the query is empty, or a filter cannot be read.
        """
        if mode not in ("full", "scan"):
            raise QueryError(f"mode is 'full' or 'scan', not {mode!r}.")
        return frame_of(self.hits(query, stores=stores, **options), mode)

    @keywords(QueryOptions)
    def hits(self, query: str, *, stores: str | Sequence[str] = (), **options: Unpack[QueryOptions]) -> Answer:
        """Return what ``search`` finds, as ``Hit`` values.

        With ``prefix`` the last word may be unfinished, for a search while typing, unless white space follows it.
        With ``time=False`` words such as "last week" are only words.
        """
        if not stores or query is None:  # None is refused there; several stores would list memories
            return self.searching.hits(query, **options)
        # By its package: the stores of the list are opened by this module.
        from jupyter_memory.store import Stores

        if self._stores is None:
            self._stores = Stores(self._settings, lambda: self)
        names = as_tuple(stores if isinstance(stores, Iterable) else [stores])  # what is no name is an unknown one
        answer: Answer = self._stores.hits(names, query, **{"profile": self.profile, **options})
        return answer

    @keywords(BrowseOptions)
    def browse(self, **options: Unpack[BrowseOptions]) -> pd.DataFrame:
        """Return memories without a question: core, note, mcp, file, history, the newest first within each."""
        return frame_of(self.searching.browsed(**options))

    @keywords(SearchOptions)
    def explore(self, query: str, **options: Unpack[SearchOptions]) -> MemoryExplorer:
        """Search once and return the result with a slider for every weight of the profile."""
        from jupyter_memory.dataframe import accessor
        from jupyter_memory.dataframe.explorer import MemoryExplorer

        accessor.open_store = _store_of
        profile = options.get("profile")
        return MemoryExplorer(self.searching.pooled(query, **options), profile if isinstance(profile, str) else "")

    browsed = delegated("searching", Searching.browsed)
    trace = delegated("searching", Searching.trace)
    pooled = delegated("searching", Searching.pooled)
    explain = delegated("searching", Searching.explain)
    explain_in = delegated("searching", Searching.explain_in)
    related = delegated("searching", Searching.related)
    related_to = delegated("searching", Searching.related_to)
    listed = delegated("searching", Searching.listed)
    context = delegated("searching", Searching.context)

    add = delegated("memories", Memories.add)
    add_many = delegated("memories", Memories.add_many)
    get: Get = delegated("memories", Memories.get)  # type: ignore[arg-type,assignment]  # it would keep one overload of two
    among = delegated("memories", Memories.among)
    thumbnail = delegated("memories", Memories.thumbnail)
    runnable = delegated("runnables", Runnables.runnable)
    update = delegated("memories", Memories.update)
    pin = delegated("memories", Memories.pin)
    unpin = delegated("memories", Memories.unpin)
    selection = delegated("forgetting", Forgetting.selection)
    forget = delegated("forgetting", Forgetting.forget)
    undoable = delegated("forgetting", Forgetting.undoable)

    index = delegated("sources", Sources.index)
    folders = delegated("sources", Sources.folders)
    described_folders = delegated("sources", Sources.described_folders)
    describe_folder = delegated("sources", Sources.describe_folder)
    watch = delegated("sources", Sources.watch)
    remove_folder = delegated("sources", Sources.remove_folder)
    forget_gone = delegated("sources", Sources.forget_gone)
    stale = delegated("sources", Sources.stale)
    rename = delegated("sources", Sources.rename)

    note_search = delegated("activity", Activity.note_search)
    note_call = delegated("activity", Activity.note_call)
    note_access = delegated("activity", Activity.note_access)
    recent = delegated("activity", Activity.recent)
    forget_recent = delegated("activity", Activity.forget_recent)
    feedback = delegated("activity", Activity.feedback)
    feedbacks = delegated("activity", Activity.feedbacks)

    stats = delegated("maintenance", Maintenance.stats)
    count = delegated("maintenance", Maintenance.count)
    known = delegated("maintenance", Maintenance.known)
    tags = delegated("maintenance", Maintenance.tags)
    doctor = delegated("maintenance", Maintenance.doctor)
    reembed = delegated("maintenance", Maintenance.reembed)
    drop_vectors = delegated("maintenance", Maintenance.drop_vectors)
    rebuild = delegated("maintenance", Maintenance.rebuild)
    model_offer = delegated("_model", ModelChoice.offer)
    backup = delegated("maintenance", Maintenance.backup)
    export = delegated("transfer", StoreTransfer.export)
    import_ = delegated("transfer", StoreTransfer.import_)
    copy_to = delegated("transfer", StoreTransfer.copy_to)
    restore = staticmethod(Maintenance.restore)
    interrupt = delegated("_storage", Storage.interrupt)

    def give(
        self,
        ids: str | Sequence[str] | Selection,
        to: MemoryStore,
        *,
        move: bool = False,
        history: bool = False,
        update: bool = False,
        progress: bool = True,
    ) -> CopyReport:
        """Copy memories into another store, as ``import_`` does, with secrets redacted; return a report.

        With ``move``, what arrived whole is then forgotten here, and ``undo`` brings it back. What you ran comes along
        only with ``history``. A memory whose id is known there is replaced only with ``update``. After an
        interruption, the same call continues.
        """
        if not isinstance(to, MemoryStore):
            raise InputError(f"give() takes an open store, such as MemoryStore(path), not {type(to).__name__}.")
        if ids is None:
            raise InputError("give() needs to know what: ids, or a selection, such as selection(filters=…).")
        chosen, begun = (ids if isinstance(ids, Selection) else self.selection(ids)).ids, datetime.now(UTC)
        self.transfer.check_leaving(chosen, to.transfer, history=history, move=move)
        report, became, plain = self.transfer.give(
            chosen, to.transfer, history=history, update=update, progress=progress
        )
        if not move:
            return report
        whole = set(self.transfer.held_by(to.transfer, list(became), plain))
        whole |= {one for one in became if became[one] == "merged"}
        new = [one for one in became if became[one] == "added"]
        removed = self.forgetting.moved(sorted(whole), begun, str(to.path), new) if whole else 0
        return replace(report, removed=removed, stayed=len(became) - removed)

    def undo(self) -> int:
        """Bring back what the last ``forget`` or move removed, with all that belonged to it; return how many memories.

        What was remembered again meanwhile stays one memory. The other store of a move forgets what it got, unless that
        was changed since. Raises ``InputError`` if there is nothing to take back.
        """
        last, back = self.undoable(), self.forgetting.undo()
        if last is not None and last.moved:
            to, *new = last.moved
            try:
                there = _store_of(to)
                if unchanged := self.transfer.held_by(there.transfer, new):
                    there.forget(unchanged, now=not there.forgetting.can_undo)
            except JupyterMemoryError as error:
                raise StoreError(f"{back:,} came back, and what was moved to {to} is still there: {error}") from None
        return back

    def part(self, filters: Filters) -> Searching:
        """Return the searches of what matches the filters, as if there were nothing else."""
        return self.searching.within(PartOfStore(self._storage, self.memories.bound(filters)))

    def close(self) -> None:
        """Close the store; closing it again does nothing."""
        self.closed = True
        if self._stores is not None:
            self._stores.close()
        self.searching.close()
        self.forgetting.close()
        self._storage.close()


_ALIVE: WeakValueDictionary[StorePath, MemoryStore] = WeakValueDictionary()
_OPENED: dict[StorePath, MemoryStore] = {}


def open_store(path: str | Path | None = None, *, settings: JupyterMemory | None = None) -> MemoryStore:
    """Return the user's store, or the one at ``path`` (a file or a URL), with the settings of Jupyter's config path.

    Within a process the same path gives the same object, until it is closed, its file replaced or ``settings`` given.
    """
    chosen = settings if settings is not None else load_config()
    where = store_at(path if path is not None else store_path(chosen))
    known = _OPENED.get(where) if settings is None else None
    if known is not None and known.replaced:
        known.close()
    if known is None or known.closed:
        known = MemoryStore(where, chosen.embedder, chosen.profile, chosen.space or None, settings=chosen)
        if settings is None:
            _OPENED[where] = known
    return known


def opened(listed: ListedStore, settings: JupyterMemory, folder: str | None = None) -> MemoryStore:
    """Open a store of the list; by its own model, whatever the settings choose for yours."""
    if (path := listed.place) is None or not may_exist(path):
        make = "jupyter-memory --store PATH index FOLDER"
        raise NoStore(f"There is no store at {path}. Check the path, or make one: {make}")
    if isinstance(path, Path) and (path.is_dir() or not path.stat().st_size):
        raise NoStore(f"{path} is {'a folder' if path.is_dir() else 'empty'}, so it is no store. Check the path.")
    space = settings.space or None
    return MemoryStore(path, space=space, settings=settings, folder=folder, read_only=listed.read_only)


def _store_of(path: str) -> MemoryStore:
    known = _ALIVE.get(where := store_at(path))
    if known is not None and not (known.closed or known.replaced):
        return known
    if not may_exist(where):
        raise InputError(f"The store of this result, {path}, is not there any more.")
    chosen = load_config()
    for one in listed_stores(chosen.stores) if where != store_at(store_path(chosen)) else ():
        # Read only or trusted as the list has it, whatever is at that place by now.
        if where == (project_store() if one.name == PROJECT else one.place):
            return opened(one._replace(place=trusted_project()) if one.name == PROJECT else one, chosen)
    return open_store(path)


def frame_of(answer: Answer, mode: Literal["full", "scan"] = "full") -> pd.DataFrame:
    """Return the hits of an answer as a DataFrame whose accessor knows this process's open stores."""
    from jupyter_memory.dataframe import accessor
    from jupyter_memory.dataframe.frame import to_frame, to_scan_frame

    accessor.open_store = _store_of
    return to_frame(answer) if mode == "full" else to_scan_frame(answer)
