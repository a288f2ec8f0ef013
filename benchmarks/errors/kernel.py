"""Runs notebooks in real IPython shells, each in a process and a folder of its own."""

from __future__ import annotations

import gc
import importlib
import io
import multiprocessing
import os
import resource
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path

from cells import Notebook
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

LIBRARIES = (
    "pandas.io.formats.format",
    "matplotlib.pyplot",
    "matplotlib.backends.backend_agg",
    "sklearn.ensemble",
    "sklearn.pipeline",
    "sqlalchemy.orm",
    "duckdb",
)
PROCESSES = 2
SECONDS = 60
ADDRESS_SPACE = 12 << 30  # bytes: an allocation that fails must fail on every machine


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a cell; the last three are None for a cell that ran without failing."""

    ename: str | None = None
    evalue: str | None = None
    traceback: list[str] | None = None


class RecordingShell(InteractiveShell):
    """Keeps of an exception what ipykernel sends to the front end."""

    raised: Outcome | None = None

    def _showtraceback(self, etype: type[BaseException], evalue: BaseException, stb: list[str]) -> None:
        self.raised = Outcome(str(etype.__name__), str(evalue), list(stb))


def load_libraries() -> None:
    """Import the installed libraries once, so that the processes forked from this one have them already."""
    for name in LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()


def run_all(notebooks: Sequence[Notebook], folders: Sequence[Path]) -> Iterator[list[Outcome]]:
    """Yield the outcomes of each notebook's cells, in the order given; every notebook runs in a fresh process."""
    jobs = list(zip(notebooks, folders, strict=True))
    with multiprocessing.get_context("fork").Pool(PROCESSES, maxtasksperchild=1) as pool:
        yield from pool.imap(_run, jobs, chunksize=1)


def _run(job: tuple[Notebook, Path]) -> list[Outcome]:
    notebook, folder = job
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    _prepare_process()
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        shell = _shell(folder)
        return [_outcome(shell, cell.source) for cell in notebook.cells]


def _prepare_process() -> None:
    here = str(Path(__file__).parent)
    sys.path[:] = ["", *(entry for entry in sys.path if entry not in ("", here))]  # as ipykernel starts
    sys.argv[:] = ["ipykernel_launcher"]
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a build in the background is started without it
    signal.alarm(SECONDS)


def _shell(folder: Path) -> RecordingShell:
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "neutral"
    return RecordingShell.instance(config=config, ipython_dir=str(folder / ".ipython"))


def _outcome(shell: RecordingShell, source: str) -> Outcome:
    shell.raised = None
    result = shell.run_cell(source, store_history=True)
    error = result.error_before_exec or result.error_in_exec
    if error is None:
        return Outcome()
    # IPython prints a group of exceptions itself, as Python does, and shows no traceback of its own.
    return shell.raised or Outcome(type(error).__name__, str(error), traceback.format_exception(error))
