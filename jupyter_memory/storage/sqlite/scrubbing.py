"""What removed rows left in a store's file, overwritten in place while others search and write.

SQLite's ``secure_delete`` overwrites deleted rows and freed pages. Copies of rows remain in the unallocated space of
b-tree pages, where SQLite once split or merged them. Nothing refers to that space, so zeros can be written there
beneath SQLite, if nobody else writes the file meanwhile and nobody writes a page back that was read before:

- A slice holds the write lock and begins with an empty log. So the file holds the whole state of the store, nobody
  changes that state, and nobody moves a log into the file.
- The same transaction notes how far the slice came. So all other connections read their pages anew before they write.

The note, a row of ``counters``, is made in the transaction that removes something and deleted with the last slice.
After a kill in between, the next process that opens the store goes on.

The file is not read as a whole each time. The row ``scrubbed`` says up to which commit its pages were overwritten. If
it holds no later one, whatever else is left is in the pages of the log, and goes when the log is moved into the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from time import monotonic, sleep

import apsw
import numpy as np
from numpy.typing import NDArray

from jupyter_memory.errors import StoreError

_PENDING = "scrub"
# VACUUM and the like write without counting a commit, and change the version of the schema.
_SCHEMA = "select 'scrubbed ' || schema_version from pragma_schema_version"
_SCRUBBED = f"select value from counters where name = ({_SCHEMA})"
_NOTE_SCRUBBED = f"insert into counters (name, value) values (({_SCHEMA}), ?)"
# Bytes of the head of a log.
_HEAD = 32
# Seconds that a slice holds the write lock, and that writers have between two slices.
_SLICE, _PAUSE = 0.1, 0.02
# Pages that are read at once: one megabyte.
_TOGETHER = 256
_ZEROS = bytes(65_536)
# The first byte of a b-tree page, and the length of its header: two kinds of interior pages, two kinds of leaves.
_HEADERS = np.zeros(256, np.int64)
_HEADERS[[2, 5, 10, 13]] = 12, 12, 8, 8
# Pages of overflow and of the freelist begin with the number of a page. Below this one its first byte is 0 or 1.
_MOST_PAGES = 2 << 24


def note_removal(connection: apsw.Connection) -> None:
    """Note, in the caller's transaction, that something was removed whose traces must go."""
    connection.execute("insert or replace into counters (name, value) values (?, 0)", (_PENDING,))


def pending(connection: apsw.Connection) -> int | None:
    """Return the first page that is still to be scrubbed, counted from 0; None where nothing is."""
    place: int | None = connection.execute("select value from counters where name = ?", (_PENDING,)).get
    return place


def scrub(
    connection: apsw.Connection,
    pages: apsw.VFSFile,
    log: Path,
    patience: float,
    check: Callable[[apsw.Connection], None],
    commits_in_file: Callable[[], int],
) -> bool:
    """Move the log into the file, and overwrite what removed rows left; return whether nothing is left to do.

    ``connection`` holds no pages from before; ``check`` raises where another file was copied over the store.
    """
    until = monotonic() + patience
    while True:
        # In this order: whoever moves the log meanwhile is seen by what the file holds then, or by another commit.
        commits, scrubbed, numbers = _commits(connection), connection.execute(_SCRUBBED).get, _pages_of(log)
        known = scrubbed is not None and 0 <= commits_in_file() <= scrubbed
        # The log of one store must not get into the file of another.
        with transaction(connection, "deferred"):
            check(connection)
        busy, _, _ = connection.execute("pragma wal_checkpoint(truncate)").fetchall()[0]
        done = not busy and _slice(connection, pages, log, (commits, numbers) if known else None)
        if pending(connection) is None:
            return True
        if done:
            until = monotonic() + patience
        elif monotonic() >= until:
            return False
        sleep(_PAUSE)


def _commits(connection: apsw.Connection) -> int:
    return int(connection.execute("select coalesce(max(value), 0) from counters where name = 'commits'").get)


