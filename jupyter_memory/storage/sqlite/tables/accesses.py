"""How often people used each memory, in its row, within the caller's transaction."""

from __future__ import annotations

import apsw

from jupyter_memory.text.unicode import encodable


def note(connection: apsw.Connection, memory_id: str) -> bool:
    """Count one more use of a memory; return whether there is such a memory."""
    connection.execute("update memories set accessed = accessed + 1 where id = ?", (encodable(memory_id),))
    return connection.changes() > 0


def clear(connection: apsw.Connection) -> None:
    """Set every count to 0."""
    connection.execute("update memories set accessed = 0 where accessed > 0")


def is_empty(connection: apsw.Connection) -> bool:
    """Return whether no use was counted; reads every row."""
    return not connection.execute("select exists (select 1 from memories where accessed > 0)").get
