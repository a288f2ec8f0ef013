"""What a shell keeps between its magics: the settings, the open store, the last answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

from IPython.core.interactiveshell import InteractiveShell

from jupyter_memory.config import JupyterMemory, existing_path, store_path
from jupyter_memory.magics.wording import as_typed

if TYPE_CHECKING:
    import pandas as pd

    from jupyter_memory.evaluation.golden import GoldenRun
    from jupyter_memory.store.memory_store import MemoryStore
    from jupyter_memory.types import Answer

# What a store is opened with; it reads the other settings each time.
_OF_THE_STORE = ("space", "embedder", "dimensions", "busy_seconds", "idle_minutes")


class Session:
    """The store of a shell, opened on first use and opened anew when the settings name another."""

    def __init__(self, shell: InteractiveShell, settings: JupyterMemory, problems: list[str]) -> None:
        self.shell = shell
        self.settings = settings
        self.problems = problems
        self.last: Answer | None = None
        self.measured: list[GoldenRun] = []
        # Whether a store that is made now says which model it takes: not to somebody who names one.
        self.greets = True
        self._store: MemoryStore | None = None
        self._opened_with: tuple[Any, ...] = ()

    @property
    def store(self) -> MemoryStore:
        """Return the open store that the settings name.

        Raises:
            NoStore: a store is named and not there.
        """
        existing_path(self.settings, "%memory index FOLDER")
        return self.store_to_fill

    @property
    def store_to_fill(self) -> MemoryStore:
        """Return the open store that the settings name, made if it is not there."""
        settings = self.settings
        wanted = (store_path(settings), *(getattr(settings, name) for name in _OF_THE_STORE))
        if self._store is None or self._store.closed or self._store.replaced or wanted != self._opened_with:
            self.close()
            # Imported late: loaded into every kernel, the extension must not make those wait that never search.
            from jupyter_memory.store.memory_store import MemoryStore

            # The profile is named at each search, so that a wrong name does not keep the store shut.
            path, space = store_path(settings), settings.space or None
            self._store = MemoryStore(path, settings.embedder, space=space, settings=settings)
            self._opened_with = wanted
            for notice in (*self._store.notices, self._store.greeting if self.greets else ""):
                if notice:
                    note(notice)
        return self._store

    def close(self) -> None:
        """Close the store; the next use opens it again."""
        if self._store is not None:
            self._store.close()
            self._store = None


def shown(answer: Answer, mode: Literal["full", "scan"] = "full") -> pd.DataFrame:
    """Return an answer as a DataFrame, and write what it has to say beside it."""
    # Imported late: a kernel that never searches need not wait for the store.
    from jupyter_memory.store.memory_store import frame_of

    for notice in answer.notices:
        note(notice)
    return frame_of(answer, mode)


def say(text: str) -> None:
    """Write what a magic did, where ``print`` would."""
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """Write something worth knowing beside a result."""
    sys.stderr.write(f"jupyter-memory: {as_typed(text)}\n")