def _pages_of(log: Path) -> NDArray[np.int64]:
    written = log.read_bytes() if log.exists() else b""
    if len(written) <= _HEAD:
        return np.zeros(0, np.int64)
    # Before each page its number, and later the two numbers that tell its log from an earlier one.
    size = int.from_bytes(written[8:12], "big") + 24
    frames = np.frombuffer(written, np.uint8, (len(written) - _HEAD) // size * size, _HEAD).reshape(-1, size)
    heads = np.ascontiguousarray(frames[:, :16]).view(">u4")
    current = (heads[:, 2:] == np.frombuffer(written, ">u4", 2, 16)).all(axis=1)
    return np.array(sorted(set(heads[current, 0].tolist())), np.int64) - 1  # np.unique imports numpy.ma


def _slice(
    connection: apsw.Connection, pages: apsw.VFSFile, log: Path, known: tuple[int, NDArray[np.int64]] | None
) -> bool:
    # Return False if another process wrote to the log before the lock was taken. If the pages are known where anything
    # may be left after so many commits, no others are read.
    # With a log, readers go on beside an exclusive transaction; without one, they too must wait.
    with transaction(connection, "exclusive"):
        if log.exists() and log.stat().st_size:
            return False
        begin, commits = pending(connection), _commits(connection)
        if known is not None and known[0] == commits:
            _overwrite(pages, known[1], 0, inf)
            pages.xSync(apsw.SQLITE_SYNC_NORMAL)
            connection.execute("delete from counters where name = ? or name glob 'scrubbed *'", (_PENDING,))
            connection.execute(_NOTE_SCRUBBED, (commits,))
        elif begin is not None:
            if begin == 0:
                # Negative up to the last slice.
                connection.execute("delete from counters where name glob 'scrubbed *'")
                connection.execute(_NOTE_SCRUBBED, (-commits,))
            end = _overwrite(pages, None, begin, monotonic() + _SLICE)
            pages.xSync(apsw.SQLITE_SYNC_NORMAL)
            if end is None:
                connection.execute("delete from counters where name = ?", (_PENDING,))
                connection.execute("update counters set value = abs(value) where name glob 'scrubbed *'")
            else:
                connection.execute("update counters set value = ? where name = ?", (end, _PENDING))
    return True


@contextmanager
def transaction(connection: apsw.Connection, kind: str) -> Iterator[None]:
    """Do something in a transaction, undone unless it ends well."""
    connection.execute(f"begin {kind}")
    try:
        yield
        connection.execute("commit")
    finally:
        if connection.in_transaction:
            connection.execute("rollback")


def _overwrite(pages: apsw.VFSFile, among: NDArray[np.int64] | None, begin: int, until: float) -> int | None:
    # Return the page where to go on, if the time is over before the last of all pages, or of some.
    header = pages.xRead(100, 0)
    size = int.from_bytes(header[16:18], "big")
    size = 65_536 if size == 1 else size
    usable, count = size - header[20], pages.xFileSize() // size
    if count >= _MOST_PAGES:
        raise StoreError("The store has too many pages to overwrite what is left in them.")
    numbers = np.arange(begin, count) if among is None else among[among < count]
    # A pointer-map page, which `incremental_vacuum` needs, tells of so many pages behind it.
    mapped = usable // 5 if any(header[52:56]) else 0
    for place in range(0, numbers.size, _TOGETHER):
        some = numbers[place : place + _TOGETHER]
        _clean(pages, some, size, usable, mapped)
        if monotonic() >= until and place + _TOGETHER < numbers.size:
            return int(some[-1]) + 1
    return None


def _clean(pages: apsw.VFSFile, numbers: NDArray[np.int64], size: int, usable: int, mapped: int) -> None:
    places = (numbers * size).tolist()
    if places[-1] - places[0] == (len(places) - 1) * size:
        block = pages.xRead(len(places) * size, places[0])
    else:
        block = b"".join([pages.xRead(size, place) for place in places])
    headers = np.frombuffer(block, np.uint8).reshape(-1, size)[:, :8].astype(np.int64)
    of_header = _HEADERS[headers[:, 0]]
    starts = of_header + 2 * (256 * headers[:, 3] + headers[:, 4])
    stops = 256 * headers[:, 5] + headers[:, 6]
    # A damaged header is left to the check of the store. The first page has another: it holds no rows of tables.
    sound = (of_header > 0) & (starts < stops) & (stops <= usable)
    if mapped:
        sound &= (numbers - 1) % (mapped + 1) > 0
    for page in np.flatnonzero(sound).tolist():
        start, stop = int(starts[page]), int(stops[page])
        if not _ZEROS.startswith(block[page * size + start : page * size + stop]):
            pages.xWrite(_ZEROS[: stop - start], places[page] + start)
