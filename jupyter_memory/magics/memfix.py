"""%memfix, and the last error of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from threading import get_ident
from traceback import TracebackException
from typing import TYPE_CHECKING

from IPython.core.error import UsageError
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult

from jupyter_memory.config import has_store
from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.history.recorder import last_shown
from jupyter_memory.interface.commands.history import NOTHING_ALIKE, headline, nothing_found
from jupyter_memory.interface.options import Option
from jupyter_memory.magics.parsing import Line, LineParser
from jupyter_memory.magics.session import Session
from jupyter_memory.types import Fix, Run, RunError

if TYPE_CHECKING:
    import pandas as pd

    from jupyter_memory.store.store import MemoryStore

# How this session is called where only its own runs are meant: no kernel has such a name.
_HERE = "this session"


@dataclass(frozen=True, eq=False)
class _Running:
    info: ExecutionInfo
    thread: int
    began: datetime
    shown: BaseException | None


FIX = (
    Option(("-n", "--limit"), "how many fixes", "N", whole=True),
    Option(("--insert",), "put the fix with this rank into the next cell", "RANK", whole=True),
)
FIX_PARSER = LineParser(
    "memfix",
    """Show how the last error was mended when it happened before.

    The error is compared with those in the history of what you ran, in the outputs of indexed notebooks and in notes:
    by its type, its message without names and numbers, the call that failed, and the functions of the library. The
    result is a DataFrame: the cell with the similar error, the one that fixed it, and their difference.

    Examples::

        %memfix
        %memfix --insert 1
        fixes = %memfix -n 5
    """,
    FIX,
    "",
)
_LIMIT = 3


class MemFix:
    """The lookup of one shell: the last exception that a cell raised or showed, and the fixes shown for it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._shown: list[Fix] = []
        self._source = ""
        self._number = 0
        self._began = datetime.now(UTC)
        self._raised: BaseException | None = None
        self._running: list[_Running] = []
        session.shell.events.register("pre_run_cell", self._before)
        session.shell.events.register("post_run_cell", self._after)

    def stop(self) -> None:
        """Keep no more exceptions."""
        events = self._session.shell.events
        for event, callback in (("pre_run_cell", self._before), ("post_run_cell", self._after)):
            if callback in events.callbacks[event]:
                events.unregister(event, callback)
        self._raised = None
        self._running.clear()

    def _before(self, info: ExecutionInfo) -> None:
        self._running.append(_Running(info, get_ident(), datetime.now(UTC), last_shown()))

    def _after(self, result: ExecutionResult | None) -> None:
        info = None if result is None else result.info
        if info is None:
            ended = next(reversed(self._running), None)
        else:
            same = [one for one in self._running if one.info is info]
            # After a fault outside of the cell's code, IPython makes up another description of the cell.
            alike = [one for one in self._running if one.info.raw_cell == info.raw_cell]
            ended = next(reversed(same or alike), None)
        if ended is not None:
            self._running.remove(ended)
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
        self._source = "" if info is None else str(info.raw_cell)
        self._began = datetime.now(UTC) if ended is None else ended.began
        self._hint()

    def _hint(self) -> None:
        self._shown = []
        settings = self._session.settings
        if not settings.fix_hint or not has_store(settings):
            return
        try:
            # What ran just now mended no error yet, and a store that others write to would keep the cell waiting.
            found = self._found(self._session.store_at_once, 1)
        except (JupyterMemoryError, OSError):
            # Nothing was asked for: a command reports a store that is away, locked or broken.
            return
        if found:
            self._session.note("You mended an error like this one before: %memfix shows how.")

    def run(self, line: Line) -> pd.DataFrame | None:
        """Run a line of the magic."""
        session = self._session
        if line.words:
            raise UsageError(f"%memfix takes options alone; there is: {line.text}")
        if (rank := line.values["insert"]) is not None:
            fixes = self._shown or self._found(session.store_if_any, max(rank, _LIMIT))
            if not 1 <= rank <= len(fixes):
                there = "There is one fix." if len(fixes) == 1 else f"There are fixes 1 to {len(fixes)}."
                raise UsageError(f"There is no fix {rank}. {there if fixes else NOTHING_ALIKE}")
            fix = fixes[rank - 1]
            if fix.kind == "note":
                raise UsageError(f"Fix {rank} is a note, not code: %memfix shows its text.")
            session.shell.set_next_input(fix.mended.source)
            session.store.note_access(fix.mended.memory_id)
            return None
        limit = line.values["limit"]
        if limit is not None and limit < 1:
            raise UsageError(f"-n is how many fixes to show, 1 or more, not {limit}.")
        self._shown = self._found(session.store_if_any, limit or _LIMIT)
        if not self._shown:
            store, failed = session.store_if_any, self._failed
            session.say(nothing_found(failed, [] if store is None else store.fixes.similar(failed, self._earlier)))
            is_interrupted = failed.error is not None and failed.error.is_interruption
            if not is_interrupted and (store is None or not store.history.status().runs):
                session.note(
                    "The history is empty, so only saved notebooks and notes were searched. To fill it: "
                    "%memory history on"
                )
            return None
        # Imported late: a kernel without errors need not wait for pandas.
        from jupyter_memory.dataframe.frame import fixes_frame

        store = session.store_at_once
        session.last = session.ranked = session.latest = store.fixes.answer(self._shown)
        session.say(headline(self._shown))
        frame = fixes_frame(self._shown, str(store.path))
        return None if line.silent else frame

    def _found(self, store: MemoryStore | None, limit: int) -> list[Fix]:
        run = self._failed
        return [] if store is None else store.fixes.of_run(run, self._earlier, limit)

    @property
    def _failed(self) -> Run:
        raised = self._raised
        if raised is None:
            raise UsageError("No cell has failed yet: %memfix looks up the last exception of this notebook.")
        # Python's own form of a traceback has groups and all chains, and costs a fraction of IPython's.
        told = TracebackException.from_exception(raised)
        error = RunError(type(raised).__name__, str(told), "".join(told.format()))
        return Run(self._source, self._began, _HERE, self._number, "error", error=error)

    # The cells before it, in which the variables of the one that failed are looked for.
    @property
    def _earlier(self) -> list[Run]:
        manager = self._session.shell.history_manager
        cells = [] if manager is None else manager.input_hist_raw[: self._number][-25:]
        now = datetime.now(UTC)
        return [Run(cell, now, _HERE, place, "ok") for place, cell in enumerate(cells) if cell]
