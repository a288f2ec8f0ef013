"""`%memfix`: how the last error was mended when it happened before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from IPython.core.error import UsageError

from jupyter_memory.config import has_store
from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.interface.commands.fixes import NOTHING_ALIKE, headline, nothing_found
from jupyter_memory.interface.options import Option
from jupyter_memory.magics.last_error import LastError
from jupyter_memory.magics.output import note, say
from jupyter_memory.magics.parsing import LineParser
from jupyter_memory.magics.session import Session
from jupyter_memory.types import Fix, Run

if TYPE_CHECKING:
    import pandas as pd

    from jupyter_memory.store.memory_store import MemoryStore

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
    """The lookup of one shell: its last error, and the fixes that were shown for it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.last_error = LastError(session.shell, self._hint)
        self._shown: list[Fix] = []

    def run(self, source: str) -> pd.DataFrame | None:
        """Run a line of the magic."""
        if FIX_PARSER.is_call_for_help(source):
            say(FIX_PARSER.help)
            return None
        line = FIX_PARSER.parse(source)
        if line.words:
            raise UsageError(f"%memfix takes options alone; there is: {line.text}")
        if (rank := line.values["insert"]) is not None:
            self._insert(rank)
            return None
        limit = line.values["limit"]
        if limit is not None and limit < 1:
            raise UsageError(f"-n is how many fixes to show, 1 or more, not {limit}.")
        frame = self._look_up(limit or _LIMIT)
        return None if line.silent else frame

    def _look_up(self, limit: int) -> pd.DataFrame | None:
        # Imported late: a kernel without errors need not wait for pandas.
        from jupyter_memory.dataframe.fixes import fixes_frame

        self._shown = self._found(self._session.store_if_any, limit)
        if not self._shown:
            self._say_nothing_found()
            return None
        store = self._session.store_at_once
        self._session.last = self._session.ranked = self._session.latest = store.fixes.answer(self._shown)
        say(headline(self._shown))
        return fixes_frame(self._shown, str(store.path))

    def _found(self, store: MemoryStore | None, limit: int) -> list[Fix]:
        run = self._failed
        return [] if store is None else store.fixes.of_run(run, self.last_error.before, limit)

    @property
    def _failed(self) -> Run:
        run = self.last_error.run
        if run is None:
            raise UsageError("No cell has failed yet: %memfix looks up the last exception of this notebook.")
        return run

    def _say_nothing_found(self) -> None:
        store, run = self._session.store_if_any, self._failed
        similar = [] if store is None else store.fixes.similar(run, self.last_error.before)
        say(nothing_found(run, similar))
        is_interrupted = run.error is not None and run.error.is_interruption
        if not is_interrupted and (store is None or not store.history.status().runs):
            note(
                "The history is empty, so only saved notebooks and notes were searched. To fill it: %memory history on"
            )

    def _insert(self, rank: int) -> None:
        """Put a fix into the next cell: of those shown last, or else of what is found now."""
        fixes = self._shown or self._found(self._session.store_if_any, max(rank, _LIMIT))
        if not 1 <= rank <= len(fixes):
            raise UsageError(f"There is no fix {rank}. " + (_ranks(fixes) if fixes else NOTHING_ALIKE))
        fix = fixes[rank - 1]
        if fix.kind == "note":
            raise UsageError(f"Fix {rank} is a note, not code: %memfix shows its text.")
        self._session.shell.set_next_input(fix.mended.source)
        self._session.store.note_access(fix.mended.memory_id)

    def _hint(self) -> None:
        """Say after an exception that a fix is known, if the setting asks for that."""
        self._shown = []
        settings = self._session.settings
        if not settings.fix_hint or not has_store(settings):
            return
        try:
            # What ran just now mended no error yet, and a store that others write to would keep the cell waiting.
            found = self._found(self._session.store_at_once, 1)
        except (JupyterMemoryError, OSError):
            # Nobody asked: a store that is away, locked or broken is told where somebody does.
            return
        if found:
            note("You mended an error like this one before: %memfix shows how.")


def _ranks(fixes: Sequence[Fix]) -> str:
    return "There is one fix." if len(fixes) == 1 else f"There are fixes 1 to {len(fixes)}."
