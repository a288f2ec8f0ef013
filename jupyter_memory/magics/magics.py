"""The magics %memsearch, %memadd, %memfix, %memeval and %memory."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import wraps
from threading import get_ident
from time import sleep
from traceback import TracebackException
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, needs_local_scope, no_var_expand
from traitlets import TraitError

from jupyter_memory.config import has_store, store_path
from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.history.recorder import Running, ended, last_shown
from jupyter_memory.interface.commands.command import Halted, as_typed
from jupyter_memory.interface.commands.history import NOTHING_ALIKE, headline, nothing_found
from jupyter_memory.interface.commands.memories import answered, offer_model, remember
from jupyter_memory.interface.options import ADD, SEARCH, Option, search_of, switch_among
from jupyter_memory.magics.memeval import MEMEVAL, MEMEVAL_HELP
from jupyter_memory.magics.parsing import MEMORY, MEMORY_HELP, Line, LineParser, without_semicolon
from jupyter_memory.magics.session import Session
from jupyter_memory.storage.journal import refusal
from jupyter_memory.text.unicode import marked
from jupyter_memory.types import Fix, Memory, Run, RunError

if TYPE_CHECKING:
    import pandas as pd

    from jupyter_memory.dataframe.explorer import MemoryExplorer
    from jupyter_memory.store.store import MemoryStore

IN_A_NOTEBOOK = (
    Option(("--var",), "the query is the value of this variable", "NAME"),
    Option(("--widget",), "a slider for every weight of the profile, and a table that follows them"),
)

_SEARCH_PARSER = LineParser(
    "memsearch",
    """Search what you wrote, ran or saved, by meaning and by exact words; the result is a DataFrame.

    Every point of a score is in its `contrib_…` columns, and `df.memory.explain(1)` puts them into words. Quoted words
    are looked for as a phrase. Without words, the newest memories are shown.

    Examples::

        %memsearch how did we normalise the prices?
        %memsearch "left join" --tag decision --since "last month"
        df = %memsearch -n 20 --kind cell --path reports drop duplicates
        %memsearch --var question
        %memsearch --widget how do I merge frames

        %%memsearch -n 5
        a longer question,
        over several lines
    """,
    (*SEARCH, *IN_A_NOTEBOOK),
    "query",
)
_ADD_PARSER = LineParser(
    "memadd",
    """Remember a text; secrets in it are redacted before it is stored.

    Examples::

        %memadd prices are net of tax --tag decision
        note = %memadd --title "Müller's λ" --on yesterday "we set λ to 0.3"

        %%memadd --title "Cleaning steps" --pin
        1. drop duplicates
        2. fill gaps
    """,
    ADD,
    "text",
)

FIX = (
    Option(("-n", "--limit"), "how many fixes", "N", whole=True),
    Option(("--insert",), "put the fix with this rank into the next cell", "RANK", whole=True),
)
_FIX_PARSER = LineParser(
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
# Fixes that are shown if no number is named.
_LIMIT = 3
_SOON = 0.1  # seconds after a failed cell before a hint is looked up
# How this session is called where only its own runs are meant: no kernel has such a name.
_HERE = "this session"


# The line that says what was remembered.
class _Remembered(str):
    memory: Memory

    def __repr__(self) -> str:
        return str(self)


# A magic with this help. Errors are shown in one line without a traceback, which IPython does only for `UsageError`.
def _magic(help_text: str) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        @wraps(function)
        def run(self: MemoryMagics, *given: Any, **named: Any) -> Any:
            try:
                return function(self, *given, **named)
            except Halted as halted:
                return self.session.say(str(halted))
            except (JupyterMemoryError, TraitError) as error:
                said = as_typed(" ".join(str(error).split()))
            except UsageError as error:
                said = str(error)
            except OSError as error:
                said = f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
            raise UsageError(marked(said))

        run.__doc__ = help_text
        return run

    return decorate


@dataclass(frozen=True, eq=False)
class _Running(Running):
    thread: int
    began: datetime


class MemFix:
    """The lookup of one shell: the last exception that a cell raised or showed, and the fixes shown for it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._shown: list[Fix] = []
        self._last: tuple[BaseException, Run] | None = None
        self._running: list[_Running] = []
        self._hints = ThreadPoolExecutor(1, "jupyter-memory hint")
        self.hinting: Future[None] | None = None  # the lookup after the last exception
        session.shell.events.register("pre_run_cell", self._before)
        session.shell.events.register("post_run_cell", self._after)

    def stop(self) -> None:
        events = self._session.shell.events
        for event, callback in (("pre_run_cell", self._before), ("post_run_cell", self._after)):
            if callback in events.callbacks[event]:
                events.unregister(event, callback)
        self._last = None
        self._running.clear()
        self._hints.shutdown(wait=False)

    def _before(self, info: ExecutionInfo) -> None:
        self._running.append(_Running(info, last_shown(), get_ident(), datetime.now(UTC)))

    def _after(self, result: ExecutionResult | None) -> None:
        cell = ended(self._running, result)
        if cell is not None:
            self._running.remove(cell)
        # Without a result, the shell is about to pass on an error of the event loop. What a cell runs, such as the body
        # of %%capture, belongs to that cell, which sees that its error was shown.
        if result is None or any(one.thread == get_ident() for one in self._running):
            return
        raised = result.error_before_exec or result.error_in_exec
        if raised is None and cell is not None and (found := last_shown()) is not cell.shown:
            raised = found
        # What our own magics say in one line is no error of the notebook's code.
        if raised is None or isinstance(raised, UsageError | JupyterMemoryError):
            return
        source = "" if result.info is None else str(result.info.raw_cell)
        began = datetime.now(UTC) if cell is None else cell.began
        self._last = raised, Run(source, began, _HERE, result.execution_count or 0, "error")
        self._shown = []
        session, asked = self._session, self._session.settings.fix_hint
        if (session.recorder.is_on if asked is None else asked) and has_store(session.settings):
            # The cell does not wait. In its context, what the thread shows belongs to its output.
            self.hinting = self._hints.submit(copy_context().run, self._hint, self._last)

    def _hint(self, last: tuple[BaseException, Run]) -> None:
        def is_past() -> bool:
            return self._last is not last or bool(self._running)

        try:
            # The cell's reply goes first, and a cell that is run at once.
            sleep(_SOON)
            if is_past():
                return
            from jupyter_memory.search.fixes import SURE

            # What ran just now mended no error yet.
            found = self._found(self._session.store_at_once, 1)
            if found and found[0].strength >= SURE and not is_past():
                self._session.hint_fix(found[0])
        except Exception:  # noqa: BLE001  nothing was asked for: a command reports a store that is away or broken
            return

    def run(self, line: Line) -> pd.DataFrame | None:
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
            similar = [] if store is None else store.fixes.similar(failed, self._before_it(failed))
            session.say(nothing_found(failed, similar))
            is_interrupted = failed.error is not None and failed.error.is_interruption
            if not is_interrupted and (store is None or not store.history.status().runs):
                why = refusal(store_path(session.settings))
                empty = f"The history is empty, so only saved notebooks and notes were searched. {why}".rstrip()
                session.note_once("empty history", empty)
            session.offer_history()
            return None
        from jupyter_memory.dataframe.frame import fixes_frame

        store = session.store_at_once
        session.last = session.ranked = session.latest = store.fixes.answer(self._shown)
        session.say(headline(self._shown))
        session.offer_history()
        frame = fixes_frame(self._shown, str(store.path))
        return None if line.silent else frame

    def _found(self, store: MemoryStore | None, limit: int) -> list[Fix]:
        run = self._failed
        return [] if store is None else store.fixes.of_run(run, self._before_it(run), limit)

    @property
    def _failed(self) -> Run:
        if self._last is None:
            raise UsageError("No cell has failed yet: %memfix looks up the last exception of this notebook.")
        raised, run = self._last
        # Python's own form of a traceback has groups and all chains, and costs a fraction of IPython's.
        told = TracebackException.from_exception(raised)
        return replace(run, error=RunError(type(raised).__name__, str(told), "".join(told.format())))

    # The cells in which the variables of the one that failed are looked for.
    def _before_it(self, run: Run) -> list[Run]:
        manager = self._session.shell.history_manager
        cells = [] if manager is None else manager.input_hist_raw[: run.number][-25:]
        now = datetime.now(UTC)
        return [Run(cell, now, _HERE, place, "ok") for place, cell in enumerate(cells) if cell]


