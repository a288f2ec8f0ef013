"""Follows the watched folders of a store, whichever program changes them.

One process at a time does so for a store: it holds a lock beside the store, which the system releases when the process
ends. Any other process waits for the lock and reads meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from jupyter_memory.config import companion
from jupyter_memory.errors import InputError, JupyterMemoryError
from jupyter_memory.interface.watching.changes import Change, apply_changes
from jupyter_memory.text.paths import StorePath, make_private

if TYPE_CHECKING:
    from jupyter_memory.store.memory_store import MemoryStore

# Milliseconds of quiet after which changes are applied, and after which they are applied in any case.
_QUIET, _LONGEST = 200, 2_000
# Seconds after which the list of watched folders, or the lock, is looked at again.
_AGAIN = 5.0


class FolderWatch:
    """Follows the watched folders of a store in the thread that calls ``run``."""

    def __init__(
        self,
        store: Callable[[], MemoryStore],
        *,
        ignore: Sequence[str] = (),
        admits: Callable[[str], bool] = lambda path: True,
        applied: Callable[[int], object] = lambda made: None,
        say: Callable[[str], object] = lambda text: None,
        problem: Callable[[Exception], object] = lambda error: None,
    ) -> None:
        """Follow the folders that ``admits`` is true for.

        ``applied`` is called with how many changes made a difference, ``say`` with news, ``problem`` with errors.
        """
        self._store = store
        self._ignore = ignore
        self._admits = admits
        self._applied = applied
        self._say = say
        self._problem = problem
        # Whether another process follows the folders of this store.
        self.waits = False

    def run(self, stop: Event) -> None:
        """Follow the folders until ``stop`` is set.

        Raises:
            InputError: the system cannot watch so many folders.
        """
        while not stop.is_set():
            with _lease(self._store().path) as held:
                if held:
                    self.waits = False
                    self._follow(stop)
                elif not self.waits:
                    self.waits = True
                    self._say("Another process watches the folders of this store; this one takes over when it ends.")
            if self.waits:
                stop.wait(_AGAIN)

    def _follow(self, stop: Event) -> None:
        """Follow the folders, with each list of them anew, until ``stop`` is set or the store is another one."""
        store = self._store()
        while not stop.is_set() and self._store() is store:
            folders = self._folders(store)
            if not folders:
                stop.wait(_AGAIN)
                continue
            looked, unseen = monotonic(), sorted(folders)
            for paths in self._changes(folders, stop):
                # Only now, since the system reports changes from here on: what happened while nobody watched.
                self._apply(store, [Change(path) for path in (*unseen, *sorted(map(Path, paths)))])
                unseen = []
                if monotonic() - looked >= _AGAIN or stop.is_set():
                    looked = monotonic()
                    if self._store() is not store or self._folders(store) != folders:
                        break

    def _folders(self, store: MemoryStore) -> frozenset[Path]:
        listed = [Path(folder.path) for folder in store.folders() if folder.watched and self._admits(folder.path)]
        return frozenset(path for path in listed if path.exists())

    def _changes(self, folders: frozenset[Path], stop: Event) -> Iterator[set[str]]:
        """Yield the paths that changed, and now and then none."""
        # Imported late: most kernels and commands watch nothing.
        from watchfiles import watch

        try:
            for changes in watch(
                *folders,
                watch_filter=lambda change, path: _may_matter(Path(path), folders),
                debounce=_LONGEST,
                step=_QUIET,
                stop_event=stop,
                rust_timeout=_LONGEST // 4,
                yield_on_timeout=True,
                ignore_permission_denied=True,
            ):
                yield {path for _, path in changes}
        except (OSError, RuntimeError) as error:
            raise InputError(_why_not(error)) from None

    def _apply(self, store: MemoryStore, changes: list[Change]) -> None:
        if not changes:
            return
        problems: list[Exception] = []
        try:
            made = apply_changes(store, changes, problems, self._ignore)
        except (JupyterMemoryError, OSError) as error:
            # A store that is busy or was replaced: the next change, or the next start, finds what is left.
            made = 0
            problems.append(error)
        for problem in problems:
            self._problem(problem)
        if made:
            self._applied(made)


class WatchThread:
    """A thread that follows the watched folders of a store until ``close`` is called or the process ends."""

    def __init__(self, watch: FolderWatch) -> None:
        self.watch = watch
        self.error: Exception | None = None
        self._stop = Event()
        self._thread = Thread(target=self._run, name="jupyter-memory watch", daemon=True)
        self._thread.start()

    @property
    def runs(self) -> bool:
        """Return whether it still runs."""
        return self._thread.is_alive()

    def close(self, patience: float = 2.0) -> None:
        """End the thread; wait for it up to so many seconds."""
        self._stop.set()
        self._thread.join(patience)

    def _run(self) -> None:
        try:
            self.watch.run(self._stop)
        except (JupyterMemoryError, OSError) as error:
            self.error = error


def _may_matter(path: Path, folders: Collection[Path]) -> bool:
    """Return whether a change may concern a store: nothing hidden, no file of a kind that nobody reads."""
    # Imported late: a server starts without what reads files.
    from jupyter_memory.ingest.discovery import is_never_wanted
    from jupyter_memory.ingest.readers.registry import known_readers, suffix_of

    parts = next((path.relative_to(folder).parts for folder in folders if path.is_relative_to(folder)), ())
    if any(is_never_wanted(part, is_folder=True) for part in parts[:-1]):
        return False
    if parts and is_never_wanted(parts[-1], is_folder=False):
        return False
    # What has no suffix, or an unknown one, may be a folder, also one that is gone.
    return suffix_of(path) in known_readers().suffixes or not path.is_file()


@contextmanager
def _lease(store: StorePath) -> Iterator[bool]:
    """Hold the lock beside a store; yield whether it is held."""
    from filelock import FileLock, Timeout

    beside = companion(store)
    make_private(beside.parent)
    lock = FileLock(beside.with_name(f".{beside.name}.watch"), timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def _why_not(error: Exception) -> str:
    if "limit" in str(error).lower() or "space" in str(error).lower():
        return (
            "The system watches no more folders. Watch a smaller folder, raise the limit (sudo sysctl "
            "fs.inotify.max_user_watches=524288), or set WATCHFILES_FORCE_POLLING=1."
        )
    return (
        f"The folders cannot be watched here ({type(error).__name__}). Set WATCHFILES_FORCE_POLLING=1 to look at them "
        "again and again instead."
    )
