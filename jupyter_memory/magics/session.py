"""What a shell keeps between its magics: the settings, the open store, the last answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell

from jupyter_memory.config import JupyterMemory, store_path

if TYPE_CHECKING:
    from jupyter_memory.store import MemoryStore
    from jupyter_memory.types import Answer

# What a store is opened with; it reads the other settings each time.
_OF_THE_STORE = ("space", "embedder", "dimensions", "busy_seconds")


class Session:
    """The store of a shell, opened on first use and opened anew when the settings name another."""

    def __init__(self, shell: InteractiveShell, settings: JupyterMemory, problems: list[str]) -> None:
        self.shell = shell
        self.settings = settings
        self.problems = problems
        self.last: Answer | None = None
        self._store: MemoryStore | None = None
        self._opened_with: tuple[Any, ...] = ()

    @property
    def store(self) -> MemoryStore:
        """Return the open store that the settings name."""
        settings = self.settings
        wanted = (store_path(settings), *(getattr(settings, name) for name in _OF_THE_STORE))
        if self._store is None or self._store.closed or wanted != self._opened_with:
            self.close()
            # Imported late: loaded into every kernel, the extension must not make those wait that never search.
            from jupyter_memory.store import MemoryStore

            # The profile is named at each search, so that a wrong name does not keep the store shut.
            path, space = store_path(settings), settings.space or None
            self._store = MemoryStore(path, settings.embedder, space=space, settings=settings)
            self._opened_with = wanted
            for notice in self._store.notices:
                note(notice)
        return self._store

    def close(self) -> None:
        """Close the store; the next use opens it again."""
        if self._store is not None:
            self._store.close()
            self._store = None


def say(text: str) -> None:
    """Write what a magic did, where ``print`` would."""
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """Write something worth knowing beside a result."""
    sys.stderr.write(f"jupyter-memory: {text}\n")