@magics_class
class MemoryMagics(Magics):
    """The memory of a notebook: search it, add to it, look after it."""

    def __init__(self, shell: InteractiveShell, session: Session) -> None:
        super().__init__(shell)
        self.session = session
        self.fixing = MemFix(session)

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    @_magic(_SEARCH_PARSER.help)
    def memsearch(
        self, line: str, cell: str | None = None, local_ns: Mapping[str, Any] | None = None
    ) -> pd.DataFrame | MemoryExplorer | None:
        session, parsed = self.session, _SEARCH_PARSER.parse(line)
        names = ChainMap(dict(local_ns or {}), session.shell.user_ns)
        session.note_unexpanded(line, names, "To search for the value of a variable, use --var NAME.")
        query, silent = self._query(parsed, cell, names)
        if said := switch_among(parsed.words, SEARCH):
            session.note(said)
        widget, short = parsed.values["widget"], parsed.values["scan"]
        if widget and short:
            raise UsageError("--widget shows whole rows and --scan short ones: leave one of them out.")
        if parsed.values["in"] and widget:
            raise UsageError("Sliders are of one store: leave --in or --widget out.")
        if widget and not session.shell.has_trait("kernel"):
            session.note("Sliders need a notebook; this is the result without them.")
            widget = False

        found: pd.DataFrame | MemoryExplorer
        arguments = {"profile": session.settings.profile, **search_of(parsed.values, datetime.now(UTC))}
        if widget:
            found = session.store.explore(query, **arguments)
            session.searched(found.answer)
        elif not query.strip() and parsed.values["var"] is None:
            asked = {"limit": arguments.get("limit"), "filters": arguments["filters"]}
            session.latest = answered(session, None, parsed.values["in"], asked)
            found = session.frame(session.latest, short=short)
        else:
            answer = answered(session, query, parsed.values["in"], arguments)
            session.searched(answer)
            found = session.frame(answer, short=short)
            offer_model(session, answer)
        return None if silent else found

    def _query(self, line: Line, cell: str | None, known: Mapping[str, Any]) -> tuple[str, bool]:
        given = [source for source in (line.words, cell, line.values["var"]) if source]
        if len(given) > 1:
            raise UsageError("The query is given twice: write it once, in the line, below it, or as --var NAME.")
        if cell is not None:
            body, silent = without_semicolon(cell)
            return body, silent or line.silent
        if (name := line.values["var"]) is None:
            return line.query, line.silent
        if name not in known:
            raise UsageError(f"There is no variable {name} for --var.")
        value = known[name]
        if not isinstance(value, str):
            raise UsageError(f"--var takes a variable that holds text; {name} is of type {type(value).__name__}.")
        return value, line.silent

    @no_var_expand
    @line_cell_magic
    @_magic(_ADD_PARSER.help)
    def memadd(self, line: str, cell: str | None = None) -> _Remembered | None:
        parsed = _ADD_PARSER.parse(line)
        if cell is not None and parsed.words:
            raise UsageError(f"The text belongs below the line of %%memadd; for a title write: --title {line}")
        text = parsed.text if cell is None else cell.strip("\n")
        add = 'To remember a value: from jupyter_memory import open_store; open_store().add(f"…").'
        self.session.note_unexpanded(line, self.session.shell.user_ns, add)
        if not text.strip():
            raise UsageError("There is nothing to remember: %memadd is followed by a text.")
        memory, said = remember(self.session, text, parsed.values)
        remembered = _Remembered(said)
        remembered.memory = memory
        return None if parsed.silent else remembered

    @no_var_expand
    @line_magic
    @_magic(_FIX_PARSER.help)
    def memfix(self, line: str) -> pd.DataFrame | None:
        return self.fixing.run(_FIX_PARSER.parse(line))

    @line_magic
    @_magic(MEMEVAL_HELP)
    def memeval(self, line: str) -> Any:
        return MEMEVAL.run(self.session, line)

    @line_magic
    @_magic(MEMORY_HELP)
    def memory(self, line: str) -> Any:
        return MEMORY.run(self.session, line)
