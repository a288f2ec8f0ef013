"""What a process keeps while it runs: its open store, and the folders that it watches."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Self

from jupyter_memory.config import JupyterMemory, companion, store_path
from jupyter_memory.errors import InputError, JupyterMemoryError, NoStore, StoreClosed
from jupyter_memory.text.paths import StorePath, called_before, make_private, may_exist, store_at

if TYPE_CHECKING:
    from jupyter_memory.store.store import MemoryStore

# Seconds that a server which stops waits for a store that is being opened: its disk may not answer.
_PATIENCE = 2.0


class StoreProvider:
    """The store that the settings name; every method may block. Relative paths in its queries begin at ``folder``."""

    def __init__(self, settings: JupyterMemory, folder: str | None = None) -> None:
        self.settings = settings
        self._folder = folder
        self._lock = Lock()
        self._store: MemoryStore | None = None
        self.closed = False

    @property
    def path(self) -> StorePath:
        return store_at(store_path(self.settings))

    @property
    def exists(self) -> bool:
        return may_exist(self.path)

    def store(self, *, create: bool = False) -> MemoryStore:
        """Return the open store; with ``create`` it is created if it does not exist."""
        with self._lock:
            if self._store is not None and (self._store.closed or self._store.replaced):
                self._store.close()
                self._store = None
            if self._store is None and not self.closed:
                if not create and not self.exists:
                    raise NoStore(f"There is no store at {self.path} yet. Index a folder or add a note to make it.")
                from jupyter_memory.store.store import MemoryStore

                chosen, space, at = self.settings, self.settings.space or None, self._folder
                self._store = MemoryStore(self.path, chosen.embedder, chosen.profile, space, settings=chosen, folder=at)
            store = self._store
        if store is None or self.closed:
            if store is not None:
                store.close()
            raise StoreClosed("The store was closed for good.")
        return store

    def interrupt(self, thread: int) -> None:
        # Without the lock: the loop of the server must not wait for a store that is being opened.
        store = self._store
        if store is not None:
            store.interrupt(thread)

    def close(self) -> None:
        """Close the store, for good; one that is being opened is closed as soon as it is open."""
        self.closed = True
        if self._lock.acquire(timeout=_PATIENCE):
            try:
                if self._store is not None:
                    self._store.close()
            finally:
                self._lock.release()


# Changed paths of a folder from which on the folder is looked through at once, as after a checkout.
_MANY = 50


@dataclass(frozen=True, slots=True)
class Change:
    """A file or folder to look at: it was written, is gone, or has moved here from ``old``."""

    path: Path
    old: Path | None = None


def apply_changes(
    store: MemoryStore, changes: Sequence[Change], problem: Callable[[Exception], object], ignore: Sequence[str] = ()
) -> int:
    """Update a store after changes, with errors of single files to ``problem``; return how many made a difference."""
    made = 0
    # Lab names files by the folder that a link leads to; they may be known by the name of the link.
    names = [folder.path for folder in store.folders()]
    changes = [
        Change(called_before(one.path, names), None if one.old is None else called_before(one.old, names))
        for one in changes
    ]
    for change in changes:
        if change.old is not None:
            made += _try(partial(store.rename, change.old, change.path), problem)
    # After the renaming: a folder that is watched may have moved itself.
    watched = [Path(folder.path) for folder in store.folders() if folder.watched]
    touched: dict[Path, Path] = {}
    for path in (change.path for change in changes):
        above = next((folder for folder in watched if path.is_relative_to(folder)), None)
        below = {folder: folder for folder in watched if folder.is_relative_to(path)}
        touched |= below if above is None else {path: above}
    # Where very many of a folder changed, the folder takes their place.
    counts = Counter(touched.values())
    places = {folder if counts[folder] > _MANY else path: folder for path, folder in touched.items()}
    # What is there first: a file that was renamed is found under its new name before the old one is forgotten.
    for path, folder in sorted(places.items(), key=lambda place: not os.path.lexists(place[0])):
        made += _try(partial(_look_at, store, path, folder, ignore), problem)
    return made


def _look_at(store: MemoryStore, path: Path, folder: Path, ignore: Sequence[str]) -> int:
    if not path.exists():
        # Saved a moment ago it may be gone already, or have another name.
        return store.forget_gone(path)
    from jupyter_memory.ingest.discovery import is_wanted

    # A store in a folder that is watched changes whenever a change is noted.
    is_store = isinstance(store.path, Path) and path.samefile(store.path)
    if is_store or not is_wanted(path, folder, ignore=ignore):
        return 0
    report = store.index(path, progress=False)
    return report.files + report.forgotten + report.moved


def _try(step: Callable[[], int], problem: Callable[[Exception], object]) -> int:
    try:
        return min(step(), 1)
    except (JupyterMemoryError, OSError) as error:
        problem(error)
        return 0


# One process at a time follows the folders of a store: it holds a lock beside the store, which the system releases when
# the process ends. Other processes wait for the lock.

# Milliseconds of quiet after which changes are applied, and after which they are applied in any case.
_QUIET, _LONGEST = 200, 2_000
# Seconds after which the list of watched folders, or the lock, is looked at again.
_AGAIN = 5.0


@dataclass(eq=False)
class FolderWatch:
    """Follows the watched folders of a store for which ``admits`` is true.

    ``applied`` is called with how many changes made a difference; it ``waits`` while another process follows them;
    ``error`` is what ended its thread.
    """

    store: Callable[[], MemoryStore]
    ignore: Sequence[str] = ()
    admits: Callable[[str], bool] = lambda path: True
    applied: Callable[[int], object] = lambda made: None
    say: Callable[[str], object] = lambda text: None
    problem: Callable[[Exception], object] = lambda error: None
    waits: bool = field(default=False, init=False)
    error: Exception | None = field(default=None, init=False)
    _stop: Event = field(default_factory=Event, init=False)
    _thread: Thread | None = field(default=None, init=False)

    @property
    def runs(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> Self:
        """Follow the folders in a thread, until it is closed or the process ends."""

        def run() -> None:
            try:
                self.run()
            except (JupyterMemoryError, OSError) as error:
                self.error = error

        self._thread = Thread(target=run, name="jupyter-memory watch", daemon=True)
        self._thread.start()
        return self

    def close(self, patience: float = 2.0) -> None:
        """End the thread; wait for it up to so many seconds."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(patience)

    def run(self) -> None:
        """Follow the folders in this thread until it is closed; raise ``InputError`` if they are too many."""
        from filelock import FileLock, Timeout

        while not self._stop.is_set():
            beside = companion(self.store().path)
            make_private(beside.parent)
            try:
                held = FileLock(beside.with_name(f".{beside.name}.watch"), timeout=0, mode=0o600).acquire()
            except Timeout:
                if not self.waits:
                    self.waits = True
                    self.say("Another process watches the folders of this store; this one takes over when it ends.")
                self._stop.wait(_AGAIN)
                continue
            with held:
                self.waits = False
                self._follow()

    def _follow(self) -> None:
        store, stop = self.store(), self._stop
        while not stop.is_set() and self.store() is store:
            if not (folders := self._folders(store)):
                stop.wait(_AGAIN)
                continue
            looked, unseen = monotonic(), sorted(folders)
            for paths in _changes(folders, stop):
                # Only now, since the system reports changes from here on: what happened unwatched.
                changes, unseen = [Change(path) for path in (*unseen, *sorted(paths))], []
                made = 0
                try:
                    made = apply_changes(store, changes, self.problem, self.ignore) if changes else 0
                except (JupyterMemoryError, OSError) as error:
                    # A store that is busy or was replaced: the next change, or the next start, finds what is left.
                    self.problem(error)
                if made:
                    self.applied(made)
                if monotonic() - looked >= _AGAIN or stop.is_set():
                    looked = monotonic()
                    if self.store() is not store or self._folders(store) != folders:
                        break

    def _folders(self, store: MemoryStore) -> frozenset[Path]:
        listed = [Path(folder.path) for folder in store.folders() if folder.watched and self.admits(folder.path)]
        return frozenset(path for path in listed if path.exists())


