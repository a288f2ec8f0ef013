"""The store of a notebook session, its golden questions, and what magics print."""

from __future__ import annotations

import re
import sys
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.shellapp import InteractiveShellApp
from traitlets import Bunch

from jupyter_memory.config import SESSION, JupyterMemory, existing_path, has_store, load_config, store_path
from jupyter_memory.errors import JupyterMemoryError, StoreError
from jupyter_memory.history.recorder import Recorder
from jupyter_memory.interface.commands.command import Front, Shown, WrongUsage, as_typed
from jupyter_memory.interface.commands.history import other_versions
from jupyter_memory.interface.commands.store import STARTUP_FILE
from jupyter_memory.storage.journal import refusal
from jupyter_memory.text.display import html
from jupyter_memory.text.unicode import marked
from jupyter_memory.types.search import UNANSWERED

if TYPE_CHECKING:
    import pandas as pd

    from jupyter_memory.evaluation.golden import GoldenQuestion, GoldenRun
    from jupyter_memory.search.profiles import Profile
    from jupyter_memory.store.listed import Stores
    from jupyter_memory.store.store import MemoryStore
    from jupyter_memory.types import Answer, Fix, Memory


class Links(list[str]):
    """The files of memories; a notebook shows links, which the panel in JupyterLab opens at the cell."""

    def __init__(self, memories: Mapping[str, Memory], locations: Mapping[str, str]) -> None:
        from jupyter_memory.dataframe.html import Place, open_link

        places = [
            (named, Place(one.source, locations.get(named) or one.place(), one.kind, one.cell))
            for named, one in memories.items()
        ]
        super().__init__(repr(place) for _, place in places)
        self._html = [open_link(html(repr(place)), place.href, place.source, named) for named, place in places]

    def __repr__(self) -> str:
        return "\n".join(self)

    def _repr_html_(self) -> str:
        return "<br>".join(self._html)


# The settings that affect ranking, and those that a store is opened with; it reads the others each time.
_WATCHED = ("profile", "threshold", "embedder", "dimensions")
_OF_THE_STORE = ("space", "embedder", "dimensions", "busy_seconds", "idle_minutes")
# What IPython puts values in for, in the lines of other magics.
_EXPANDED = re.compile(r"\{([A-Za-z_]\w{0,99}+)\}|\$([A-Za-z_]\w{0,99}+)")
# Questions of a golden set below which nothing is compared; of a large set only the newest are measured, so that a
# change of settings stays quick.
_FEWEST, _MOST = 5, 50
_OFFER = (
    "%memfix finds more if your runs are kept: of each cell its code, when it ran, how it ended and its errors, but no "
    "outputs. They stay in {where} on this machine, without secrets. To start: %memory history on. To stop: %memory "
    "history off. To forget them: %memory history clear."
)


