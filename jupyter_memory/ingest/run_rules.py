"""Which cells are not remembered: those that use this memory, and those that their user keeps out of the history."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

_OUR_MAGIC = re.compile(
    r"^[ \t]*+(?:[\w., \t\[\]'\"]*=[ \t]*|%%?\w+[ \t][^\n]*?)?%%?mem(?:search|add|ory|eval|fix)\b"
    r"|^[ \t]*+![ \t]*jupyter-memory\b"
    r"|run_(?:line|cell)_magic\(\s*['\"]mem(?:search|add|ory|eval|fix)\b",
    re.MULTILINE,
)
_LOADS_US = re.compile(r"^[ \t]*+%(?:re|un)?load_ext[ \t]+jupyter_memory\b.*|^[ \t]*+#.*", re.MULTILINE)
# In a comment of Python, R, Julia, C, SQL, Lisp or MATLAB.
_OFF = re.compile(r"(?:#|//|--|;|%)[ \t]*memory[ \t]*:[ \t]*off\b", re.IGNORECASE)
# "memory: off" as a tag: people write tags with hyphens.
_PARTS_OF_TAG = re.compile(r"[\W_]+")
_OFF_TAG = "memoryoff"


def uses_memory(source: str) -> bool:
    """Return whether a code cell uses this memory: remembered, a search would find itself.

    >>> uses_memory("%memsearch how were prices scaled"), uses_memory("prices.scale()")
    (True, False)
    """
    if "mem" not in source:
        return False
    if _OUR_MAGIC.search(source):
        return True
    return "load_ext" in source and not _LOADS_US.sub("", source).strip()


@dataclass(frozen=True)
class HistoryRules:
    """What stays out of the history, whatever was run.

    ``patterns`` are those of the setting ``history_ignore``: ``%sql *`` leaves out each cell with such a line.
    """

    patterns: Sequence[str] = ()

    def exclude(self, source: str, tags: Iterable[str] = ()) -> bool:
        """Return whether a cell stays out: it is blank, uses this memory, says so, or a line fits a pattern."""
        return (
            not source.strip()
            or uses_memory(source)
            or _OFF.search(source) is not None
            or any(_PARTS_OF_TAG.sub("", tag).casefold() == _OFF_TAG for tag in tags)
            or any(fnmatchcase(line.strip(), pattern) for line in source.splitlines() for pattern in self.patterns)
        )
