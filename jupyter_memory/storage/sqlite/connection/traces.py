"""The traces that removed rows leave in a store: in the keyword index, in the file and in its log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import apsw

from jupyter_memory.errors import StoreClosed, StoreError
from jupyter_memory.storage.sqlite.connection import scrubbing
from jupyter_memory.storage.sqlite.connection.errors import translate_errors
from jupyter_memory.storage.sqlite.connection.file import StoreFile
from jupyter_memory.storage.sqlite.connection.turns import Turn
from jupyter_memory.storage.sqlite.indexes import keyword_upkeep

_NOTICE = (
    "Another process is reading or writing the store, or its disk is full or read-only: traces of forgotten text may "
    "remain in the file. The next change removes them, and so does opening the store again."
)
# Seconds that others are waited for before the traces are left for the next time.
_PATIENCE = 2.0


class Traces:
    """The traces in one file; ``busy`` is how many milliseconds its connections wait for others at most."""

    def __init__(self, file: StoreFile, busy: int) -> None:
        self._file = file
        self._busy = busy

    @property
    def may_remain(self) -> bool:
        """Return whether the last removal did not get to its end."""
        return _NOTICE in self._file.notices

    def remove(self, patience: float | None = None) -> None:
        """Overwrite the traces, if something was removed since the last time; a notice says where some may be left.

        Raises:
            StoreClosed: the file was moved, removed or replaced, or another one was copied over it.
        """
        waiting = min(self._busy / 1000, _PATIENCE) if patience is None else patience
        done = False
        try:
            if not self._file.read_only:
                done = self._removed(waiting)
        except StoreClosed:
            raise
        except StoreError:
            pass
        finally:
            self._file.note(_NOTICE, not done)

    def _removed(self, patience: float) -> bool:
        """Remove the traces; return whether none is left."""
        with translate_errors(self._file.path):
            with self._extra(patience) as connection:
                if scrubbing.pending(connection) is None:
                    return True
                connection.execute("begin")
                self._file.check_content(connection)
                found = keyword_upkeep.has_traces(connection)
            if found:
                # A transaction of its own, in a connection that has read nothing of the index before.
                with self._extra(patience) as connection:
                    connection.execute("begin immediate")
                    self._file.check_content(connection)
                    keyword_upkeep.clear_traces(connection)
                    connection.execute("commit")
            with self._extra(patience) as alone:
                return self._file.scrub(alone, patience)

    @contextmanager
    def _extra(self, patience: float) -> Iterator[apsw.Connection]:
        """Yield a connection for one piece of work, which waits ``patience`` seconds for others.

        Closing it rolls back what was not committed.
        """
        with closing(self._file.connect(self._busy)) as connection:
            connection.set_busy_handler(Turn(self._file.path, patience, announced=False))
            yield connection
