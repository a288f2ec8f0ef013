"""MemoryStore: the one door to a store of memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self
from weakref import WeakValueDictionary

from jupyter_memory import records
from jupyter_memory.asking import Asking, Moment
from jupyter_memory.config import JupyterMemory, load_config, models_folder, store_path
from jupyter_memory.embedders import check_name
from jupyter_memory.embedders.resident import computing
from jupyter_memory.errors import InputError, QueryError
from jupyter_memory.filing import Filing
from jupyter_memory.ingest.indexer import index
from jupyter_memory.model import StoreModel
from jupyter_memory.paths import absolute
from jupyter_memory.prepare import prepare
from jupyter_memory.progress import batches, shown
from jupyter_memory.protocols import Embedder
from jupyter_memory.questions import Questions
from jupyter_memory.ranking.profiles import Profile, profile_named
from jupyter_memory.reembed import drop, reembed
from jupyter_memory.revising import revise
from jupyter_memory.searching import Searcher
from jupyter_memory.selection import filters_from
from jupyter_memory.storage import backup, census, rows
from jupyter_memory.storage.library import Library
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.storage.vectors import VectorIndex
from jupyter_memory.types import Answer, Draft, Explanation, Filters, IndexReport, Memory, as_tuple

if TYPE_CHECKING:
    import pandas as pd


class MemoryStore:
    """A store of memories in one SQLite file.

    Parameters
    ----------
    path : str or Path
        The file; it and its folder are made, readable by you alone, if they are not there.
    embedder : str, Embedder or None, default "auto"
        What turns text into vectors. ``"auto"`` is the model that the store was written with, in a new store
        nomic if it is on this machine, else the bundled static model; None searches by words alone.
    profile : str or Profile, default "auto"
        How hits are ranked unless a search names another profile.
    space : str, optional
        What is added goes into this space, and searches see this space only.
    settings : JupyterMemory, optional
        The other settings; those of Jupyter's config path when left out.

    Raises
    ------
    StoreDamaged, StoreTooNew, StoreReadOnly
        The file is no store, of a newer major version, or cannot be made.

    Examples
    --------
    >>> import tempfile
    >>> store = MemoryStore(tempfile.mkdtemp() + "/memory.sqlite")
    >>> memory = store.add("We scaled the prices to zero mean.", title="Prices", tags=["decision"])
    >>> store.search("how were prices normalised")["title"].tolist()
    ['Prices']
    >>> store.close()
    """

    def __init__(
        self,
        path: str | Path,
        embedder: str | Embedder | None = "auto",
        profile: str | Profile = "auto",
        space: str | None = None,
        *,
        settings: JupyterMemory | None = None,
    ) -> None:
        self._settings = settings if settings is not None else load_config()
        # A name that is misspelt is said now, before a file is made.
        self._profile = profile_named(profile)
        if isinstance(embedder, str):
            check_name(embedder)
        self.path = absolute(path)
        self.space = space or ""
        computing.release_after(self._settings.idle_minutes)
        self._database = Database(self.path, busy_seconds=self._settings.busy_seconds)
        self._vectors = VectorIndex()
        models = models_folder(self._settings)
        self._model = StoreModel(self._database, self._vectors, embedder, self._settings.dimensions, models)
        self._library = Library(self._database, self._vectors)
        questions = Questions(self._database, self._settings)
        searcher = Searcher(self._database, self._vectors, questions.vector)
        self._asking = Asking(searcher, self._model, questions, self._settings, self._profile, self.space)
        self._closed = False
        _ALIVE[self.path] = self

    def __repr__(self) -> str:
        return f"MemoryStore({str(self.path)!r}{', closed' if self._closed else ''})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """Return whether the store was closed."""
        return self._closed

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what the store has to say about itself: read-only, no write-ahead log, brought to a new version."""
        return tuple(dict.fromkeys(self._database.notices))

    @property
    def greeting(self) -> str:
        """Return which model a store that was just made chose for itself, empty for a store that was there before."""
        return self._model.choice() if self._database.created else ""

    @property
    def profile(self) -> Profile:
        """Return how hits are ranked unless a search names another profile."""
        return self._profile

    # -- remembering --------------------------------------------------------------------------------------------------

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

        Content that is known already (same title, text, kind, source and space) is not stored twice: the stored memory
        comes back, with the new tags and metadata merged into it. Secrets such as passwords and tokens are replaced by
        a mark before anything is written.

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
            The text is empty, or a value is not one of those known.
        """
        record = {name: value for name, value in locals().items() if name not in ("self", "text")}
        return self.add_many([{"text": text, **record}], progress=False)[0]

    def add_many(self, records: Iterable[Mapping[str, Any]], progress: bool = True) -> list[Memory]:
        """Remember many texts: dicts with the keys that ``add`` takes.

        They are written in batches; should one record be wrong, nothing of its batch is stored.
        """
        self._model.for_writing()  # a model that does not fit is said before anything is read
        added: list[Memory] = []
        for batch in batches(shown(records, progress, "Remembering"), 512):
            drafts = [self._draft(record) for record in batch]
            merged = self._library.merge(drafts)
            fresh = [draft for draft, memory in zip(drafts, merged, strict=True) if memory is None]
            written = iter(self._model.writing(partial(self._remember, fresh)) if fresh else ())
            added += [memory if memory is not None else next(written) for memory in merged]
        return added

    def index(self, path: str | Path, *, progress: bool = True) -> IndexReport:
        """Index a file or a folder: notebooks by cell, Markdown, text, reStructuredText and Python files.

        Unchanged files are skipped, changed ones replaced, deleted ones forgotten; what ``.gitignore`` and the
        settings name is left out. It can be interrupted at any time, and goes on from there the next time.

        Returns
        -------
        IndexReport
            Counts, and each file that was skipped or failed with the reason.

        Raises
        ------
        InputError
            There is nothing at ``path``, or it is a file of an unknown kind.
        """
        self._model.for_writing()  # a model that does not fit is said before anything is read
        filing = Filing(self._library, self._model, self.space)
        try:
            return index(
                Path(path),
                filing,
                ignore=self._settings.ignore,
                max_bytes=int(self._settings.max_file_mb * 1_000_000),
                redacting=self._settings.redact,
                progress=(lambda paths: shown(paths, True, "Indexing")) if progress else None,
            )
        finally:
            self._library.tidy()

    # -- finding ------------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        profile: str | Profile | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        since: Moment = None,
        until: Moment = None,
        now: Moment = None,
        tags: str | Sequence[str] = (),
        domain: str | None = None,
        mode: Literal["full", "scan"] = "full",
    ) -> pd.DataFrame:
        """Return the best memories for a query as a DataFrame, one row each, with where every point came from.

        Parameters
        ----------
        query : str
            A question or words; ``"quoted words"`` are looked for as a phrase.
        limit : int, optional
            How many hits; the setting of that name, 10 unless changed, if left out.
        profile : str or Profile, optional
            How hits are ranked; the store's if left out.
        filters : Filters or mapping, optional
            What a memory must be: ``tag, kind, path, lang, tier, space, session, since, until``; each a value or
            several, any of them enough.
        since, until : str, date or datetime, optional
            Bounds of the event time, such as ``"2026-03-01"`` or ``"last week"``; a day given as ``until`` is included.
        now : str, date or datetime, optional
            The moment that ages are counted from.
        tags : sequence of str, domain : str
            Evidence for profiles that read it; nothing is left out for it.
        mode : {"full", "scan"}
            ``"scan"`` gives few columns, with an estimate of the tokens that each text costs.

        Returns
        -------
        DataFrame
            Indexed by rank; ``df.memory`` explains it.

        Raises
        ------
        QueryError
            The query is empty, or a filter cannot be read.
        """
        if mode not in ("full", "scan"):
            raise QueryError(f"mode is 'full' or 'scan', not {mode!r}.")
        answer = self.hits(
            query,
            limit=limit,
            profile=profile,
            filters=filters,
            since=since,
            until=until,
            now=now,
            tags=tags,
            domain=domain,
        )
        return frame_of(answer, mode)

    def hits(
        self,
        query: str,
        *,
        limit: int | None = None,
        profile: str | Profile | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        since: Moment = None,
        until: Moment = None,
        now: Moment = None,
        tags: str | Sequence[str] = (),
        domain: str | None = None,
        prefix: bool = False,
    ) -> Answer:
        """Return the best memories for a query as ``Hit`` values; see ``search`` for the parameters.

        With ``prefix`` the last word may be unfinished, for a search while typing, unless white space follows it.
        """
        return self._asking.answer(
            query,
            profile,
            limit=limit,
            filters=filters,
            since=since,
            until=until,
            now=now,
            tags=tags,
            domain=domain,
            prefix=prefix,
        )

    def explain(
        self, query: str, memory_id: str, *, profile: str | Profile | None = None, **options: Any
    ) -> Explanation:
        """Say why a memory is where it is for a query, or why it is not in the answer.

        ``options`` are those of ``hits``. Raises ``UnknownMemory`` when no memory has this id.
        """
        return self._asking.explanation(query, memory_id, profile, **options)

    def explain_in(self, answer: Answer, memory_id: str) -> Explanation:
        """Say why a memory is where it is in an answer given before, with that answer's query, time and filters."""
        self.get(memory_id)  # it may have been forgotten since
        return self._asking.explanation_in(answer, memory_id)

    def browse(
        self,
        *,
        limit: int | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        since: Moment = None,
        until: Moment = None,
    ) -> pd.DataFrame:
        """Return memories without a question: core, note, mcp, file, the newest first within each."""
        return frame_of(self.browsed(limit=limit, filters=filters, since=since, until=until))

    def browsed(
        self,
        *,
        limit: int | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        since: Moment = None,
        until: Moment = None,
    ) -> Answer:
        """Return what ``browse`` shows as ``Hit`` values without scores."""
        return self._asking.browsed(limit, filters, since, until)

    # -- single memories ----------------------------------------------------------------------------------------------

    def get(self, memory_id: str) -> Memory:
        """Return a memory by its id; raises ``UnknownMemory`` when there is none."""
        with self._database.read() as connection:
            key = rows.known_key(connection, memory_id)
            return rows.load(connection, [key])[key]

    def update(self, memory_id: str, **changes: Any) -> Memory:
        """Change a memory and return it: any of the keywords of ``add`` but ``kind`` and ``source``.

        Tags and metadata are replaced, not merged. None takes a value away, but for text, tier and event_at, which
        every memory has: there it changes nothing. A pin stays until ``unpin``, whatever the tier.

        Raises
        ------
        InputError
            Another memory says the same already, or a value cannot be stored.
        UnknownMemory
            No memory has this id.
        """
        return revise(self._library, self._model, self.get(memory_id), changes, self._draft)

    def pin(self, memory_id: str) -> Memory:
        """Mark a memory as permanently important: while it is pinned, its tier is core."""
        return self._library.update(memory_id, None, {"pinned": 1}, None)

    def unpin(self, memory_id: str) -> Memory:
        """Take the pin off a memory; it has the tier again that it was stored with."""
        return self._library.update(memory_id, None, {"pinned": 0}, None)

    def forget(
        self,
        ids: str | Sequence[str] | None = None,
        *,
        source: str | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        everything: bool = False,
    ) -> int:
        """Remove memories for good, from every table, index and log of the file; return how many went.

        Parameters
        ----------
        ids : str or sequence of str, optional
        source : str, optional
            A file, or a folder with all below it.
        filters : Filters or mapping, optional
            As in ``search``. With ``source``, both must fit.
        everything : bool, default False
            All memories of the store (of its space, if it has one).

        Raises
        ------
        InputError
            Nothing says what to forget.
        UnknownMemory
            One of the ids is not there; nothing is forgotten then.
        """
        # Filters without a value leave nothing out, and an empty source is above every file.
        chosen = filters_from(filters, None, None, datetime.now(UTC))
        if ids is None and not source and not chosen and not everything:
            raise InputError("forget() needs to know what: ids, source=, filters=, or everything=True.")
        if ids is not None and (source is not None or filters or everything):
            raise InputError("forget() takes ids, or a choice by source and filters, not both.")
        if ids is not None:
            return self._library.forget(as_tuple(ids) if isinstance(ids, Iterable) else (str(ids),))
        chosen = self._asking.filters(chosen, None, None, datetime.now(UTC))
        if source:
            if chosen.path:
                raise InputError("forget() takes one path: source= or a path among the filters, not both.")
            chosen = replace(chosen, path=filters_from({"path": source}, None, None, datetime.now(UTC)).path)
        return self._library.forget(chosen)

    # -- the store itself ---------------------------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """Return what the store holds: counts by kind, tier and space, models, files, bytes on disk."""
        return census.stats(self._database, self._vectors)

    def count(self) -> int:
        """Return how many memories a search can see: those of the store, or of its space if it has one."""
        return census.count(self._database, self._asking.filters(None, None, None, datetime.now(UTC)))

    def tags(self) -> list[str]:
        """Return every tag, the most used first."""
        return census.tags(self._database)

    def doctor(self) -> list[str]:
        """Check the store and return what is wrong, each with what to do; empty when all is well."""
        _, notices = self._model.for_searching()
        return [*census.problems(self._database, self._vectors), *notices, *self.notices]

    def reembed(self, embedder: str | Embedder | None = None, *, progress: bool = True, keep: bool = True) -> int:
        """Write a model's vectors for every chunk that lacks them, then search with that model.

        Searches, here and in other programs, go on with the old vectors meanwhile and change over at the end, all at
        once. Interrupted, it goes on from there the next time.

        Parameters
        ----------
        embedder : str or Embedder, optional
            The model to change to; if left out the store's own, for chunks that were stored without a model.
        keep : bool, default True
            Keep the other models' vectors, so that changing back is a matter of a moment; ``drop_vectors`` removes them
            later.

        Returns
        -------
        int
            How many vectors were written.

        Raises
        ------
        EmbedderError
            The model is unknown, or does not run here; the old one stays in use.
        InputError
            The store was opened with ``embedder=None``, and none is given.
        """
        chosen = self._model.embedder() if embedder is None else self._model.opened(embedder)
        if chosen is None:
            raise InputError("This store was opened with embedder=None. Open it with a model to write vectors.")
        written = reembed(self._database, self._vectors, chosen, progress=progress, keep=keep)
        self._model.adopt(chosen)
        return written

    def drop_vectors(self, name: str | None = None) -> int:
        """Remove the vectors of models that are not in use, those of one name if given; return how many went.

        Raises
        ------
        InputError
            The store has no vectors of that name, or searches with them.
        """
        return drop(self._database, self._vectors, name)

    def rebuild(self) -> None:
        """Build the keyword index anew from the memories, and write the file anew without traces of what is gone."""
        self._library.rebuild()

    def backup(self, path: str | Path) -> Path:
        """Copy the store as it is at this moment into a new file, and return its path."""
        target = absolute(path)
        backup.backup(self._database, target)
        return target

    @staticmethod
    def restore(path: str | Path, to: str | Path | None = None, overwrite: bool = False) -> Path:
        """Make a store out of a backup at ``to`` (your default store if left out), and return its path.

        Raises
        ------
        StoreOpen
            The store at ``to`` is open, here or in another program.
        InputError
            There is no backup at ``path``, or a store at ``to`` and ``overwrite`` is False.
        """
        target = absolute(to) if to is not None else store_path(load_config()).absolute()
        backup.restore(Path(path), target, overwrite=overwrite)
        return target

    def close(self) -> None:
        """Close the store; closing it again does nothing."""
        self._closed = True
        self._database.close()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _remember(self, drafts: Sequence[Draft], embedder: Embedder | None) -> list[Memory]:
        return self._library.add(prepare(drafts, embedder), embedder)

    def _draft(self, record: Mapping[str, Any]) -> Draft:
        if not isinstance(record, Mapping):
            raise InputError(
                f"A record is a dict such as {{'text': 'prices are net of tax'}}, not {type(record).__name__}. "
                "Those of a DataFrame are df.to_dict('records')."
            )
        return records.draft_from(record, space=self.space, redacting=self._settings.redact)


