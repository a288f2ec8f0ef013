"""What removed rows left in a store's file, overwritten in place while others search and write.

SQLite's ``secure_delete`` overwrites deleted rows and freed pages. Copies of rows remain in the unallocated space of
b-tree pages, where SQLite once split or merged them. Nothing refers to that space, so zeros can be written there
beneath SQLite, if nobody else writes the file meanwhile and nobody writes a page back that was read before:

- A slice holds the write lock and begins with an empty log. So the file holds the whole state of the store, nobody
  changes that state, and nobody moves a log into the file.
- The same transaction notes how far the slice came. So all other connections read their pages anew before they write.

The note, a row of ``counters``, is made in the transaction that removes something and goes with the last slice. A kill
in between leaves it to whoever opens the store next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import apsw
import numpy as np

from jupyter_memory.errors import StoreError

_PENDING = "scrub"
# Seconds that a slice holds the write lock, and that writers have between two slices.
_SLICE, _PAUSE = 0.1, 0.02
# Pages that are read at once: one megabyte.
_TOGETHER = 256
_ZEROS = bytes(65_536)
# The first byte of a b-tree page, and the length of its header: two kinds of interior pages, two kinds of leaves.
_HEADERS = {2: 12, 5: 12, 10: 8, 13: 8}
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
) -> bool:
    """Overwrite what removed rows left, slice by slice; return whether nothing is left to do.

    ``connection`` holds no pages from before; ``check`` raises where another file was copied over the store.
    """
    until = monotonic() + patience
    while pending(connection) is not None:
        # The log of one store must not get into the file of another.
        with _transaction(connection, "deferred"):
            check(connection)
        busy, _, _ = connection.execute("pragma wal_checkpoint(truncate)").fetchall()[0]
        if not busy and _slice(connection, pages, log):
            until = monotonic() + patience
        elif monotonic() >= until:
            return False
        sleep(_PAUSE)
    return True


def _slice(connection: apsw.Connection, pages: apsw.VFSFile, log: Path) -> bool:
    # Return False if another process wrote to the log before the lock was taken.
    # With a log, readers go on beside an exclusive transaction; without one, they too must wait.
    with _transaction(connection, "exclusive"):
        if log.exists() and log.stat().st_size:
            return False
        begin = pending(connection)
        if begin is not None:
            end = _overwrite(pages, begin, monotonic() + _SLICE)
            pages.xSync(apsw.SQLITE_SYNC_NORMAL)
            if end is None:
                connection.execute("delete from counters where name = ?", (_PENDING,))
            else:
                connection.execute("update counters set value = ? where name = ?", (end, _PENDING))
    return True


@contextmanager
def _transaction(connection: apsw.Connection, kind: str) -> Iterator[None]:
    connection.execute(f"begin {kind}")
    try:
        yield
        connection.execute("commit")
    finally:
        if connection.in_transaction:
            connection.execute("rollback")


def _overwrite(pages: apsw.VFSFile, begin: int, until: float) -> int | None:
    header = pages.xRead(100, 0)
    size = int.from_bytes(header[16:18], "big")
    size = 65_536 if size == 1 else size
    usable, count = size - header[20], pages.xFileSize() // size
    if count >= _MOST_PAGES:
        raise StoreError("The store has too many pages to overwrite what is left in them.")
    lengths = np.zeros(256, np.int64)
    lengths[list(_HEADERS)] = list(_HEADERS.values())
    page = max(begin, 1)  # the first page holds the names of tables, and none of their rows
    while page < count:
        together = min(_TOGETHER, count - page)
        block = pages.xRead(together * size, page * size)
        headers = np.frombuffer(block, np.uint8).reshape(-1, size)[:, :8].astype(np.int64)
        of_header = lengths[headers[:, 0]]
        starts = of_header + 2 * (256 * headers[:, 3] + headers[:, 4])
        stops = 256 * headers[:, 5] + headers[:, 6]
        # A damaged header is left to the check of the store.
        sound = (of_header > 0) & (starts < stops) & (stops <= usable)
        offsets = size * np.arange(len(headers))
        for start, stop in zip((offsets + starts)[sound].tolist(), (offsets + stops)[sound].tolist(), strict=True):
            if not _ZEROS.startswith(block[start:stop]):
                pages.xWrite(_ZEROS[: stop - start], page * size + start)
        page += together
        if monotonic() >= until:
            return page
    return None


# FTS5's ``secure-delete`` removes the words of a deleted row from the pages of the index. The words between the pages,
# which say on what page a word is, are left to this module.


def has_traces(connection: apsw.Connection) -> bool:
    """Return whether a removed word still separates two pages of the index: FTS5 never removes it there."""
    open_places(connection)
    signs: list[Any] = connection.execute("select term from keyword_idx").fetchall()
    for (sign,) in signs:
        # One byte of kind, then enough of a word to distinguish the pages.
        word = sign[1:].decode("utf-8", "ignore")
        found: str | None = connection.execute("select term from temp.places where term >= ? limit 1", (word,)).get
        if found is None or not found.startswith(word):
            return True
    return False


def clear_traces(connection: apsw.Connection) -> None:
    """Merge the index's segments into a new one, without the words that only separated pages.

    The caller's transaction holds nothing else.
    """
    # FTS5 does not optimise a single segment, so it gets a second one.
    connection.execute("insert into keyword (rowid, text) values (0, 'x')")
    connection.execute("insert into keyword (keyword) values ('optimize')")
    connection.execute("insert into keyword (keyword, rowid, text) values ('delete', 0, 'x')")


def open_places(connection: apsw.Connection) -> None:
    """Make ``temp.places``, which lists each occurrence of each word; its first row comes at once."""
    connection.execute("create virtual table if not exists temp.places using fts5vocab(main, keyword, instance)")
