"""The notebook as commands see it, and the state that a shell keeps between its magics."""

from __future__ import annotations

from collections.abc import Container, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.shellapp import InteractiveShellApp

from jupyter_memory.config import JupyterMemory, existing_path, has_store, store_path
from jupyter_memory.history.recorder import Recorder
from jupyter_memory.interface import autoload, messages
from jupyter_memory.interface.commands.command import WrongUsage
from jupyter_memory.interface.commands.front import Shown
from jupyter_memory.magics import golden_watch, output
from jupyter_memory.magics.output import Links, as_frame
from jupyter_memory.magics.parsing import unexpanded
from jupyter_memory.text.display import WholeText
from jupyter_memory.text.unicode import marked

if TYPE_CHECKING:
    import pandas as pd

    from jupyter_memory.evaluation.golden import GoldenRun
    from jupyter_memory.search.profiles import Profile
    from jupyter_memory.store.memory_store import MemoryStore
    from jupyter_memory.types import Answer, Memory

_PACKAGE = "jupyter_memory"
# The settings that a store is opened with; it reads the others each time.
_OF_THE_STORE = ("space", "embedder", "dimensions", "busy_seconds", "idle_minutes")


class Session:
    """The front of the magics in one shell.

    The store is opened on first use, and again when the settings name another. ``last`` is the answer of the last
    search, ``ranked`` the last results of a search or of `related`, ``latest`` those of any kind, ``measured`` what
    the last ``%memeval run`` found.
    """

    progress = True

    def __init__(self, shell: InteractiveShell, settings: JupyterMemory, problems: list[str]) -> None:
        self.shell = shell
        self.settings = settings
        self.problems = problems
        self.last: Answer | None = None
        self.ranked: Answer | None = None
        self.latest: Answer | None = None
        self.measured: list[GoldenRun] = []
        self.greets = True
        self._told_of_names = False
        self.recorder = Recorder(shell, settings, self.note)
        self._store: MemoryStore | None = None
        self._opened_with: tuple[Any, ...] = ()

    @property
    def store(self) -> MemoryStore:
        """Return the open store that the settings name.

        Raises:
            NoStore: the settings name a store that does not exist.
        """
        # A search finds what ran just before it.
        self.recorder.flush()
        return self._caught_up

    @property
    def store_at_once(self) -> MemoryStore:
        """Return the open store that the settings name, without waiting until it has what ran just now.

        Raises:
            NoStore: the settings name a store that does not exist.
        """
        existing_path(self.settings, "%memory index FOLDER")
        return self.store_to_fill

    @property
    def store_to_fill(self) -> MemoryStore:
        """Return the open store that the settings name; it is created if it does not exist."""
        settings = self.settings
        wanted = (store_path(settings), *(getattr(settings, name) for name in _OF_THE_STORE))
        if self._store is None or self._store.closed or self._store.replaced or wanted != self._opened_with:
            self.close()
            # Imported late: every kernel loads the extension, and those that never search must not wait.
            from jupyter_memory.store.memory_store import MemoryStore

            # The profile is named at each search, so that a wrong name does not keep the store shut.
            path, space = store_path(settings), settings.space or None
            self._store = MemoryStore(path, settings.embedder, space=space, settings=settings)
            self._opened_with = wanted
            for notice in (*self._store.notices, self._store.greeting if self.greets else ""):
                if notice:
                    self.note(notice)
        return self._store

    @property
    def store_if_any(self) -> MemoryStore | None:
        """Return the open store, None where there is none yet."""
        # What was recorded first makes the store.
        self.recorder.flush()
        return self._caught_up if has_store(self.settings) else None

    @property
    def _caught_up(self) -> MemoryStore:
        """Return the open store once it has what kernels left that died, since it was opened."""
        store = self.store_at_once
        store.history.catch_up()
        return store

    @property
    def shown(self) -> Shown | None:
        """Return what ranks stand for: the last results, of a search or a list."""
        latest = self.latest
        if latest is None:
            return None
        ids = tuple(hit.memory.id for hit in latest.hits)
        what = "The last search" if latest.query.written else "The last list"
        return Shown(ids, latest.query.written, latest.query_id, latest.profile, what)

    @property
    def no_results(self) -> str:
        """Return what to say of a rank where nothing was shown yet."""
        return "There is no search yet, so no ranks: run %memsearch first, or name a memory by its id."

    def searched(self, answer: Answer) -> None:
        """Keep the answer of a search as the last one, and note it among the recent searches."""
        self.last = self.ranked = self.latest = answer
        self.store.note_search(answer, "magic")

    def note_unexpanded(self, line: str, variables: Container[str], instead: str) -> None:
        """Say, once, that a name in a line stands for itself, where other magics would put in the variable's value."""
        if not self._told_of_names and (found := unexpanded(line, variables)):
            self._told_of_names = True
            self.note(f"{found} is taken literally: this magic does not insert the values of variables. {instead}")

    def close(self) -> None:
        """Close the store; the next use opens it again."""
        if self._store is not None:
            self._store.close()
            self._store = None

    @property
    def startup_folder(self) -> Path | None:
        """Return the startup folder of the shell's IPython profile, None if the shell has no profile."""
        folder = self.shell.profile_dir
        return None if folder is None else Path(folder.startup_dir)

    @property
    def is_loaded_at_start(self) -> bool:
        """Return whether new kernels load the extension: by the file of `autoload`, or as an extension of the app."""
        folder, app = self.startup_folder, self.shell.parent
        if folder is not None and autoload.is_on(folder):
            return True
        while app is not None and not isinstance(app, InteractiveShellApp):
            app = app.parent
        return app is not None and _PACKAGE in (*app.default_extensions, *app.extensions, *app.extra_extensions)

    def say(self, text: str) -> None:
        """Write what a magic did."""
        output.say(text)

    def note(self, text: str) -> None:
        """Write a note to standard error."""
        output.note(text)

    def hint(self, text: str) -> None:
        """Write advice below the result."""
        self.say(text)

    def show_list(self, answer: Answer) -> pd.DataFrame:
        """Return memories as a DataFrame."""
        self.latest = answer
        return as_frame(answer)

    def show_results(self, answer: Answer, *, short: bool) -> pd.DataFrame:
        """Return the results of a search as a DataFrame, with few columns if ``short``."""
        self.ranked = self.latest = answer
        return as_frame(answer, "scan" if short else "full")

    def show_text(self, text: WholeText) -> WholeText:
        """Return a whole text, which a notebook shows as what it is."""
        return text

    def open(self, memories: Sequence[Memory]) -> Links | None:
        """Return links to the files of memories; a terminal, which cannot show them, opens the files."""
        hits = {} if self.latest is None else {hit.memory.id: hit.location for hit in self.latest.hits}
        if self.shell.has_trait("kernel"):
            return Links(memories, hits)
        # Imported late: only a terminal needs browsers and editors.
        from jupyter_memory.interface.opening import open_file

        for one in memories:
            self.say(open_file(one.source, hits.get(one.id) or one.place()))
        return None

    def show_profile(self, profile: Profile) -> pd.DataFrame:
        """Write a profile's formula, and return every constant: columns part, name, form, constant, value."""
        import pandas as pd

        from jupyter_memory.search.profiles.profile import constants

        self.say(f"{profile.name}: {profile.summary}\nscore = {profile.formula}")
        for step in profile.steps:
            self.say(f"then: {step}")
        rows = [(one.part, one.name, one.form, one.constant, one.value) for one in constants(profile)]
        frame = pd.DataFrame(rows, columns=["part", "name", "form", "constant", "value"])
        frame = frame.astype(dict.fromkeys(["part", "name", "form", "constant"], "str"))
        frame["value"] = frame["value"].astype(object)
        frame.attrs["profile"] = {"name": profile.name, "formula": profile.formula}
        return frame

    def command(self, text: str) -> str:
        """Return a command as it is typed in a notebook."""
        return f"%memory {text}"

    def with_commands(self, text: str) -> str:
        """Return a message with its commands as magics."""
        return messages.as_typed(text)

    def confirm(self, question: str, *, yes: bool, command: str, loss: str = "", plan: str = "") -> bool:
        """Ask the person at the notebook; where nobody can be asked, say how to agree beforehand.

        Raises:
            WrongUsage: memories would be lost, and nobody can be asked.
        """
        if plan:
            self.say(plan)
        if yes:
            return True
        try:
            answer = input(f"{marked(question)} [y/N] ")
        except (StdinNotImplementedError, EOFError, OSError):
            to_do_it = f"To do it: {self.command(command)} --yes"
            if loss:
                # An error, so that a notebook that runs by itself does not go on as if it had happened.
                raise WrongUsage(f"{loss}, and there is nobody to ask. {to_do_it}") from None
            self.say(f"There is nobody to ask, so nothing was done. {to_do_it}")
            return False
        if answer.strip().lower() in ("y", "yes"):
            return True
        self.say("Nothing was done.")
        return False

    def interrupted(self, text: str) -> None:
        """Say what an interrupted command leaves."""
        self.say(text)

    def exit_with_error(self, text: str) -> None:
        """Do nothing: a notebook has no exit code, and all has been said."""

    def comparing(self, what: str, undo: str) -> AbstractContextManager[None]:
        """Compare the golden set before and after a change of the model."""
        return golden_watch.watched(self.settings, what, undo)

    def embedder_differs(self, used: str) -> None:
        """Search with the model of the store in this session, whatever the setting names."""
        was = f"{self.settings.embedder!r} ({self.settings.origin('embedder')})"
        self.settings.embedder = "auto"
        self.note(f"The setting embedder was {was}: for this session it is 'auto'; change it there to keep that.")
