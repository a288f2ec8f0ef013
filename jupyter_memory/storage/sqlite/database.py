"""One SQLite file: connections, transactions, whose turn it is, interrupts, errors; no trace of what is forgotten."""

from __future__ import annotations

import os
import random
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import starmap
from json import JSONDecodeError
from pathlib import Path
from time import monotonic, sleep

import apsw

from jupyter_memory.errors import (
    Interrupted,
    JupyterMemoryError,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
)
from jupyter_memory.storage.sql import Interrupts, UnreadableRow
from jupyter_memory.storage.sqlite import scrubbing
from jupyter_memory.storage.sqlite.copies import Migration, migrate, migrations, sweep
from jupyter_memory.storage.sqlite.file import Session, StoreFile, is_cut, leave_log, version_of

# SQLite's errors as ours, which say what happened and what to do, and contain nothing that a user wrote.


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Turn the errors that SQLite raises within into ours."""
    try:
        yield
    except apsw.SQLError as error:
        # FTS5 reports what it cannot read of its own tables as a mistake in the statement.
        if "fts5 file format" not in str(error):
            raise
        raise _damaged(path, error) from None
    except (apsw.NotADBError, apsw.CorruptError, UnreadableRow, UnicodeDecodeError, JSONDecodeError) as error:
        # SQLite does not notice damage within a value, but what we stored was UTF-8 and JSON.
        raise _damaged(path, error) from None
    except (apsw.BusyError, apsw.LockedError, apsw.ProtocolError):
        raise StoreLocked(
            f"{path} is locked by another process that is writing. Nothing was changed; try again in a moment."
        ) from None
    except apsw.InterruptError:
        raise Interrupted("The search was stopped before it finished. Nothing was changed.") from None
    except (apsw.ReadOnlyError, apsw.PermissionsError):
        raise StoreReadOnly(
            f"{path} cannot be written. Nothing was changed; choose another path or fix its permissions."
        ) from None
    except apsw.FullError:
        raise StoreFull(f"The disk of {path} is full. Nothing was changed; make room and try again.") from None
    except (apsw.ConnectionClosedError, apsw.CursorClosedError, apsw.ThreadingViolationError):
        raise StoreClosed(
            f"{path} was closed by another thread. Nothing was changed; open it again with open_store() or "
            "MemoryStore(path)."
        ) from None
    except (apsw.IOError, apsw.CantOpenError) as error:
        raise StoreError(
            f"{path} cannot be read or written (SQLite: {_first_line(error)}). Nothing was changed."
        ) from None


# A damaged value fails wherever it is first used, as what it should have been. A large store is checked for minutes,
# so no other error starts one.
_OF_DAMAGE = (apsw.Error, TypeError, ValueError, LookupError, ArithmeticError, AttributeError)


def _damaged(path: Path, error: Exception) -> StoreDamaged:
    # Of a file that is no database at all, doctor knows no more.
    more = "" if isinstance(error, apsw.NotADBError) else " `jupyter-memory doctor` shows what is wrong."
    return StoreDamaged(
        f"{path} is not a readable store (SQLite: {_first_line(error)}). It was left as it is. Restore a backup with "
        f"`jupyter-memory restore`, or choose another path.{more}"
    )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


# Interrupting a thread that reads: its current statement, and the later ones of the same transaction.

# SQLite's instructions between two checks whether somebody stopped the statement, some 50 ms: a check needs the GIL,
# and may have to wait until another thread releases it.
_INSTRUCTIONS = 1_000_000


@dataclass(slots=True)
class _Reading:
    connection: apsw.Connection
    stopped: bool = False

    def stop(self) -> None:
        self.stopped = True
        with suppress(apsw.ConnectionClosedError):
            self.connection.interrupt()

    def check(self, cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        if self.stopped:
            raise apsw.InterruptError("interrupted")
        return True

    @contextmanager
    def watched(self, interrupts: Interrupts) -> Iterator[None]:
        self.connection.exec_trace = self.check
        # SQLite forgets an interruption that came before a statement's first step.
        self.connection.set_progress_handler(lambda: self.stopped, _INSTRUCTIONS)
        try:
            with interrupts.open_to(self):
                yield
        except apsw.Error:
            # An interrupted statement that is being prepared fails with any error.
            if self.stopped:
                raise apsw.InterruptError("interrupted") from None
            raise
        finally:
            with suppress(apsw.ConnectionClosedError):
                self.connection.exec_trace = None
                self.connection.set_progress_handler(None)


# Whose turn it is to write (docs/internals.md): a waiting writer has a shared lock on the store's folder.

try:
    import fcntl
except ImportError:  # Windows: nobody is seen waiting, and everybody asks again at short intervals
    fcntl = None  # type: ignore[assignment]

# Seconds between two attempts to get the lock, at random so that no two keep in step.
_SHORTEST, _LONGEST = 0.001, 0.008
# How long one step of long work waits for others at most; then it joins them, so that it ends some day.
_COURTESY = 1.0


class Turn:
    """One writer's wait for the lock, as SQLite's busy handler; ``announced`` tells long work to let it go first."""

    def __init__(self, path: Path, patience: float, *, announced: bool) -> None:
        # Of the file itself, by whichever link it is opened.
        self._folder = Path(os.path.realpath(path)).parent
        self._patience = patience
        self._announced = announced
        self._begun = 0.0
        self._sign: int | None = None

    def __call__(self, attempts: int) -> bool:
        if attempts == 0:
            self._begun = monotonic()
        if monotonic() - self._begun >= self._patience:
            return False
        if self._announced and self._sign is None and fcntl is not None:
            with suppress(OSError), ExitStack() as unless_locked:
                descriptor = os.open(self._folder, os.O_RDONLY)
                unless_locked.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                unless_locked.pop_all()
                self._sign = descriptor
        sleep(random.uniform(_SHORTEST, _LONGEST))  # noqa: S311  no secret
        return True

    def end(self) -> None:
        sign, self._sign = self._sign, None
        if sign is not None:
            # Not by closing alone: a child that was forked meanwhile has the descriptor, too.
            with suppress(OSError):
                fcntl.flock(sign, fcntl.LOCK_UN)
            os.close(sign)


def let_others_go_first(path: Path) -> None:
    """Wait while another writer waits to write a few rows, a second at most."""
    begun, folder = monotonic(), Path(os.path.realpath(path)).parent
    while fcntl is not None and monotonic() - begun < _COURTESY:
        with suppress(OSError), ExitStack() as after:
            descriptor = os.open(folder, os.O_RDONLY)
            after.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                sleep(_LONGEST)
                continue
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        return


# Seconds for which a store that was found sound counts as such: the check of a large one takes that long.
_SOUND_FOR = 60.0
_NOTICE = (
    "Another process is reading or writing the store, or its disk is full or read-only: traces of forgotten text may "
    "remain in the file. The next change removes them, and so does opening the store again."
)
# Bytes of a log that is moved into the file, and seconds that readers are waited for then.
_LONG, _MOMENT = 4_000_000, 0.03
# Bytes of a file that is not read as a whole in a moment.
_LARGE = 16_000_000
# Seconds that others are waited for before the traces are left for the next time.
_PATIENCE = 2.0
BUSY_SECONDS = 30.0
# Seconds that an opening waits for others until it leaves the traces of removed rows for the next time.
_BRIEFLY = 1.0
# Connections of a parent process are never closed, since closing them here would touch the parent's files.
_PARENTS: list[apsw.Connection] = []


class Database:
    """One store file, safe to share between threads and processes; ``vfs`` names the SQLite VFS to open it with.

    ``further`` are migrations to try after those of this release, each a version and its script.
    """

    def __init__(
        self,
        path: Path,
        *,
        busy_seconds: float = BUSY_SECONDS,
        vfs: str | None = None,
        read_only: bool = False,
        further: Sequence[tuple[int, str]] = (),
    ) -> None:
        self.path = path
        self._busy = round(busy_seconds * 1000)
        self.steps = (*migrations(), *starmap(Migration, further))
        self._file = StoreFile(path, vfs, (self.steps[0].version, self.steps[-1].version), read_only)
        self.notices = self._file.notices
        # Returns the first thing that `doctor` finds, if there is any.
        self.find_damage: Callable[[], str] = str
        self._examining = False
        self._sound_until = 0.0
        self._closed = False
        self._long = _LONG
        self._begin()

        with translate_errors(self.path), ExitStack() as unless_ready:
            self._file.make()
            unless_ready.callback(self.close)
            connection = self.connection
            if not self._file.read_only:
                sweep(self.path)
                copy = migrate(connection, self.path, self.steps)
                if copy is not None:
                    self.notices.append(
                        f"The store was upgraded to a new version. {copy.name} is a copy of the old store."
                    )
            elif version_of(connection) < self.steps[-1].version:
                raise StoreReadOnly(
                    f"{self.path} must first be upgraded to this version of jupyter-memory, but it is read-only. "
                    "Make it writable, or choose another path."
                )
            self._file.remember(connection)
            if scrubbing.pending(connection) is not None:
                self.scrub(patience=_BRIEFLY)
            unless_ready.pop_all()

        self.read_only, self.created = self._file.read_only, self._file.created

    @property
    def connection(self) -> Session:
        self._leave_parent()
        if not hasattr(self._local, "connection") or self._closed:
            with ExitStack() as unless_ready:
                if not self._closed:
                    fresh = unless_ready.enter_context(closing(self._file.connect(self._busy)))
                with self._lock:
                    if self._closed:
                        raise StoreClosed(
                            "This store was closed. Open it again with open_store() or MemoryStore(path)."
                        )
                    self._connections.add(fresh)
                unless_ready.pop_all()
            self._local.connection = fresh
        connection: Session = self._local.connection
        return connection

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Read within one snapshot: whatever others write meanwhile is not seen."""
        with self._examined():
            connection = self.connection
            if connection.in_transaction:
                yield connection
                return
            connection.execute("begin")
            try:
                self._file.check_content(connection)
                with _Reading(connection).watched(self.interrupts):
                    yield connection
            finally:
                with suppress(apsw.ConnectionClosedError):
                    if connection.is_interrupted:
                        del self._local.connection
                        connection.close(True)
                    # A rollback would undo temporary tables that the search made, and so invalidate SQLite's schema
                    # cache and every prepared statement.
                    if connection.in_transaction:
                        with suppress(apsw.Error):
                            connection.execute("commit")
                _undo(connection)

    @contextmanager
    def write(self, *, at_once: float | None = None, yielding: bool = False) -> Iterator[Session]:
        """Change all or nothing; ``Engine.change`` says what the arguments are for."""
        if self.read_only:
            raise StoreReadOnly(
                f"{self.path} is read-only, so nothing can be stored or forgotten there. Choose another path."
            )
        if yielding:
            let_others_go_first(self.path)
        patience = self._busy / 1000 if at_once is None else at_once
        turn = Turn(self.path, patience, announced=at_once is None and not yielding)
        with self._examined():
            connection = self.connection
            self._file.check_identity()
            if is_cut(connection, self.path):
                raise StoreDamaged(
                    f"{self.path} lacks its last bytes, so nothing was changed. Restore a backup with "
                    "`jupyter-memory restore`; until then, it can be read."
                )
            try:
                connection.set_busy_handler(turn)
                connection.pragma("synchronous", "full" if at_once is None else "normal")
                # "immediate" takes the lock now: a transaction that starts by reading could not wait for it later.
                connection.execute("begin immediate")
                turn.end()
                self._file.check_content(connection)
                yield connection
                # Once more: from the commit on, pages of the log may get into the file.
                self._file.check_content(connection)
                self._file.identity.count_commit(connection)
                connection.execute("commit")
            finally:
                turn.end()
                # What was not committed: a block that failed, a commit that failed, a generator that was closed.
                _undo(connection)
                with suppress(apsw.ConnectionClosedError):
                    connection.set_busy_timeout(self._busy)
                    connection.pragma("synchronous", "full")
        if self.traces_may_remain:
            self.scrub(patience=0)
        else:
            self._move_log(self._long)

    def _move_log(self, length: int) -> None:
        # SQLite would do so by itself, but leave in the file what must be overwritten when something is forgotten.
        # A writer that removed something does so next.
        with suppress(OSError, StoreError), translate_errors(self.path):
            if self._file.log.stat().st_size >= length and scrubbing.pending(self.connection) is None:
                self._clean(_MOMENT)
                # Not again at once, if others read.
                self._long = self._file.log.stat().st_size + _LONG

    @property
    def traces_may_remain(self) -> bool:
        return _NOTICE in self.notices

    @property
    def writes_at_once(self) -> bool:
        return self._file.has_log and not self.read_only

    def scrub(self, *, patience: float | None = None) -> None:
        """Overwrite what removed rows left, waiting up to ``patience`` seconds; a notice says if that is not enough."""
        waiting = min(self._busy / 1000, _PATIENCE) if patience is None else patience
        done = False
        try:
            if self._file.read_only:
                return
            done = self._clean(waiting)
        except StoreClosed:
            raise
        except StoreError:
            pass
        finally:
            self._file.note(_NOTICE, not done)

    def _clean(self, patience: float) -> bool:
        # Closing it rolls back what was not committed.
        with translate_errors(self.path), closing(self._file.connect(self._busy)) as alone:
            alone.set_busy_handler(Turn(self.path, patience, announced=False))
            return self._file.scrub(alone, patience)

    def close(self) -> None:
        """Close every connection; calling it again does nothing. What other threads are doing is undone."""
        self._leave_parent()
        overwritten = not self._closed and self.replaced
        try:
            if self.traces_may_remain and not (self._closed or overwritten):
                self.scrub(patience=0)
            elif not (self._closed or overwritten or self._file.read_only):
                with suppress(OSError):
                    if self.path.stat().st_size > _LARGE:
                        self._move_log(1)
        finally:
            with self._lock:
                self._closed = True
                for connection in list(self._connections):
                    begun = monotonic()
                    # A connection that another thread still uses is closed when that thread ends.
                    while monotonic() - begun <= self._busy / 1000:
                        try:
                            with suppress(apsw.ConnectionClosedError):
                                leave_log(connection, overwritten)
                            connection.close()
                            break
                        except apsw.ThreadingViolationError:
                            sleep(0.005)
                self._connections.clear()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._local = threading.local()
        self._connections: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self.interrupts = Interrupts()

    def _leave_parent(self) -> None:
        if self._pid != os.getpid():
            _PARENTS.extend(self._connections)
            self._begin()

    @property
    def replaced(self) -> bool:
        identity = self._file.identity
        if identity.touched and not self._closed:
            with suppress(JupyterMemoryError), self.read():
                pass  # which compares the content
        return identity.moved or identity.overwritten

    @contextmanager
    def _examined(self) -> Iterator[None]:
        # Behind an error that nobody expected may be another file in the store's place, a newer version, or damage.
        try:
            with translate_errors(self.path):
                yield
        except UnicodeEncodeError:
            raise  # of what was given, never of what is stored
        except (JupyterMemoryError, *_OF_DAMAGE) as error:
            expected = isinstance(error, JupyterMemoryError)
            if self._examining or (expected and not isinstance(error, StoreDamaged)):
                raise
            self._examining = True  # an examination that fails is not examined itself
            try:
                if self.replaced:
                    self._file.check_identity()
                    self._file.refuse_overwritten()
                self._file.refuse_newer()
                if not expected and monotonic() >= self._sound_until:
                    if finding := self.find_damage():
                        raise StoreDamaged(
                            f"{self.path} is damaged. {finding} `jupyter-memory doctor` lists all that is wrong."
                        ) from error
                    self._sound_until = monotonic() + _SOUND_FOR
            finally:
                self._examining = False
            raise


def _undo(connection: apsw.Connection) -> None:
    with suppress(apsw.ConnectionClosedError):
        if connection.in_transaction:
            connection.execute("rollback")
