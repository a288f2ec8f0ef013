"""Checks of the names that memories define: each of them is in the text of its memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unicodedata import normalize

import apsw


def findings(connection: apsw.Connection) -> Iterator[str]:
    """Yield what is wrong with definitions, with what to do."""
    if count := len(damaged(connection)):
        them = "1 memory" if count == 1 else f"{count:,} memories"
        yield f"The names that {them} should define are not in the text. Read them anew with store.rebuild()."


def damaged(connection: apsw.Connection) -> list[int]:
    """Return the memories with a definition that their text does not hold."""
    rows: Any = connection.execute(
        """
        select memory, cast(text as blob), cast(defined || ' ' || assigned || ' ' || nested as blob)
        from definitions join texts using (memory) order by memory
        """
    )
    return [key for key, text, names in rows if not _holds(text, names)]


def _holds(text: bytes, names: bytes) -> bool:
    try:
        # Python knows names in their plain characters.
        held = normalize("NFKC", text.decode())
        return all(name in held for name in names.decode().split())
    except UnicodeDecodeError:
        return False
