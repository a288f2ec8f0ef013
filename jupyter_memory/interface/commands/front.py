"""What a command may ask of the place where it was typed: a notebook or a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from jupyter_memory.config import JupyterMemory
from jupyter_memory.text.display import WholeText
from jupyter_memory.types import Answer, Memory

if TYPE_CHECKING:
    from jupyter_memory.history.recorder import Recorder
    from jupyter_memory.search.profiles import Profile
    from jupyter_memory.store.memory_store import MemoryStore


@dataclass(frozen=True, slots=True)
class Shown:
    """Results that ranks stand for: the ids of their memories in order, and what was asked, if anything was.

    ``what`` names them at the beginning of a message.
    """

    ids: tuple[str, ...]
    query: str
    query_id: str
    profile: str
    what: str = "The last search"


class Front(Protocol):
    """A notebook or a terminal, as a command sees it.

    ``greets`` decides whether a new store names the model it takes; ``problems`` are what was wrong with the settings.
    """

    settings: JupyterMemory
    problems: list[str]
    greets: bool

    @property
    def store(self) -> MemoryStore:
        """Return the open store that the settings name.

        Raises:
            NoStore: the settings name a store that does not exist.
        """
        ...

    @property
    def store_to_fill(self) -> MemoryStore:
        """Return the open store that the settings name; it is created if it does not exist."""
        ...

    @property
    def store_if_any(self) -> MemoryStore | None:
        """Return the open store, None where there is none yet."""
        ...

    @property
    def last(self) -> Answer | None:
        """Return the answer of the last search; None in a terminal."""
        ...

    @property
    def ranked(self) -> Answer | None:
        """Return the last results that were ranked, by a search or by `related`; None in a terminal."""
        ...

    @property
    def shown(self) -> Shown | None:
        """Return what ranks stand for: the last results here, in a terminal the last search that the store keeps."""
        ...

    @property
    def no_results(self) -> str:
        """Return what to say of a rank where nothing was shown yet."""
        ...

    @property
    def recorder(self) -> Recorder | None:
        """Return what records the runs of this kernel; None in a terminal."""
        ...

    @property
    def progress(self) -> bool:
        """Return whether progress bars are shown."""
        ...

    @property
    def startup_folder(self) -> Path | None:
        """Return the folder of files that IPython runs when it starts; None where there is none."""
        ...

    @property
    def is_loaded_at_start(self) -> bool:
        """Return whether new kernels load the extension by themselves, as far as files and settings say."""
        ...

    def say(self, text: str) -> None:
        """Write what the command did."""
        ...

    def note(self, text: str) -> None:
        """Write something worth knowing to standard error."""
        ...

    def hint(self, text: str) -> None:
        """Write advice that belongs to the result: below it in a notebook, to standard error in a terminal."""
        ...

    def show_list(self, answer: Answer) -> object:
        """Show memories that were listed without a query; a notebook returns a DataFrame."""
        ...

    def show_results(self, answer: Answer, *, short: bool) -> object:
        """Show the results of a search; a notebook returns a DataFrame."""
        ...

    def show_text(self, text: WholeText) -> object:
        """Show a whole text; a notebook returns it."""
        ...

    def open(self, memories: Sequence[Memory]) -> object:
        """Open the files of memories; a notebook returns links."""
        ...

    def show_profile(self, profile: Profile) -> object:
        """Show every constant of a profile; a notebook returns a DataFrame."""
        ...

    def command(self, text: str) -> str:
        """Return a command as it is typed here: ``%memory pin ID`` or ``jupyter-memory pin ID``."""
        ...

    def with_commands(self, text: str) -> str:
        """Return a message in which commands in backticks are written as they are typed here."""
        ...

    def confirm(self, question: str, *, yes: bool, command: str, loss: str = "", plan: str = "") -> bool:
        """Show the ``plan`` and ask the person; return whether the command may go on, always with ``yes``.

        ``loss`` describes memories that would be lost for good: where nobody can be asked about that, it is an error.
        ``command`` is the line that, with ``--yes`` added, does the same without a question.
        """
        ...

    def interrupted(self, text: str) -> None:
        """Say what an interrupted command leaves; a terminal exits with code 130."""
        ...

    def exit_with_error(self, text: str) -> None:
        """End a program with exit code 1 and this error; a notebook has no exit code and does nothing."""
        ...

    def comparing(self, what: str, undo: str) -> AbstractContextManager[None]:
        """Compare the golden set before and after a change, and note if the change makes it worse."""
        ...

    def embedder_differs(self, used: str) -> None:
        """Handle a setting ``embedder`` that names another model than the one that the store uses now."""
        ...
