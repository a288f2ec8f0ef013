"""Real shells that record what they run into a store of the test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest
import shells
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.history import Recorder
from jupyter_memory.storage import Journal, abandoned
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
        return [self.shell.run_cell(cell, store_history=True) for cell in cells]

    def runs(self) -> list[Run]:
        self.recorder.flush()
        if not self.path.exists():
            return []
        with MemoryStore(self.path) as store:
            return store.history.runs(oldest_first=True, limit=10_000)

    def sources(self) -> list[str]:
        return [run.source for run in self.runs()]

    def on_disk(self) -> list[Path]:
        return [path for path in self.path.parent.glob(f".{self.path.name}.runs-*") if path.is_file()]

    def in_memory(self) -> list[Path]:
        """Return the journals in the memory of the machine, none where there is no such file system."""
        try:
            probe = Journal.in_memory(self.path)
        except OSError:
            return []
        probe.remove()
        return list(probe.path.parent.glob(f"{probe.path.name[:-16]}*"))

    def noted(self, text: bytes) -> bytes:
        """Wait until a text has reached the disk, in a journal or the store, and return what all journals hold then."""
        end = monotonic() + 20
        while not any(text in _bytes(path) for path in self.path.parent.iterdir()):
            assert monotonic() < end, "it did not reach the disk"
            sleep(0.01)
        return b"".join(path.read_bytes() for path in (*self.on_disk(), *self.in_memory()))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.is_file() else b""
    except FileNotFoundError:  # the store took the journal in meanwhile
        return b""


@pytest.fixture
def shell_with_recorder(tmp_path: Path) -> Iterator[Callable[[], Recorded]]:
    made: list[Recorded] = []

    def make() -> Recorded:
        made.append(Recorded(tmp_path / "store" / "memory.sqlite"))
        return made[-1]

    yield make
    for one in made:
        one.recorder.stop()
        one.shell.restore_sys_module_state()
        for journal in abandoned(one.path):
            journal.remove()


@pytest.fixture
def recorded(shell_with_recorder: Callable[[], Recorded]) -> Recorded:
    one = shell_with_recorder()
    one.recorder.start()
    return one
