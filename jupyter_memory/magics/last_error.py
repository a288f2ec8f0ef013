"""The last exception of a shell: the cell that raised it, and the cells before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import get_ident
from traceback import TracebackException

from IPython.core.error import UsageError
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.history.failure import last_shown
from jupyter_memory.types import Run, RunError

# Cells before the one that failed, in which its variables are looked for.
_BEFORE = 25
# How this session is called where only its own runs are meant: no kernel has such a name.
_HERE = "this session"
Hint = Callable[[], None]


@dataclass(frozen=True, eq=False)
class _Running:
    """A cell that runs; ``shown`` is the exception that had been shown last when it began."""

    info: ExecutionInfo
    thread: int
    began: datetime
    shown: BaseException | None


class LastError:
    """Keeps the last exception that a cell of a shell raised or showed; ``hint`` is called after each."""

    def __init__(self, shell: InteractiveShell, hint: Hint) -> None:
        self._shell = shell
        self._hint = hint
        self._source = ""
        self._number = 0
        self._began = datetime.now(UTC)
        self._raised: BaseException | None = None
        self._running: list[_Running] = []
        shell.events.register("pre_run_cell", self._before)
        shell.events.register("post_run_cell", self._after)

    def stop(self) -> None:
        """Keep no more exceptions."""
        for event, callback in (("pre_run_cell", self._before), ("post_run_cell", self._after)):
            if callback in self._shell.events.callbacks[event]:
                self._shell.events.unregister(event, callback)
        self._raised = None
        self._running.clear()

    @property
    def run(self) -> Run | None:
        """Return the run that failed last, with its error; None if none did since the magics were loaded."""
        raised = self._raised
        if raised is None:
            return None
        # Python's own form of a traceback has groups and all chains, and costs a fraction of IPython's.
        told = TracebackException.from_exception(raised)
        error = RunError(type(raised).__name__, str(told), "".join(told.format()))
        return Run(self._source, self._began, _HERE, self._number, "error", error=error)

    @property
    def before(self) -> list[Run]:
        """Return the cells that ran before the one that failed, in their order."""
        manager = self._shell.history_manager
        cells = [] if manager is None else manager.input_hist_raw[: self._number][-_BEFORE:]
        now = datetime.now(UTC)
        return [Run(cell, now, _HERE, place, "ok") for place, cell in enumerate(cells) if cell]

    def _before(self, info: ExecutionInfo) -> None:
        self._running.append(_Running(info, get_ident(), datetime.now(UTC), last_shown()))

    def _after(self, result: ExecutionResult | None) -> None:
        ended = self._ended(result)
        # Without a result, the shell is about to pass on an error of the event loop. What a cell runs, such as the body
        # of %%capture, belongs to that cell, which sees that its error was shown.
        if result is None or any(one.thread == get_ident() for one in self._running):
            return
        raised = result.error_before_exec or result.error_in_exec
        if raised is None and ended is not None and (found := last_shown()) is not ended.shown:
            raised = found
        # What our own magics say in one line is no error of the notebook's code.
        if raised is None or isinstance(raised, UsageError | JupyterMemoryError):
            return
        self._raised, self._number = raised, result.execution_count or 0
        self._source = "" if result.info is None else str(result.info.raw_cell)
        self._began = datetime.now(UTC) if ended is None else ended.began
        self._hint()

    def _ended(self, result: ExecutionResult | None) -> _Running | None:
        """Return the cell that a result belongs to, which runs no more; None for one that began before this watch."""
        info = None if result is None else result.info
        if info is None:
            return self._running.pop() if self._running else None
        same = [one for one in self._running if one.info is info]
        # After a fault outside of the cell's code, IPython makes up another description of the cell.
        alike = [one for one in self._running if one.info.raw_cell == info.raw_cell]
        ended = next(reversed(same or alike), None)
        if ended is not None:
            self._running.remove(ended)
        return ended
