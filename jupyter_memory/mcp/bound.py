"""What a connected program may see and do: a space, folders, the history, writing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jupyter_memory.text.paths import plain_path
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import Filters, Memory

UNNAMED = "unnamed"
_LONGEST_NAME = 40
_STRANGE = re.compile(r"[^a-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Bound:
    """The part of a store that a program may see, and what it may do there.

    Without a ``space`` and ``paths`` it sees the whole store. What was run, the kind ``history``, is left out unless it
    is allowed. ``writing`` lets it store notes, and forget its own; ``forgetting_any`` lets it forget all that it sees.
    """

    space: str = ""
    paths: tuple[str, ...] = ()
    history: bool = False
    writing: bool = True
    forgetting_any: bool = False

    def filters(self, client: str) -> Filters:
        """Return what every memory must match that a client sees; the notes that it stored are among them."""
        return Filters(
            space=(self.space,) if self.space else (),
            path=(*self.paths, source_of(client)) if self.paths else (),
            not_kind=() if self.history else ("history",),
        )

    def may_forget(self, memory: Memory, client: str) -> bool:
        """Return whether a client may forget a memory: one that it stored itself, unless a person has pinned it."""
        return self.forgetting_any or (memory.source == source_of(client) and not memory.pinned)


def bounded_path(path: str) -> str:
    """Return a folder or a file as it is written in a bound: from the root, unless it is the address of something else.

    Raises:
        InputError: nothing can have this path.
    """
    return storable(path) if "://" in path else storable(str(plain_path(path)))


def client_name(given: str | None) -> str:
    """Return the name that a program gives itself as a plain word.

    >>> client_name("Claude Code"), client_name("../../etc"), client_name(None)
    ('claude-code', 'etc', 'unnamed')
    """
    name = _STRANGE.sub("-", (given or "").lower()).strip("-._")
    return name[:_LONGEST_NAME].rstrip("-._") or UNNAMED


def source_of(client: str) -> str:
    """Return the source of the notes that a client stores, by which they are known as its own."""
    return f"mcp://{client}"
