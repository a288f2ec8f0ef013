"""MemoryStore: the one door to a store of memories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, Unpack
from weakref import WeakValueDictionary

from jupyter_memory.config import JupyterMemory, load_config, models_folder, store_path
from jupyter_memory.embedders import check_name
from jupyter_memory.embedders.runtime.lifecycle import computing
from jupyter_memory.errors import InputError, QueryError
from jupyter_memory.protocols import Embedder
from jupyter_memory.search.engine import SearchEngine
from jupyter_memory.search.profiles import Profile, profile_named
from jupyter_memory.search.query_vectors import QueryVectors
from jupyter_memory.search.reweighting import Pooled
from jupyter_memory.storage.library import Library
from jupyter_memory.storage.snapshot import SqliteStorage
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.storage.vectors import VectorIndex
from jupyter_memory.store.activity import Logbook
from jupyter_memory.store.asking import Asked, Asking, Listing, keywords
from jupyter_memory.store.maintenance import Upkeep
from jupyter_memory.store.memories import Remembering
from jupyter_memory.store.model import StoreModel
from jupyter_memory.store.sources import Folders
from jupyter_memory.text.paths import absolute
from jupyter_memory.types import Answer, Explanation
from jupyter_memory.types.answer import Trace

if TYPE_CHECKING:
    import pandas as pd


class MemoryStore(Remembering, Upkeep, Folders, Logbook):
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
    folder : str or Path, optional
        Where relative paths in a query begin (``path:notes/``); the working folder if left out.

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
        folder: str | Path | None = None,
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
        questions = QueryVectors(self._database, self._settings)
        self._storage = SqliteStorage(self._database, self._vectors)
        self._searcher = SearchEngine(self._storage, questions.vector)
        where = "" if folder is None else str(absolute(folder))
        self._asking = Asking(self._searcher, self._model, questions, self._settings, self._profile, self.space, where)
        self._closed = False
        _ALIVE[self.path] = self

    def __repr__(self) -> str:
        return f"MemoryStore({str(self.path)!r}{', closed' if self._closed else ''})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def replaced(self) -> bool:
        """Return whether its file was moved, removed or replaced after it was opened: nothing more is written to it."""
        return self._database.replaced

    @property
    def closed(self) -> bool:
        """Return whether the store was closed."""
        return self._closed

    @property
    def profile(self) -> Profile:
        """Return how hits are ranked unless a search names another profile."""
        return self._profile

    @keywords(Asked)
    def search(self, query: str, *, mode: Literal["full", "scan"] = "full", **asked: Unpack[Asked]) -> pd.DataFrame:
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
        return frame_of(self.hits(query, **asked), mode)

    @keywords(Asked)
    def hits(self, query: str, *, prefix: bool = False, time: bool = True, **asked: Unpack[Asked]) -> Answer:
        """Return the best memories for a query as ``Hit`` values; see ``search`` for the parameters.

        With ``prefix`` the last word may be unfinished, for a search while typing, unless white space follows it.
        With ``time=False`` words such as "last week" are only words.
        """
        return self._asking.answer(query, asked, prefix=prefix, time=time)

    @keywords(Asked)
    def trace(self, query: str, *, prefix: bool = False, time: bool = True, **asked: Unpack[Asked]) -> Trace:
        """Return what ``hits`` does, with every list that the search made: by words, by meaning, and both fused.

        ``trace.without`` tells for each hit which rank it would have without the points of each term.
        """
        return self._asking.trace(query, asked, prefix=prefix, time=time)

    @keywords(Asked)
    def pooled(self, query: str, **asked: Unpack[Asked]) -> Pooled:
        """Return an answer with the whole pool that it was chosen from, so that other weights need no other search.

        The keywords are those of ``hits``; ``pooled.weighed(profile)`` is the answer by other weights.
        """
        return self._asking.pooled(query, asked)

    @keywords(Asked)
    def explain(
        self, query: str, memory_id: str, *, prefix: bool = False, time: bool = True, **asked: Unpack[Asked]
    ) -> Explanation:
        """Say why a memory is where it is for a query, or why it is not in the answer.

        The keywords are those of ``hits``. Raises ``UnknownMemory`` when no memory has this id.
        """
        return self._asking.explanation(query, memory_id, asked, prefix=prefix, time=time)

    @keywords(Asked)
    def related(self, memory_id: str, **asked: Unpack[Asked]) -> Answer:
        """Return the memories that are most like one, by its telling words and its meaning; it is not among them.

        The keywords are those of ``hits``. No model is asked: the memory's own vectors are compared. The answer has no
        verdict, since nobody asked a question. Raises ``UnknownMemory`` when no memory has this id.
        """
        return self._asking.related(memory_id, asked)

    def explain_in(self, answer: Answer, memory_id: str) -> Explanation:
        """Say why a memory is where it is in an answer given before, with that answer's query, time and filters."""
        self.get(memory_id)  # it may have been forgotten since
        return self._asking.explanation_in(answer, memory_id)

    @keywords(Listing)
    def browse(self, **listed: Unpack[Listing]) -> pd.DataFrame:
        """Return memories without a question: core, note, mcp, file, the newest first within each."""
        return frame_of(self.browsed(**listed))

    @keywords(Listing)
    def browsed(self, **listed: Unpack[Listing]) -> Answer:
        """Return what ``browse`` shows as ``Hit`` values without scores."""
        return self._asking.browsed(listed)

    def interrupt(self, thread_id: int) -> bool:
        """Stop the search that a thread (``threading.get_ident()``) makes in this store; it raises ``Interrupted``.

        Returns whether it was reading. If not, nothing happens: it writes, computes a question's vector, or is done,
        and what it does next is not stopped. Whoever hands a thread one search after the other must see to it that
        the right one is meant.
        """
        return self._database.interrupts.stop(thread_id)

    def close(self) -> None:
        """Close the store; closing it again does nothing."""
        self._closed = True
        self._searcher.close()
        self._storage.close()
        self._database.close()


