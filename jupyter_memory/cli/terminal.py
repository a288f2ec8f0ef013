"""What the command line prints: text, tables, progress."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click
from traitlets import TraitError

from jupyter_memory.config import existing_path, load_config
from jupyter_memory.interface.commands.command import Front, Shown, WrongUsage
from jupyter_memory.interface.commands.history import other_versions
from jupyter_memory.interface.commands.memories import line_of, open_file
from jupyter_memory.text import display
from jupyter_memory.text.dates import age, iso_day
from jupyter_memory.text.identifiers import without_file
from jupyter_memory.text.paths import is_at_or_below
from jupyter_memory.text.unicode import marked
from jupyter_memory.types import Answer, Hit
from jupyter_memory.types.search import UNANSWERED, told

if TYPE_CHECKING:
    from jupyter_memory.search.profiles import Profile
    from jupyter_memory.store.listed import Stores
    from jupyter_memory.store.store import MemoryStore
    from jupyter_memory.text.display import WholeText
    from jupyter_memory.types import Memory

_DOT = " · "
_LEAST_SAID = 12  # cells in which the description of a folder says something


def results(answer: Answer, cells: int, paint: display.Paint = display.unpainted) -> str:
    """Return the hits of a search in lines of at most so many cells; ``paint`` colours a text."""
    now, home = datetime.now(UTC), str(Path("~").expanduser())
    entries = []
    for hit in answer.hits:
        memory = hit.memory
        about = [hit.address, iso_day(memory.event_at), display.fit(", ".join(memory.tags), cells // 3)]
        if hit.freshness in ("changed", "gone"):
            about.append(f"file {hit.freshness}")
        if path := memory.source:
            left = cells - 4 - sum(display.width(part) + len(_DOT) for part in about if part)
            shown = f"~{path[len(home) :]}" if path != home and is_at_or_below(path, home) else path
            about.insert(2, display.fit_end(memory.placed(shown, hit.location), left))
        left = cells - 4 - sum(display.width(part) + len(_DOT) for part in about if part)
        if left >= _LEAST_SAID:
            about.append(display.fit(hit.folder_description, left))
        snippet, marks = hit.plain_snippet()
        facts = (display.percent(hit.strength), age(memory.event_at, now))
        title = without_file(hit.title, memory.source)
        told = _DOT.join(filter(None, about))
        entries.append(display.Entry(str(hit.rank), title, snippet, marks, hit.badges, facts, told))
    return display.listing(entries, cells, paint)


def _lines(rows: Sequence[tuple[str, ...]], cells: int) -> str:
    lines = display.columns(rows).splitlines()
    for place, line in enumerate(lines):
        if display.width(line) > cells:
            # The inner spaces of a line of columns are kept.
            while display.width(line) > cells - 1:
                line = line[:-1]
            lines[place] = line.rstrip() + "…"
    return "\n".join(lines)


INTERRUPTED = 130


class Terminal(Front):
    """The front of one command that was typed in a terminal or run by a script."""

    prefix = "jupyter-memory"

    def __init__(self, file: str | None, *, colours: bool = True) -> None:
        self.problems: list[str] = []
        self.settings = load_config(on_problem=self.problems.append)
        for problem in self.problems:
            self.note(problem)
        self._named = file is not None
        self._store: MemoryStore | None = None
        self._hits: dict[str, Hit] = {}
        self.has_found = False  # what is shown answers the query, or may
        is_painted = colours and display.has_colours(sys.stdout, os.environ)
        self._paint = display.coloured if is_painted else display.unpainted
        if file is not None:
            self.prefix += f" --store {shlex.quote(file)}"
            if not file.strip():
                raise click.BadParameter("it is empty: name the store's file", param_hint="--store")
            try:
                self.settings.path = file
            except TraitError as error:
                raise click.BadParameter(str(error), param_hint="--store") from None

    @property
    def store(self) -> MemoryStore:
        existing_path(self.settings, self.command("index FOLDER"))
        return self.store_to_fill

    @property
    def store_to_fill(self) -> MemoryStore:
        if self._store is None:
            self._store = self._opened(self.settings.profile)
        return self._store

    @property
    def stores(self) -> Stores:
        if self._named:
            raise WrongUsage("--store names one store alone, so leave out --in, --to and ids of other stores.")
        return super().stores

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
            return "You may only read this store, so searches are not kept: name memories by their ids."
        return (
            "No search of the command line is kept, so there are no ranks: run jupyter-memory search first, or name a "
            "memory by its id. A search is forgotten with what it showed."
        )

    @property
    def progress(self) -> bool:
        return sys.stderr.isatty()

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
        if self._stores is not None:
            self._stores.close()

    def say(self, text: str) -> None:
        click.echo(marked(text))

    def note(self, text: str) -> None:
        click.echo(marked(text), err=True)

    hint = note

    def show_list(self, answer: Answer) -> None:
        for notice in answer.notices:
            self.note(notice)
        if answer.hits:
            listed = [(hit.address, hit.memory, hit.title) for hit in answer.hits]
            rows = [(at, iso_day(one.event_at), one.kind, one.tier, title) for at, one, title in listed]
            self._page(_lines(rows, _width()))
        elif not answer.notices:
            self.note("There is nothing to show.")

    def show_results(self, answer: Answer, *, short: bool) -> None:
        for notice in (*answer.notices, *other_versions(answer)):
            # What is said of the verdict says it.
            if notice != UNANSWERED:
                self.note(notice)
        if not answer.hits:
            self.note("Nothing found.")
            return
        if said := told(answer.verdict):
            self.note(said)
        self._hits = {hit.address: hit for hit in answer.hits}
        self.has_found = answer.verdict != "none"
        if not short:
            self._page(results(answer, _width(), self._paint))
            return
        rows = []
        for hit in answer.hits:
            strength = display.percent(hit.strength) or format(hit.score, ".4f")
            size = f"{hit.memory.token_estimate} tokens"
            rows.append((f"{hit.rank:>2}", hit.address, f"{strength:>4}", size, hit.title))
        self._page(_lines(rows, _width()))

    def _page(self, shown: str) -> None:
        # They have marks for invisible characters already, and colours, which ``say`` would mark.
        lines = shutil.get_terminal_size((100, 24)).lines
        if _is_terminal(sys.stdout) and shown.count("\n") + 1 >= lines:
            click.echo_via_pager(f"{shown}\n", color=self._paint is display.coloured)
        else:
            click.echo(shown)

    def show_text(self, text: WholeText) -> None:
        if _is_terminal(sys.stdout):
            self._page(text.shown)
        else:
            self.say(text)

    def open(self, memories: Mapping[str, Memory]) -> None:
        for named, memory in memories.items():
            hit = self._hits.get(named)
            self.say(open_file(memory.source, memory.place() if hit is None else line_of(hit)))

    def show_profile(self, profile: Profile) -> None:
        from jupyter_memory.search.profiles.profile import constants

        self.say(f"{profile.name}: {profile.summary}\nscore = {profile.formula}\n")
        rows = [("part", "name", "form", "constant", "value")]
        for one in constants(profile):
            value = f"{one.value:g}" if isinstance(one.value, float) else str(one.value)
            rows.append((one.part, one.name, one.form, one.constant, value))
        self.say(display.columns(rows))

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

    def embedder_differs(self, used: str) -> None:
        said, origin = self.settings.embedder, self.settings.origin("embedder")
        self.note(f"The setting embedder is still {said!r} ({origin}): make it 'auto' or {used!r}.")


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _width() -> int:
    return max(40, min(120, shutil.get_terminal_size((100, 24)).columns))
