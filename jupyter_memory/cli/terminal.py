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

_DOT = " · "


def results(answer: Answer, cells: int, paint: Paint = unpainted) -> str:
    """Return the hits of a search in lines of at most so many cells; ``paint`` colours a text."""
    now, home = datetime.now(UTC), str(Path("~").expanduser())
    entries = []
    for hit in answer.hits:
        memory = hit.memory
        about = [memory.id, _day(hit), *([fit(", ".join(memory.tags), cells // 3)] if memory.tags else [])]
        if hit.freshness in ("changed", "gone"):
            about.append(f"file {hit.freshness}")
        if path := memory.source:
            left = cells - 4 - sum(width(part) + len(_DOT) for part in about)
            shown = f"~{path[len(home) :]}" if path != home and is_at_or_below(path, home) else path
            about.insert(2, fit_end(shown + (f":{hit.location}" if hit.location else ""), left))
        snippet, marks = hit.plain_snippet()
        facts = (percent(hit.strength), age(memory.event_at, now))
        title = without_file(hit.title, memory.source)
        entries.append(Entry(str(hit.rank), title, snippet, marks, hit.badges, facts, _DOT.join(about)))
    return listing(entries, cells, paint)


def table(answer: Answer, cells: int) -> str:
    """Return memories, one per line: id, day, kind, tier, title."""
    rows = [(hit.memory.id, _day(hit), hit.memory.kind, hit.memory.tier, hit.title) for hit in answer.hits]
    return "\n".join(_fit_line(line, cells) for line in columns(rows).splitlines())


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
    return "\n".join(_fit_line(line, cells) for line in columns(rows).splitlines())


def _fit_line(line: str, cells: int) -> str:
    # The inner spaces of a line of columns are kept.
    if width(line) <= cells:
        return line
    while width(line) > cells - 1:
        line = line[:-1]
    return line.rstrip() + "…"


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
        existing_path(self.settings, f"jupyter-memory{self._named} index FOLDER")
        return self.store_to_fill

    @property
    def store_to_fill(self) -> MemoryStore:
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
        return self.store if has_store(self.settings) else None

    @property
    def shown(self) -> Shown | None:
        found = self.store.activity.last_search("command line")
        if found is None:
            return None
        search, ids = found
        return Shown(ids, search.query, search.query_id, search.profile, "The last search of the command line")

    @property
    def no_results(self) -> str:
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
        return sys.stderr.isatty()

    def close(self) -> None:
        """Close the store if it was opened."""
        if self._store is not None:
            self._store.close()

    def say(self, text: str) -> None:
        click.echo(marked(text))

    def note(self, text: str) -> None:
        click.echo(marked(text), err=True)

    def hint(self, text: str) -> None:
        self.note(text)

    def show_list(self, answer: Answer) -> None:
        for notice in answer.notices:
            self.note(notice)
        if answer.hits:
            self._page(table(answer, _width()))
        elif not answer.notices:
            self.note("There is nothing to show.")

    def show_results(self, answer: Answer, *, short: bool) -> None:
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
        if _is_terminal(sys.stdout):
            self._page(text.shown)
        else:
            self.say(text)

    def open(self, memories: Sequence[Memory]) -> None:
        for memory in memories:
            hit = self._hits.get(memory.id)
            self.say(open_file(memory.source, memory.place() if hit is None else line_of(hit)))

    def show_profile(self, profile: Profile) -> None:
        from jupyter_memory.search.profiles.profile import constants

        self.say(f"{profile.name}: {profile.summary}\nscore = {profile.formula}\n")
        head = ("part", "name", "form", "constant", "value")
        rows = [head]
        for one in constants(profile):
            value = f"{one.value:g}" if isinstance(one.value, float) else str(one.value)
            rows.append((one.part, one.name, one.form, one.constant, value))
        self.say(columns(rows))

    def command(self, text: str) -> str:
        return f"jupyter-memory {text}"

    def with_commands(self, text: str) -> str:
        return text

    def confirm(self, question: str, *, yes: bool, command: str, loss: str = "", plan: str = "") -> bool:
        if plan:
            self.note(plan)
        if yes:
            return True
        if not sys.stdin.isatty():
            nobody = f"{loss}, and there is nobody to ask" if loss else "There is nobody to ask, so nothing was done"
            raise click.UsageError(f"{nobody}. Add --yes to do it.")
        return click.confirm(marked(question), abort=True, err=True)

    def exit_with_error(self, text: str) -> None:
        raise click.ClickException(text)

    def comparing(self, what: str, undo: str) -> nullcontext[None]:
        return nullcontext()

    def embedder_differs(self, used: str) -> None:
        said, origin = self.settings.embedder, self.settings.origin("embedder")
        self.note(f"The setting embedder is still {said!r} ({origin}): make it 'auto' or {used!r}.")


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _width() -> int:
    return max(40, min(120, shutil.get_terminal_size((100, 24)).columns))
