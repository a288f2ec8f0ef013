"""The magics %memsearch, %memadd, %memfix, %memeval and %memory."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, needs_local_scope, no_var_expand
from traitlets import TraitError

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.interface.commands.command import Halted
from jupyter_memory.interface.commands.memories import offer_model, remember
from jupyter_memory.interface.messages import as_typed
from jupyter_memory.interface.options import ADD, SEARCH, Option, search_of, switch_among
from jupyter_memory.magics.memeval import MEMEVAL, MEMEVAL_HELP
from jupyter_memory.magics.memfix import FIX_PARSER, MemFix
from jupyter_memory.magics.parsing import MEMORY, MEMORY_HELP, Line, LineParser, without_semicolon
from jupyter_memory.magics.session import Session
from jupyter_memory.text.unicode import marked
from jupyter_memory.types import Memory

if TYPE_CHECKING:
    import pandas as pd

    from jupyter_memory.dataframe.explorer import MemoryExplorer

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
        if widget and not session.shell.has_trait("kernel"):
            session.note("Sliders need a notebook; this is the result without them.")
            widget = False

        found: pd.DataFrame | MemoryExplorer
        arguments = {"profile": session.settings.profile, **search_of(parsed.values, datetime.now(UTC))}
        if widget:
            found = session.store.explore(query, **arguments)
            session.searched(found.answer)
        elif not query.strip() and parsed.values["var"] is None:
            session.latest = session.store.browsed(limit=arguments.get("limit"), filters=arguments["filters"])
            found = session.frame(session.latest, short=short)
        else:
            answer = session.store.hits(query, **arguments)
            session.searched(answer)
            found = session.frame(answer, short=short)
            offer_model(session, answer)
        return None if silent else found

    def _query(self, line: Line, cell: str | None, known: Mapping[str, Any]) -> tuple[str, bool]:
        # From the line, the cell's body or a known variable.
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
    @_magic(FIX_PARSER.help)
    def memfix(self, line: str) -> pd.DataFrame | None:
        return self.fixing.run(FIX_PARSER.parse(line))

    @line_magic
    @_magic(MEMEVAL_HELP)
    def memeval(self, line: str) -> Any:
        return MEMEVAL.run(self.session, line)

    @line_magic
    @_magic(MEMORY_HELP)
    def memory(self, line: str) -> Any:
        return MEMORY.run(self.session, line)