_ALIVE: WeakValueDictionary[Path, MemoryStore] = WeakValueDictionary()
_OPENED: dict[Path, MemoryStore] = {}


def open_store(path: str | Path | None = None, *, settings: JupyterMemory | None = None) -> MemoryStore:
    """Return the user's store, or the one at ``path``, with the settings of Jupyter's config path.

    Within a process the same path gives the same object until it is closed; ``settings`` of your own give a new one.
    """
    chosen = settings if settings is not None else load_config()
    where = absolute(path if path is not None else store_path(chosen))
    known = _OPENED.get(where) if settings is None else None
    if known is None or known.closed:
        known = MemoryStore(where, chosen.embedder, chosen.profile, chosen.space or None, settings=chosen)
        if settings is None:
            _OPENED[where] = known
    return known


def _store_of(path: str) -> MemoryStore:
    """Return an open store of a path, for the accessor of a DataFrame that came from it."""
    known = _ALIVE.get(Path(path))
    if known is not None and not known.closed:
        return known
    if not Path(path).exists():
        raise InputError(f"The store of this result, {path}, is not there any more.")
    return open_store(path)


def frame_of(answer: Answer, mode: Literal["full", "scan"] = "full") -> pd.DataFrame:
    """Return the hits of an answer as a DataFrame whose accessor knows this process's open stores."""
    # Imported late: pandas takes longer to load than a search.
    from jupyter_memory.frame import register_store, to_frame, to_scan_frame

    register_store(_store_of)
    return to_frame(answer) if mode == "full" else to_scan_frame(answer)
