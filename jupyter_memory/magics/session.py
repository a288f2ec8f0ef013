"""The store of a notebook session, its golden questions, and what magics print."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from IPython.core.error import StdinNotImplementedError, UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.shellapp import InteractiveShellApp
from traitlets import Bunch, TraitError

from jupyter_memory.config import JupyterMemory, companion, existing_path, has_store, store_path
from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.history.recorder import Recorder
from jupyter_memory.interface import messages, provider
from jupyter_memory.interface.commands.command import Shown, WrongUsage
from jupyter_memory.interface.messages import as_typed
from jupyter_memory.magics.parsing import unexpanded
from jupyter_memory.text.display import WholeText, html
from jupyter_memory.text.unicode import marked
from jupyter_memory.types.search import UNANSWERED

if TYPE_CHECKING:
    import pandas as pd

    from jupyter_memory.evaluation.golden import GoldenRun
    from jupyter_memory.search.profiles import Profile
    from jupyter_memory.store.store import MemoryStore
    from jupyter_memory.types import Answer, Memory


def say(text: str) -> None:
    """Write what a magic did, where ``print`` would."""
    sys.stdout.write(marked(text) + "\n")


def note(text: str) -> None:
    """Write a note to standard error."""
    sys.stderr.write(f"jupyter-memory: {marked(as_typed(text))}\n")


def as_frame(answer: Answer, mode: Literal["full", "scan"] = "full") -> pd.DataFrame:
    """Return an answer as a DataFrame, and write its notices."""
    # Imported late: a kernel that never searches need not wait for the store.
    from jupyter_memory.store.store import frame_of

    for notice in answer.notices:
        # The DataFrame says above its rows that they may be no answer.
        if notice != UNANSWERED:
            note(notice)
    return frame_of(answer, mode)


class Links(list[str]):
    """The files of memories; a notebook shows links, which the panel in JupyterLab opens at the cell."""

    def __init__(self, memories: Sequence[Memory], locations: Mapping[str, str]) -> None:
        # Imported late: it loads pandas.
        from jupyter_memory.dataframe.frame import open_link
        from jupyter_memory.dataframe.rows import Place

        places = [(one.id, Place(one.source, locations.get(one.id) or one.place(), one.kind)) for one in memories]
        super().__init__(repr(place) for _, place in places)
        self._html = [open_link(html(repr(place)), place.href, place.source, id_) for id_, place in places]

    def __repr__(self) -> str:
        return "\n".join(self)

    def _repr_html_(self) -> str:
        return "<br>".join(self._html)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Show errors in one line without a traceback, which IPython does only for ``UsageError``."""
    try:
        yield
    except (JupyterMemoryError, TraitError) as error:
        raise UsageError(marked(as_typed(" ".join(str(error).split())))) from None
    except UsageError as error:
        raise UsageError(marked(str(error))) from None
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        raise UsageError(marked(f"{error.strerror or error}{where}")) from None


_WATCHED = ("profile", "threshold", "embedder", "dimensions")
_FEWEST = 5
# Of a large set only the newest questions are measured, so that a change of settings stays quick.
MOST = 50


def watch(settings: JupyterMemory) -> None:
    """Compare before and after each change of a setting that affects ranking."""

    def changed(change: Bunch) -> None:
        before = score(settings, **{change.name: change.old})
        if before is not None:
            _compare(
                before,
                score(settings),
                f"{change.name} = {change.new!r}",
                f"%config JupyterMemory.{change.name} = {change.old!r}",
            )

    settings.observe(changed, names=list(_WATCHED))


@contextmanager
def watched(settings: JupyterMemory, what: str, back: str) -> Iterator[None]:
    """Compare before and after the block, such as a change of the model."""
    before = score(settings)
    yield
    if before is not None:
        _compare(before, score(settings), what, back)


