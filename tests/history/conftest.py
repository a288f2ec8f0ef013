"""Real shells that record what they run into a store of the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import shells
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.history import Recorder
from jupyter_memory.storage import journal as files
from jupyter_memory.types import Run


class Recorded:
    """A shell with a recorder, its store, and the notices that it wrote."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings = JupyterMemory(path=str(path))
        self.notices: list[str] = []
        self.shell: InteractiveShell = shells.made()
        self.recorder = Recorder(self.shell, self.settings, self.notices.append)

    def run(self, *cells: str) -> list[ExecutionResult]:
        """Run cells as a notebook does."""
        return [self.shell.run_cell(cell, store_history=True) for cell in cells]

    def runs(self) -> list[Run]:
        """Return what the store holds by now, in the order in which it ran."""
        self.recorder.flush()
        if not self.path.exists():
            return []
        with MemoryStore(self.path) as store:
            return store.history.runs(oldest_first=True, limit=10_000)

    def left(self) -> list[Path]:
        """Return the journals that nobody holds."""
        journals = list(files.abandoned(self.path))
        for journal in journals:
            journal.close()
        return [journal.path for journal in journals]


@pytest.fixture
def shell_with_recorder(tmp_path: Path) -> Iterator[Callable[[], Recorded]]:
    """Give a function that makes a shell with a recorder that is off."""
    made: list[Recorded] = []

    def make() -> Recorded:
        made.append(Recorded(tmp_path / "store" / "memory.sqlite"))
        return made[-1]

    yield make
    for one in made:
        one.recorder.stop()
        one.shell.restore_sys_module_state()
        for journal in files.abandoned(one.path):
            journal.remove()


@pytest.fixture
def recorded(shell_with_recorder: Callable[[], Recorded]) -> Recorded:
    """Give a shell that records."""
    one = shell_with_recorder()
    one.recorder.start()
    return one