_ALIVE: WeakValueDictionary[Path, MemoryStore] = WeakValueDictionary()
_OPENED: dict[Path, MemoryStore] = {}


def open_store(path: str | Path | None = None, *, settings: JupyterMemory | None = None) -> MemoryStore:
    """Return the user's store, or the one at ``path``, with the settings of Jupyter's config path.

    Within a process the same path gives the same object until it is closed or its file is another; ``settings`` of your
    own give a new one.
    """
    chosen = settings if settings is not None else load_config()
    where = absolute(path if path is not None else store_path(chosen))
    known = _OPENED.get(where) if settings is None else None
    if known is not None and known.replaced:
        known.close()
    if known is None or known.closed:
        known = MemoryStore(where, chosen.embedder, chosen.profile, chosen.space or None, settings=chosen)
        if settings is None:
            _OPENED[where] = known
    return known


def _store_of(path: str) -> MemoryStore:
    """Return an open store of a path, for the accessor of a DataFrame that came from it."""
    known = _ALIVE.get(Path(path))
    if known is not None and not (known.closed or known.replaced):
        return known
    if not Path(path).exists():
        raise InputError(f"The store of this result, {path}, is not there any more.")
    return open_store(path)


def frame_of(answer: Answer, mode: Literal["full", "scan"] = "full") -> pd.DataFrame:
    """Return the hits of an answer as a DataFrame whose accessor knows this process's open stores."""
    # Imported late: pandas takes longer to load than a search.
    from jupyter_memory.dataframe.accessor import register_store
    from jupyter_memory.dataframe.frame import to_frame, to_scan_frame

    register_store(_store_of)
    return to_frame(answer) if mode == "full" else to_scan_frame(answer)


# A store of memories, and the user's own store opened by its name.

__all__ = ["MemoryStore", "frame_of", "open_store"]
