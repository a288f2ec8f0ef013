"""What the command line prints: text, tables, progress."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click
from traitlets import TraitError

from jupyter_memory.config import existing_path, has_store, load_config, store_path
from jupyter_memory.interface.commands.command import Shown
from jupyter_memory.interface.opening import line_of, open_file
from jupyter_memory.text.dates import age
from jupyter_memory.text.display import (
    Entry,
    Paint,
    coloured,
    columns,
    fit,
    fit_end,
    has_colours,
    listing,
    percent,
    unpainted,
    width,
)
from jupyter_memory.text.identifiers import without_file
from jupyter_memory.text.paths import is_at_or_below
from jupyter_memory.text.unicode import marked
from jupyter_memory.types import Answer, Hit
from jupyter_memory.types.search import UNSURE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_memory.history.recorder import Recorder
    from jupyter_memory.search.profiles import Profile
    from jupyter_memory.store.store import MemoryStore
    from jupyter_memory.text.display import WholeText
    from jupyter_memory.types import Memory

# Hits as plain text for a terminal.

_DOT = " · "
_INDENT = 4


def results(answer: Answer, cells: int, paint: Paint = unpainted) -> str:
    """Return the hits of a search in lines of at most so many cells; ``paint`` colours a text."""
    now = datetime.now(UTC)
    return listing([_entry(hit, cells, now) for hit in answer.hits], cells, paint)


def table(answer: Answer, cells: int) -> str:
    """Return memories, one per line: id, day, kind, tier, title."""
    rows = [(hit.memory.id, _day(hit), hit.memory.kind, hit.memory.tier, hit.title) for hit in answer.hits]
    return "\n".join(fit_line(line, cells) for line in columns(rows).splitlines())


def scan(answer: Answer, cells: int) -> str:
    """Return hits, one per line: rank, id, strength, the length of the text in tokens, title."""
    rows = [
        (
            f"{hit.rank:>2}",
            hit.memory.id,
            f"{percent(hit.strength) or format(hit.score, '.4f'):>4}",
            f"{hit.memory.token_estimate} tokens",
            hit.title,
        )
        for hit in answer.hits
    ]
    return "\n".join(fit_line(line, cells) for line in columns(rows).splitlines())


def fit_line(line: str, cells: int) -> str:
    """Return a line of columns cut to so many cells, its inner spaces kept."""
    if width(line) <= cells:
        return line
    while width(line) > cells - 1:
        line = line[:-1]
    return line.rstrip() + "…"


def _entry(hit: Hit, cells: int, now: datetime) -> Entry:
    memory = hit.memory
    snippet, marks = hit.plain_snippet()
    facts = (percent(hit.strength), age(memory.event_at, now))
    title = without_file(hit.title, memory.source)
    return Entry(str(hit.rank), title, snippet, marks, hit.badges, facts, _about(hit, cells))


def _about(hit: Hit, cells: int) -> str:
    memory, room = hit.memory, cells - _INDENT
    about = [memory.id, _day(hit), *([fit(", ".join(memory.tags), cells // 3)] if memory.tags else [])]
    if hit.freshness in ("changed", "gone"):
        about.append(f"file {hit.freshness}")
    if memory.source:
        left = room - sum(width(part) + len(_DOT) for part in about)
        path = memory.source
        home = str(Path("~").expanduser())
        about.insert(
            2,
            fit_end(
                ("~" + path[len(home) :] if path != home and is_at_or_below(path, home) else path)
                + (f":{hit.location}" if hit.location else ""),
                left,
            ),
        )
    return _DOT.join(about)


def _day(hit: Hit) -> str:
    return hit.memory.event_at.astimezone().date().isoformat()


INTERRUPTED = 130


class Terminal:
    """The front of one command that was typed in a terminal or run by a script."""

    def __init__(self, file: str | None, *, colours: bool = True) -> None:
        self.problems: list[str] = []
        self.greets = True
        self.last: Answer | None = None
        self.ranked: Answer | None = None
        self.recorder: Recorder | None = None
        self.startup_folder: Path | None = None
        self.is_loaded_at_start = False
        self.settings = load_config(on_problem=self.problems.append)
        for problem in self.problems:
            self.note(problem)
        self._named = f" --store {shlex.quote(file)}" if file is not None else ""
        self._store: MemoryStore | None = None
        self._hits: dict[str, Hit] = {}
        self._paint = coloured if colours and has_colours(sys.stdout, os.environ) else unpainted
        if file is not None:
            if not file.strip():
                raise click.BadParameter("it is empty: name the store's file", param_hint="--store")
            try:
                self.settings.path = file
            except TraitError as error:
                raise click.BadParameter(str(error), param_hint="--store") from None

    @property
    def store(self) -> MemoryStore:
        """Return the open store that the settings name.

        Raises:
            NoStore: the settings name a store that does not exist.
        """
        existing_path(self.settings, f"jupyter-memory{self._named} index FOLDER")
        return self.store_to_fill

    @property
    def store_to_fill(self) -> MemoryStore:
        """Return the open store that the settings name; it is created if it does not exist."""
        if self._store is None:
            # Imported late: help, completion and wrong usage need not wait for it.
            from jupyter_memory.store.store import MemoryStore

            settings, path = self.settings, store_path(self.settings)
            self._store = MemoryStore(
                path, settings.embedder, settings.profile, settings.space or None, settings=settings
            )
            for notice in (*self._store.notices, self._store.greeting if self.greets else ""):
                if notice:
                    self.note(notice)
        return self._store

    @property
    def store_if_any(self) -> MemoryStore | None:
        """Return the open store, None where there is none yet."""
        return self.store if has_store(self.settings) else None

    @property
    def shown(self) -> Shown | None:
        """Return what ranks stand for: the last search of the command line, as the store's recent searches have it."""
        found = self.store.activity.last_search("command line")
        if found is None:
            return None
        search, ids = found
        return Shown(ids, search.query, search.query_id, search.profile, "The last search of the command line")

    @property
    def no_results(self) -> str:
        """Return what to say of a rank where no search is kept."""
        if not self.settings.log_searches:
            return "Ranks are not known, since the setting log_searches is off: name memories by their ids."
        if not self.store.activity.is_kept:
            return (
                "You may only read this store, so searches are not kept and have no ranks: name memories by their ids."
            )
        return (
            "No search of the command line is kept, so there are no ranks: run jupyter-memory search first, or name a "
            "memory by its id. A search is forgotten with what it showed."
        )

    @property
    def progress(self) -> bool:
        """Return whether standard error is a terminal, so that a progress bar is seen."""
        return sys.stderr.isatty()

    def close(self) -> None:
        """Close the store if it was opened."""
        if self._store is not None:
            self._store.close()

    def say(self, text: str) -> None:
        """Write what the command did to standard output."""
        click.echo(marked(text))

    def note(self, text: str) -> None:
        """Write something worth knowing to standard error."""
        click.echo(marked(text), err=True)

    def hint(self, text: str) -> None:
        """Write advice to standard error, so that standard output holds results alone."""
        self.note(text)

    def show_list(self, answer: Answer) -> None:
        """Print memories, one a line."""
        for notice in answer.notices:
            self.note(notice)
        if answer.hits:
            self._page(table(answer, _width()))
        elif not answer.notices:
            self.note("There is nothing to show.")

    def show_results(self, answer: Answer, *, short: bool) -> None:
        """Print the results of a search, one a line if ``short``."""
        for notice in answer.notices:
            self.note(notice)
        if not answer.hits:
            self.note("Nothing found.")
            return
        self._hits = {hit.memory.id: hit for hit in answer.hits}
        if answer.verdict == "weak":
            self.note(UNSURE)
        self._page(scan(answer, _width()) if short else results(answer, _width(), self._paint))

    def _page(self, shown: str) -> None:
        # They hold marks already for what nobody sees, and colours, which ``say`` would mark.
        lines = shutil.get_terminal_size((100, 24)).lines
        if _is_terminal(sys.stdout) and shown.count("\n") + 1 >= lines:
            click.echo_via_pager(f"{shown}\n", color=self._paint is coloured)
        else:
            click.echo(shown)

    def show_text(self, text: WholeText) -> None:
        """Print a whole text: in a terminal as its reader sees it, in a pipe as it is stored."""
        if _is_terminal(sys.stdout):
            self._page(text.shown)
        else:
            self.say(text)

    def open(self, memories: Sequence[Memory]) -> None:
        """Open the files of memories, in JupyterLab or an editor."""
        for memory in memories:
            hit = self._hits.get(memory.id)
            self.say(open_file(memory.source, memory.place() if hit is None else line_of(hit)))

    def show_profile(self, profile: Profile) -> None:
        """Print a profile's formula and a table of its constants."""
        from jupyter_memory.search.profiles.profile import constants

        self.say(f"{profile.name}: {profile.summary}\nscore = {profile.formula}\n")
        head = ("part", "name", "form", "constant", "value")
        rows = [(one.part, one.name, one.form, one.constant, _as_text(one.value)) for one in constants(profile)]
        self.say(columns([head, *rows]))

    def command(self, text: str) -> str:
        """Return a command as it is typed in a terminal."""
        return f"jupyter-memory {text}"

    def with_commands(self, text: str) -> str:
        """Return a message as it is: its commands are those of a terminal."""
        return text

    def confirm(self, question: str, *, yes: bool, command: str, loss: str = "", plan: str = "") -> bool:
        """Ask the person at the terminal; a program has to pass ``--yes``.

        Raises:
            UsageError: nobody can be asked.
            Abort: the answer is no.
        """
        if plan:
            self.note(plan)
        if yes:
            return True
        if not sys.stdin.isatty():
            nobody = f"{loss}, and there is nobody to ask" if loss else "There is nobody to ask, so nothing was done"
            raise click.UsageError(f"{nobody}. Add --yes to do it.")
        return click.confirm(marked(question), abort=True, err=True)

    def interrupted(self, text: str) -> None:
        """Say what an interrupted command leaves, and exit with 130."""
        self.note(text)
        raise click.exceptions.Exit(INTERRUPTED)

    def exit_with_error(self, text: str) -> None:
        """End the program with exit code 1."""
        raise click.ClickException(text)

    def comparing(self, what: str, undo: str) -> nullcontext[None]:
        """Compare nothing: only a notebook does."""
        return nullcontext()

    def embedder_differs(self, used: str) -> None:
        """Say that the setting names another model, as the next program will follow it."""
        said, origin = self.settings.embedder, self.settings.origin("embedder")
        self.note(f"The setting embedder is still {said!r} ({origin}): make it 'auto' or {used!r}.")


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _width() -> int:
    return max(40, min(120, shutil.get_terminal_size((100, 24)).columns))


def _as_text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
