"""What the commands share: the settings, and the store, opened by the first command that needs it."""

from __future__ import annotations

import shlex
from functools import cached_property
from typing import TYPE_CHECKING

import click
from traitlets import TraitError

from jupyter_memory.config import existing_path, load_config, store_path

if TYPE_CHECKING:
    from pathlib import Path

    from jupyter_memory.store.memory_store import MemoryStore

INTERRUPTED = 130


class App:
    """The settings and the store of one command."""

    def __init__(self, file: str | None) -> None:
        self.problems: list[str] = []
        # Whether a store that is made now says which model it takes: not to somebody who names one.
        self.greets = True
        self.settings = load_config(on_problem=self.problems.append)
        for problem in self.problems:
            note(problem)
        self._named = f" --store {shlex.quote(file)}" if file is not None else ""
        if file is not None:
            if not file.strip():
                raise click.BadParameter("it is empty: name the store's file", param_hint="--store")
            try:
                self.settings.path = file
            except TraitError as error:
                raise click.BadParameter(str(error), param_hint="--store") from None

    @cached_property
    def store(self) -> MemoryStore:
        """Return the open store that the settings name.

        Raises:
            NoStore: a store is named and not there.
        """
        return self._opened(existing_path(self.settings, f"jupyter-memory{self._named} index FOLDER"))

    @cached_property
    def store_to_fill(self) -> MemoryStore:
        """Return the open store that the settings name, made if it is not there."""
        return self._opened(store_path(self.settings))

    def _opened(self, path: Path) -> MemoryStore:
        # Imported late: help, completion and wrong usage need not wait for it.
        from jupyter_memory.store.memory_store import MemoryStore

        settings = self.settings
        store = MemoryStore(path, settings.embedder, settings.profile, settings.space or None, settings=settings)
        for notice in (*store.notices, store.greeting if self.greets else ""):
            if notice:
                note(notice)
        return store

    def close(self) -> None:
        """Close the store if it was opened."""
        for name in ("store", "store_to_fill"):
            if name in self.__dict__:
                getattr(self, name).close()


def note(text: str) -> None:
    """Write something worth knowing beside the output."""
    click.echo(text, err=True)


app_of = click.make_pass_decorator(App)
