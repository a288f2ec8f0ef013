"""The error that ended a run, in plain text and in bounds."""

from __future__ import annotations

import re
from collections.abc import Callable
from traceback import FrameSummary, StackSummary, TracebackException, walk_tb
from types import TracebackType

from jupyter_memory.types import RunError

# Frames kept of a deep stack: where the cell called, and where it failed.
_FIRST, _LAST = 5, 40
_SHELL = "IPython.core.interactiveshell"
_FILE = re.compile(r'^(?P<indent>[ |]*)File "(?P<name>[^"\n]+)", line (?P<line>\d+)', re.MULTILINE)
# What the compiler of a shell calls a file: ("Cell", "In[3]") if it is a cell.
Naming = Callable[[str], tuple[str, str] | None]
# Whether lines of a file may be shown.
Shown = Callable[[str], bool]


def failure(error: BaseException, naming: Naming, shown: Shown, *, ran: bool) -> RunError:
    """Return the error of a run; ``ran`` is False where the cell could not even begin, as with a syntax error.

    Cells are named as IPython names them: Cell In[3]. Of files that may not be shown, their lines are left out.
    """
    frames = _without_shell(error.__traceback__) if ran else None
    found = TracebackException(type(error), error, frames, limit=-_LAST, max_group_width=_LAST, compact=True)
    if frames is not None and len(found.stack) == _LAST:
        found.stack[:0] = StackSummary.extract(walk_tb(frames), limit=_FIRST)
    _hide(found, shown)
    text = _FILE.sub(lambda file: _named(file, naming), "".join(found.format()))
    return RunError(type(error).__name__, _message(error), text)


def _hide(told: TracebackException, shown: Shown) -> None:
    """Leave out lines that may not be shown, also those of causes and of the errors in a group."""
    told.stack[:] = [
        one if shown(one.filename) else FrameSummary(one.filename, one.lineno, one.name, line="") for one in told.stack
    ]
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            _hide(other, shown)


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as wrong:  # noqa: BLE001  the class of the error is the user's own, and may do anything
        return f"<no message: {type(wrong).__name__}>"


def _without_shell(frames: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames in which the shell runs the cell."""
    while frames is not None and frames.tb_frame.f_globals.get("__name__") == _SHELL:
        frames = frames.tb_next
    return frames


def _named(file: re.Match[str], naming: Naming) -> str:
    """Return the line of a frame, with the name that the person knows where its file is a cell."""
    cell = naming(file["name"])
    return file[0] if cell is None else f"{file['indent']}{' '.join(cell)}, line {file['line']}"
