"""Backups of a store, and a store restored from a backup."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from jupyter_memory.errors import InputError, StoreOpen
from jupyter_memory.storage.sqlite.connection.copies import copied, copy_into, sweep, sync_folder
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.connection.errors import translate_errors
from jupyter_memory.storage.sqlite.connection.file import check_version, open_file, version_of
from jupyter_memory.storage.sqlite.connection.migrations import migrations
from jupyter_memory.text.paths import absolute, make_private


def backup(database: Database, target: Path) -> None:
    """Copy a store as it is at this moment, while others may go on writing.

    Raises:
        InputError: there is something at ``target`` already.
    """
    target = absolute(target)
    if target.exists():
        raise InputError(f"{target} exists already. Choose another name: a backup never overwrites.")
    sweep(target)
    with _errors_of(target):
        copy_into(database.connection, target)


def restore(source: Path, to: Path, *, overwrite: bool) -> None:
    """Make a store out of a backup, checked before anything at ``to`` is touched.

    Raises:
        InputError: there is no backup, or something is at ``to`` and ``overwrite`` is False.
        StoreDamaged: the backup is not a store, or broken.
        StoreOpen: another connection has the store at ``to`` open.
    """
    source, to = absolute(source), absolute(to)
    if not source.is_file():
        raise InputError(f"There is no backup at {source}.")
    with translate_errors(source):
        reader = open_file(source, read_only=True)
        try:
            # First, so that nobody allows a store to be overwritten by a file that is not one.
            _check(reader, source)
            if os.path.lexists(to) and not overwrite:
                raise InputError(
                    f"{to} exists already. Say overwrite=True (--overwrite) to put the backup in its place."
                )
            # A link keeps pointing to the store: its target is replaced, with the log next to the target.
            _put(reader, Path(os.path.realpath(to)))
        finally:
            reader.close()


def _check(reader: apsw.Connection, source: Path) -> None:
    """Refuse a backup that is empty or damaged."""
    check_version(reader, source, (migrations()[0].version, migrations()[-1].version))
    if version_of(reader) == 0:
        raise apsw.CorruptError("the file is empty")
    if reader.execute("pragma quick_check(1)").get != "ok":
        raise apsw.CorruptError("quick_check found damage")


def _put(reader: apsw.Connection, to: Path) -> None:
    """Copy a store next to ``to``, then move the copy into its place."""
    try:
        make_private(to.parent)
    except OSError as error:
        raise InputError(f"No store can be made at {to}: {error.strerror}.") from None
    sweep(to)
    with _errors_of(to), copied(reader, to) as fresh:
        _take_place(fresh, to)


@contextmanager
def _errors_of(target: Path) -> Iterator[None]:
    """Turn the errors of a copy to ``target`` into ours; a copy that fails leaves nothing behind."""
    with translate_errors(target):
        try:
            yield
        except OSError as error:
            cure = "" if target.parent.is_dir() else f" Make the folder {target.parent} first, or name another."
            raise InputError(f"No file can be made at {target}: {error.strerror}.{cure}") from None


def _take_place(fresh: Path, to: Path) -> None:
    """Move a file to a store's place, unless somebody has that store open."""
    if to.exists():
        with translate_errors(to):
            guard = open_file(to)
            try:
                # An exclusive lock in WAL mode is granted only to the file's one connection.
                guard.pragma("locking_mode", "exclusive")
                guard.pragma("journal_mode", "delete")
                guard.execute("begin exclusive")
                guard.execute("rollback")
            except apsw.BusyError:
                raise StoreOpen(
                    f"{to} is open, here or in another program. Close it first: shut down the kernels "
                    "that use it, or call store.close()."
                ) from None
            except (apsw.NotADBError, apsw.CorruptError):
                pass  # a damaged store is what a backup is for
            finally:
                guard.close()
    # Before the copy is there: if this is killed, SQLite must not take the old log for that of the copy.
    for leftover in ("-wal", "-shm", "-journal"):
        to.with_name(to.name + leftover).unlink(missing_ok=True)
    fresh.replace(to)
    sync_folder(to)
