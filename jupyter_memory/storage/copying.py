"""A copy of a store in a new file, as the store is at one moment."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import apsw


def copy_into(connection: apsw.Connection, target: Path) -> None:
    """Copy a store page by page into a new file, its owner's alone; a copy that fails leaves nothing behind.

    Raises:
        OSError: the file cannot be made, or is there already.
    """
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with closing(apsw.Connection(str(target))) as copy:
            with copy.backup("main", connection, "main") as pages:
                pages.step()
            copy.pragma("journal_mode", "delete")
    except BaseException:
        target.unlink(missing_ok=True)
        raise