def _changes(folders: frozenset[Path], stop: Event) -> Iterator[set[Path]]:
    from watchfiles import watch

    from jupyter_memory.ingest.discovery import is_never_wanted
    from jupyter_memory.ingest.readers.registry import known_readers, suffix_of

    def may_matter(_: object, name: str) -> bool:
        # Nothing hidden, no file of an unknown kind.
        path = Path(name)
        parts = next((path.relative_to(folder).parts for folder in folders if path.is_relative_to(folder)), ())
        if any(is_never_wanted(part, is_folder=place < len(parts)) for place, part in enumerate(parts, start=1)):
            return False
        # What has no suffix, or an unknown one, may be a folder, also one that is gone.
        return suffix_of(path) in known_readers().suffixes or not path.is_file()

    try:
        for changes in watch(
            *folders,
            watch_filter=may_matter,
            debounce=_LONGEST,
            step=_QUIET,
            stop_event=stop,
            rust_timeout=_LONGEST // 4,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        ):
            yield {Path(path) for _, path in changes}
    except (OSError, RuntimeError) as error:
        if any(word in str(error).lower() for word in ("limit", "space")):
            raise InputError(
                "The system watches no more folders. Watch a smaller folder, raise the limit (sudo sysctl "
                "fs.inotify.max_user_watches=524288), or set WATCHFILES_FORCE_POLLING=1."
            ) from None
        raise InputError(
            f"The folders cannot be watched here ({type(error).__name__}). Set WATCHFILES_FORCE_POLLING=1 to look "
            "at them again and again instead."
        ) from None