class Session(Front):
    """The front of the magics in one shell: ``latest`` are the last results, ``measured`` the last ``%memeval run``."""

    prefix = "%memory"
    recorder: Recorder

    def __init__(self, shell: InteractiveShell, settings: JupyterMemory, problems: list[str]) -> None:
        self.shell = shell
        self.settings = settings
        self.problems = problems
        self.latest: Answer | None = None
        self.measured: list[GoldenRun] = []
        self.startup_folder = None if shell.profile_dir is None else Path(shell.profile_dir.startup_dir)
        self._told = set[str]()
        self._opening = Lock()  # a hint is looked up in a thread of its own
        self._store: MemoryStore | None = None
        self._opened_with: tuple[Any, ...] = ()
        self.recorder = Recorder(shell, settings, self.note)
        settings.observe(self._compare_setting, names=list(_WATCHED))

    @property
    def store(self) -> MemoryStore:
        # A search finds what ran just before it.
        self.recorder.flush()
        store = self.store_at_once
        store.history.catch_up()
        return store

    @property
    def store_at_once(self) -> MemoryStore:
        """Return the open store that the settings name, without waiting until it has what ran just now."""
        existing_path(self.settings, "%memory index FOLDER")
        return self.store_to_fill

    @property
    def store_to_fill(self) -> MemoryStore:
        settings = self.settings
        wanted = (store_path(settings), *(getattr(settings, name) for name in _OF_THE_STORE))
        with self._opening:
            if self._store is None or self._store.closed or self._store.replaced or wanted != self._opened_with:
                if self._store is not None:
                    self._store.close()
                # The profile is named at each search, so that a wrong name does not keep the store shut.
                self._store, self._opened_with = self._opened(), wanted
            return self._store

    @property
    def store_if_any(self) -> MemoryStore | None:
        # What was recorded first makes the store.
        self.recorder.flush()
        return super().store_if_any

    @property
    def stores(self) -> Stores:
        # A terminal may have changed the list since.
        if self.settings.origin("stores") != SESSION:
            more = {"IPython's configuration": self.shell.config}
            kept = load_config(more=more, on_problem=lambda problem: None)
            self.settings.take({"stores": kept.stores}, kept.origin("stores"))
        return super().stores

    @property
    def shown(self) -> Shown | None:
        latest = self.latest
        if latest is None:
            return None
        ids = tuple(hit.address for hit in latest.hits)
        # The query of `related` is made from a memory: nobody asked it.
        asked = latest.query.written if latest is self.last else ""
        return Shown(ids, asked, latest.query_id, latest.profile, "The last search" if asked else "The last list")

    @property
    def held(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset(self.shell.user_ns).difference(self.shell.user_ns_hidden)

    def insert(self, text: str) -> None:
        self.shell.set_next_input(text)

    @property
    def no_results(self) -> str:
        return (
            "No search is kept, so there are no ranks: run %memsearch first, or name a memory by its id. A search is "
            "forgotten with what it showed."
        )

    def searched(self, answer: Answer) -> None:
        """Keep the answer of a search as the last one, and note it among the recent searches."""
        self.last = self.ranked = self.latest = answer
        with suppress(StoreError):  # other stores may have answered without it
            self.store_at_once.note_search(answer, "magic")

    def drop_answers(self, gone: Container[str] | None = None) -> None:
        def kept(answer: Answer | None) -> Answer | None:
            if answer is None or gone is None or any(hit.address in gone for hit in answer.hits):
                return None
            return answer

        self.last, self.ranked, self.latest = kept(self.last), kept(self.ranked), kept(self.latest)

    @property
    def questions(self) -> list[GoldenQuestion]:
        from jupyter_memory.evaluation.golden import golden_file, load

        return load(golden_file(self.settings))

    def note_unexpanded(self, line: str, variables: Container[str], instead: str) -> None:
        """Say, once, that a name in a line stands for itself, where other magics would put in the variable's value."""
        found = next((match[0] for match in _EXPANDED.finditer(line) if (match[1] or match[2]) in variables), "")
        if found:
            literally = f"{found} is taken literally: this magic does not insert the values of variables. {instead}"
            self.note_once("names", literally)

    def close(self) -> None:
        """Close the stores; the next use opens them again."""
        if self._stores is not None:
            self._stores.close()
        if self._store is not None:
            self._store.close()
            self._store = None

    @property
    def is_loaded_at_start(self) -> bool:
        folder, app = self.startup_folder, self.shell.parent
        if folder is not None and (folder / STARTUP_FILE).is_file():
            return True
        while app is not None and not isinstance(app, InteractiveShellApp):
            app = app.parent
        return app is not None and "jupyter_memory" in (*app.default_extensions, *app.extensions, *app.extra_extensions)

    def say(self, text: str) -> None:
        sys.stdout.write(marked(text) + "\n")

    hint = say

    def note(self, text: str) -> None:
        sys.stderr.write(f"jupyter-memory: {marked(as_typed(text))}\n")

    def note_once(self, about: str, text: str) -> None:
        """Note something once in this session, whatever the words."""
        if about not in self._told:
            self._told.add(about)
            self.note(text)

    def offer_history(self) -> None:
        """Say once what the history would keep, where, and how to start and stop it; not while it is on or refused."""
        where = store_path(self.settings)
        if self.recorder.is_on or refusal(where):
            return
        if (store := self.store_if_any) is None or store.history.offered():
            self.note_once("history", _OFFER.format(where=where))

    def hint_fix(self, fix: Fix) -> None:
        """Show that a fix is known, without a word of it: outputs are saved with the notebook."""
        from jupyter_memory.dataframe.html import fix_hint

        said = "You fixed an error like this before: %memfix shows it."
        html = fix_hint(said, fix.mended.memory_id, fix.failed.memory_id)
        self.shell.display_pub.publish({"text/plain": said, "text/html": html})

    def frame(self, answer: Answer, *, short: bool = False) -> pd.DataFrame:
        """Return an answer as a DataFrame, and write its notices."""
        from jupyter_memory.store.store import frame_of

        for notice in (*answer.notices, *other_versions(answer)):
            # The DataFrame says above its rows that they may be no answer.
            if notice != UNANSWERED:
                self.note(notice)
        return frame_of(answer, "scan" if short else "full")

    def show_list(self, answer: Answer) -> pd.DataFrame:
        self.latest = answer
        return self.frame(answer)

    def show_results(self, answer: Answer, *, short: bool) -> pd.DataFrame:
        self.ranked = self.latest = answer
        return self.frame(answer, short=short)

    def open(self, memories: Mapping[str, Memory]) -> Links | None:
        hits = {} if self.latest is None else {hit.address: hit.location for hit in self.latest.hits}
        if self.shell.has_trait("kernel"):
            return Links(memories, hits)
        from jupyter_memory.interface.commands.memories import open_file

        for named, one in memories.items():
            self.say(open_file(one.source, hits.get(named) or one.place()))
        return None

    def show_profile(self, profile: Profile) -> pd.DataFrame:
        import pandas as pd

        from jupyter_memory.search.profiles.profile import constants

        self.say(f"{profile.name}: {profile.summary}\nscore = {profile.formula}")
        for step in profile.steps:
            self.say(f"then: {step}")
        rows = list(map(asdict, constants(profile)))
        frame = pd.DataFrame(rows, dtype=object)
        frame = frame.astype(dict.fromkeys(["part", "name", "form", "constant"], "str"))
        frame.attrs["profile"] = {"name": profile.name, "formula": profile.formula}
        return frame

    with_commands = staticmethod(as_typed)

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

    @contextmanager
    def comparing(self, what: str, undo: str) -> Iterator[None]:
        before = self._golden_score()
        yield
        self._compare(before, what, undo)

    def _compare_setting(self, change: Bunch) -> None:
        name, old = change.name, change.old
        undo = f"%config JupyterMemory.{name} = {old!r}"
        self._compare(self._golden_score(**{name: old}), f"{name} = {change.new!r}", undo)

    def _compare(self, before: tuple[float, int] | None, what: str, undo: str) -> None:
        after = None if before is None else self._golden_score()
        if before is not None and after is not None and after[0] < before[0] - 0.005:
            self.note(
                f"With {what} your golden set gets worse: nDCG@10 {after[0]:.2f} instead of {before[0]:.2f} over "
                f"{after[1]} questions. %memeval run compares; to go back: {undo}"
            )

    # nDCG@10 on the golden set with the settings, but for `other`, and on how many questions; None where there are too
    # few, or where nothing can be measured.
    def _golden_score(self, **other: Any) -> tuple[float, int] | None:
        from jupyter_memory.evaluation import golden

        try:
            kept = self.questions[-_MOST:]
            if len(kept) < _FEWEST or not has_store(self.settings):
                return None
            from jupyter_memory.search.profiles import profile_named
            from jupyter_memory.store.store import MemoryStore

            values = {name: getattr(self.settings, name) for name in (*_WATCHED, *golden.SETTINGS)} | other
            tried = JupyterMemory(**values)
            profile = profile_named(tried.profile)
            path, space = store_path(self.settings), tried.space or None
            with MemoryStore(path, tried.embedder, space=space, settings=tried) as store:
                kept, _ = golden.answerable(store, kept)
                return (golden.score(store, kept, profile), len(kept)) if len(kept) >= _FEWEST else None
        except (JupyterMemoryError, OSError):
            return None  # the search that uses a wrong setting reports it

    def embedder_differs(self, used: str) -> None:
        was = f"{self.settings.embedder!r} ({self.settings.origin('embedder')})"
        self.settings.embedder = "auto"
        self.note(f"The setting embedder was {was}: for this session it is 'auto'; change it there to keep that.")
