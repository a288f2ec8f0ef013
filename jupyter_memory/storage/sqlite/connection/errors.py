"""SQLite's errors as ours, which say what happened and what to do, and contain nothing that a user wrote."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from pathlib import Path

import apsw

from jupyter_memory.errors import (
    Interrupted,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
)


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
    except (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError, JSONDecodeError) as error:
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


def _damaged(path: Path, error: Exception) -> StoreDamaged:
    # Of a file that is no database at all, doctor knows no more.
    more = "" if isinstance(error, apsw.NotADBError) else " `jupyter-memory doctor` shows what is wrong."
    return StoreDamaged(
        f"{path} is not a readable store (SQLite: {_first_line(error)}). It was left as it is. Restore a backup with "
        f"`jupyter-memory restore`, or choose another path.{more}"
    )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