def score(settings: JupyterMemory, **other: Any) -> tuple[float, int] | None:
    """Return nDCG@10 on the golden set with the settings, but for ``other``, and on how many questions.

    None where there are fewer than five questions, or where nothing can be measured.
    """
    from jupyter_memory.evaluation.golden import golden_path, load

    path = store_path(settings)
    try:
        kept = load(golden_path(companion(path)))[-MOST:]
        if len(kept) < _FEWEST or not has_store(settings):
            return None
        # Imported late: most changes of settings have nothing to measure.
        from jupyter_memory.evaluation import golden
        from jupyter_memory.search.profiles import profile_named
        from jupyter_memory.store.store import MemoryStore

        values = {name: getattr(settings, name) for name in (*_WATCHED, *golden.SETTINGS)} | other
        tried = JupyterMemory(**values)
        profile = profile_named(tried.profile)
        with MemoryStore(path, tried.embedder, space=tried.space or None, settings=tried) as store:
            kept, _ = golden.answerable(store, kept)
            return (golden.score(store, kept, profile), len(kept)) if len(kept) >= _FEWEST else None
    except (JupyterMemoryError, OSError):
        return None  # the search that uses a wrong setting reports it


def _compare(before: tuple[float, int], after: tuple[float, int] | None, what: str, back: str) -> None:
    if after is not None and after[0] < before[0] - 0.005:
        note(
            f"With {what} your golden set gets worse: nDCG@10 {after[0]:.2f} instead of {before[0]:.2f} over "
            f"{after[1]} questions. %memeval run compares; to go back: {back}"
        )


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
        settings = self.settings
        wanted = (store_path(settings), *(getattr(settings, name) for name in _OF_THE_STORE))
        if self._store is None or self._store.closed or self._store.replaced or wanted != self._opened_with:
            self.close()
            # Imported late: every kernel loads the extension, and those that never search must not wait.
            from jupyter_memory.store.store import MemoryStore

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
        # What was recorded first makes the store.
        self.recorder.flush()
        return self._caught_up if has_store(self.settings) else None

    @property
    def _caught_up(self) -> MemoryStore:
        store = self.store_at_once
        store.history.catch_up()
        return store

    @property
    def shown(self) -> Shown | None:
        latest = self.latest
        if latest is None:
            return None
        ids = tuple(hit.memory.id for hit in latest.hits)
        what = "The last search" if latest.query.written else "The last list"
        return Shown(ids, latest.query.written, latest.query_id, latest.profile, what)

    @property
    def no_results(self) -> str:
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
        folder = self.shell.profile_dir
        return None if folder is None else Path(folder.startup_dir)

    @property
    def is_loaded_at_start(self) -> bool:
        folder, app = self.startup_folder, self.shell.parent
        if folder is not None and provider.is_on(folder):
            return True
        while app is not None and not isinstance(app, InteractiveShellApp):
            app = app.parent
        return app is not None and "jupyter_memory" in (*app.default_extensions, *app.extensions, *app.extra_extensions)

    def say(self, text: str) -> None:
        say(text)

    def note(self, text: str) -> None:
        note(text)

    def hint(self, text: str) -> None:
        self.say(text)

    def show_list(self, answer: Answer) -> pd.DataFrame:
        self.latest = answer
        return as_frame(answer)

    def show_results(self, answer: Answer, *, short: bool) -> pd.DataFrame:
        self.ranked = self.latest = answer
        return as_frame(answer, "scan" if short else "full")

    def show_text(self, text: WholeText) -> WholeText:
        return text

    def open(self, memories: Sequence[Memory]) -> Links | None:
        hits = {} if self.latest is None else {hit.memory.id: hit.location for hit in self.latest.hits}
        if self.shell.has_trait("kernel"):
            return Links(memories, hits)
        # Imported late: only a terminal needs browsers and editors.
        from jupyter_memory.interface.opening import open_file

        for one in memories:
            self.say(open_file(one.source, hits.get(one.id) or one.place()))
        return None

    def show_profile(self, profile: Profile) -> pd.DataFrame:
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
        return f"%memory {text}"

    def with_commands(self, text: str) -> str:
        return messages.as_typed(text)

    def confirm(self, question: str, *, yes: bool, command: str, loss: str = "", plan: str = "") -> bool:
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

    def exit_with_error(self, text: str) -> None:
        pass  # a notebook has no exit code, and all has been said

    def comparing(self, what: str, undo: str) -> AbstractContextManager[None]:
        return watched(self.settings, what, undo)

    def embedder_differs(self, used: str) -> None:
        was = f"{self.settings.embedder!r} ({self.settings.origin('embedder')})"
        self.settings.embedder = "auto"
        self.note(f"The setting embedder was {was}: for this session it is 'auto'; change it there to keep that.")
