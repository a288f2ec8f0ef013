"""The error that ended a run, in plain text and in bounds, and which lines of cells its traceback may show."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from traceback import FrameSummary, StackSummary, TracebackException, walk_tb

from IPython.core.interactiveshell import ExecutionInfo, InteractiveShell

from jupyter_memory.types import RunError

# Frames kept of a deep stack: where the cell called, and where it failed.
_FIRST, _LAST = 5, 40
_FILE = re.compile(r'^(?P<indent>[ |]*)File "(?P<name>[^"\n]+)", line (?P<line>\d+)', re.MULTILINE)
# What the compiler of a shell calls a file: ("Cell", "In[3]") if it is a cell.
_Naming = Callable[[str], tuple[str, str] | None]
# Whether lines of a file may be shown.
_Shown = Callable[[str], bool]


class Cells:
    """The code of the cells that one shell ran.

    Tracebacks hold lines of any cell that defined a function: only those of cells in the history may be remembered.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        # The number of the run by the name of its code, and the numbers of the runs that are in the history.
        self._numbers: dict[str, int] = {}
        self._kept: set[int] = set()

    def begin(self, info: ExecutionInfo, number: int) -> None:
        """Note that the code of a cell belongs to a run."""
        raw = info.raw_cell or ""
        transformed = vars(info).get("transformed_cell")  # IPython 9.0 does not tell it
        if not transformed:
            try:
                transformed = str(self._shell.transform_cell(raw))  # type: ignore[no-untyped-call]
            except Exception:  # noqa: BLE001  a transformer may raise anything: IPython says it, and the cell never runs
                transformed = raw
        # Versions differ in whether the shell has counted the cell by now. The name holds a hash of the text as well.
        for count in (self._shell.execution_count - 1, self._shell.execution_count):
            self._numbers[self._shell.compile.get_code_name(raw, transformed, count)] = number

    def keep(self, number: int) -> None:
        """Note that a run is in the history."""
        self._kept.add(number)

    def may_show(self, file: str, running: int) -> bool:
        """Return whether the history may hold lines of a file, in the traceback of the run with this number.

        It may where the file is no cell: a traceback of Python holds lines of modules, too.
        """
        number = self._numbers.get(file)
        if number is None:
            return self._shell.compile.format_code_name(file) is None
        return number == running or number in self._kept


def last_shown() -> BaseException | None:
    """Return the exception whose traceback was shown last.

    `%run` and `%%capture` show the error of what they run, and do not pass it on: their cell ends well.
    """
    # Python has it from the first one on.
    return vars(sys).get("last_value")


def failure(error: BaseException, naming: _Naming, shown: _Shown, *, ran: bool) -> RunError:
    """Return the error of a run; ``ran`` is False where the cell could not even begin, as with a syntax error.

    Cells are named as IPython names them: Cell In[3]. Of files that may not be shown, their lines are left out.
    """
    frames = error.__traceback__ if ran else None
    # IPython's own frames, in which it runs a cell, or a magic such as %run a script.
    while frames is not None and str(frames.tb_frame.f_globals.get("__name__")).startswith("IPython."):
        frames = frames.tb_next
    found = TracebackException(type(error), error, frames, limit=-_LAST, max_group_width=_LAST, compact=True)
    if frames is not None and len(found.stack) == _LAST:
        found.stack[:0] = StackSummary.extract(walk_tb(frames), limit=_FIRST)
    _hide(found, shown)

    def named(file: re.Match[str]) -> str:
        cell = naming(file["name"])
        return file[0] if cell is None else f"{file['indent']}{' '.join(cell)}, line {file['line']}"

    text = _FILE.sub(named, "".join(found.format()))
    try:
        message = str(error)
    except Exception as wrong:  # noqa: BLE001  the class of the error is the user's own, and may do anything
        message = f"<no message: {type(wrong).__name__}>"
    return RunError(type(error).__name__, message, text)


def _hide(told: TracebackException, shown: _Shown) -> None:
    told.stack[:] = [
        one if shown(one.filename) else FrameSummary(one.filename, one.lineno, one.name, line="") for one in told.stack
    ]
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            _hide(other, shown)
