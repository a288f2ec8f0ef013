"""A real IPython shell with the extension loaded, its store and settings in a folder of the test."""

import io
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import shells
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from jupyter_memory import MemoryStore, load_config, open_store


class Shell:
    def __init__(self, ip: InteractiveShell) -> None:
        self.ip = ip

    def run(self, cell: str) -> Any:
        outcome = self.ip.run_cell(cell, store_history=False)
        outcome.raise_error()
        return outcome.result

    def mistake(self, cell: str) -> str:
        """Run a cell that must end in a one-line UsageError; return the line."""
        error = self.ip.run_cell(cell, store_history=False).error_in_exec
        # IPython shows the base class alone without a traceback.
        assert type(error) is UsageError, repr(error)
        assert "\n" not in str(error)
        return str(error)

    def printed(self, cell: str) -> str:
        with redirect_stdout(io.StringIO()) as written:
            self.run(cell)
        return written.getvalue()

    def noted(self, cell: str) -> str:
        with redirect_stderr(io.StringIO()) as written, redirect_stdout(io.StringIO()):
            self.run(cell)
        return written.getvalue()

    def ids(self, cell: str) -> list[str]:
        ids: list[str] = self.run(cell)["memory_id"].tolist()
        return ids

    def complete(self, line: str) -> list[str]:
        with provisionalcompleter():
            return [offer.text for offer in self.ip.Completer.completions(line, len(line))]

    def store(self) -> MemoryStore:
        return open_store(settings=load_config())

    def titles(self, cell: str) -> list[str]:
        titles: list[str] = self.run(cell)["title"].tolist()
        return titles

    def asked(self, cell: str) -> str:
        query: str = self.run(cell).attrs["memsearch"]["query"]
        return query


@pytest.fixture
def bare(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.setenv("HOME", str(home))
    ip = shells.made()
    ip.Completer.use_jedi = False
    yield Shell(ip)
    ip.run_line_magic("unload_ext", "jupyter_memory")
    ip.restore_sys_module_state()


@pytest.fixture
def shell(bare: Shell) -> Shell:
    bare.run("%load_ext jupyter_memory")
    return bare


@pytest.fixture
def week(shell: Shell) -> Shell:
    for cell in (
        '%memadd --title "Prices" --tag decision --on 2026-03-02 we scaled the prices to zero mean',
        '%memadd --title "Müller" --tag people --on 2026-03-03 Frau Müller wants λ = 0.3 in the ridge model',
        '%memadd --title "Merge" --tag "to do" --on 2026-03-04 how to merge frames: use left join on customer id',
        '%memadd --title "Regex" --on 2026-03-05 dates match \\d{4}-\\d{2}, the dict is {"a": 1}',
        '%memadd --title "Status" --on 2026-03-06 the server answers -404 for deleted customers',
    ):
        shell.run(cell)
    return shell
