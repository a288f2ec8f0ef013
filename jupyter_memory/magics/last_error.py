"""The last exception of a shell: the cell that raised it, and the cells before it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from traceback import TracebackException

from IPython.core.error import UsageError
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.types import Run, RunError

# Cells before the one that failed, in which its variables are looked for.
_BEFORE = 25
# How this session is called where only its own runs are meant: no kernel has such a name.
_HERE = "this session"
Hint = Callable[[], None]


class LastError:
    """Keeps the last exception that a cell of a shell raised; ``hint`` is called after each."""

    def __init__(self, shell: InteractiveShell, hint: Hint) -> None:
        self._shell = shell
        self._hint = hint
        self._source = ""
        self._number = 0
        self._raised: BaseException | None = None
        shell.events.register("post_run_cell", self._after)

    def stop(self) -> None:
        """Keep no more exceptions."""
        if self._after in self._shell.events.callbacks["post_run_cell"]:
            self._shell.events.unregister("post_run_cell", self._after)
        self._raised = None

    @property
    def run(self) -> Run | None:
        """Return the run that failed last, with its error; None if none did since the magics were loaded."""
        raised = self._raised
        if raised is None:
            return None
        # Python's own form of a traceback has groups and all chains, and costs a fraction of IPython's.
        told = TracebackException.from_exception(raised)
        error = RunError(type(raised).__name__, str(told), "".join(told.format()))
        return Run(self._source, datetime.now(UTC), _HERE, self._number, "error", error=error)

    @property
    def before(self) -> list[Run]:
        """Return the cells that ran before the one that failed, in their order."""
        manager = self._shell.history_manager
        cells = [] if manager is None else manager.input_hist_raw[: self._number][-_BEFORE:]
        now = datetime.now(UTC)
        return [Run(cell, now, _HERE, place, "ok") for place, cell in enumerate(cells) if cell]

    def _after(self, result: ExecutionResult | None) -> None:
        # Without a result, the shell is about to pass on an error of the event loop.
        if result is None:
            return
        raised = result.error_before_exec or result.error_in_exec
        # What our own magics say in one line is no error of the notebook's code.
        if raised is None or isinstance(raised, UsageError | JupyterMemoryError | SystemExit):
            return
        self._raised, self._number = raised, result.execution_count or 0
        self._source = "" if result.info is None else str(result.info.raw_cell)
        self._hint()
