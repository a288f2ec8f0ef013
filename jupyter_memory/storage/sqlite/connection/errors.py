"""SQLite's errors as ours, which say what happened and what to do, and contain nothing that a user wrote.

Behind an error that nobody expected may be another file in the store's place, or damage: the store is examined then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from pathlib import Path
from time import monotonic

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

# Seconds for which a store that was found sound counts as such: the check of a large one takes that long.
_SOUND_FOR = 60.0


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


class Diagnosis:
    """Examines a store after an error.

    ``refuse_replaced`` raises where another file is in the store's place; ``find_damage`` returns the first damage that
    the checks of the store find, as a sentence, empty where there is none.
    """

    def __init__(self, path: Path, refuse_replaced: Callable[[], None]) -> None:
        self.find_damage: Callable[[], str] = str
        self._path = path
        self._refuse_replaced = refuse_replaced
        self._examining = False
        self._sound_until = 0.0

    @contextmanager
    def of_errors(self) -> Iterator[None]:
        """Turn errors that come from another file, or from damage, into ours; all others stay as they are."""
        try:
            yield
        except StoreDamaged:
            self._examine(self._refuse_replaced)
            raise
        except JupyterMemoryError:
            raise
        except Exception:
            # Any: a damaged value may fail wherever it is first used, as what it should have been.
            self._examine(self._refuse_replaced, self._refuse_damaged)
            raise

    def _examine(self, *refusals: Callable[[], None]) -> None:
        if self._examining:
            return  # an examination that fails is not examined itself
        self._examining = True
        try:
            for refuse in refusals:
                refuse()
        finally:
            self._examining = False

    def _refuse_damaged(self) -> None:
        if monotonic() < self._sound_until:
            return
        if finding := self.find_damage():
            raise StoreDamaged(f"{self._path} is damaged. {finding} `jupyter-memory doctor` lists all that is wrong.")
        self._sound_until = monotonic() + _SOUND_FOR


def _damaged(path: Path, error: Exception) -> StoreDamaged:
    # Of a file that is no database at all, doctor knows no more.
    more = "" if isinstance(error, apsw.NotADBError) else " `jupyter-memory doctor` shows what is wrong."
    return StoreDamaged(
        f"{path} is not a readable store (SQLite: {_first_line(error)}). It was left as it is. Restore a backup with "
        f"`jupyter-memory restore`, or choose another path.{more}"
    )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
