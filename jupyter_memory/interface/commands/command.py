"""A command, a call of it, what a door must offer, and what commands say."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from jupyter_memory.config import JupyterMemory, has_store, store_path
from jupyter_memory.errors import JupyterMemoryError, QueryError, UnknownProfile
from jupyter_memory.interface.options import SHIELD, Option
from jupyter_memory.text.display import WholeText, fit
from jupyter_memory.types import Answer, Memory
from jupyter_memory.types.search import address

if TYPE_CHECKING:
    from jupyter_memory.history.recorder import Recorder
    from jupyter_memory.search.profiles import Profile
    from jupyter_memory.store.listed import Stores
    from jupyter_memory.store.store import MemoryStore

F = TypeVar("F", bound="Front")
Side = Literal["notebook", "terminal"]
Values = str | tuple[str, ...]


# Commands that the library names in its messages are words of %memory in a notebook, but for the note of %memadd.
_COMMAND = re.compile(r"`(index|add|undo|status|forget --now|update --anew|model (?:list|use|drop|remove)\b[^`]*)`")
_AS_TYPED = {"index": "%memory index FOLDER", "add": "%memadd TEXT"}


def as_typed(text: str) -> str:
    """Return a message with its commands as magics.

    >>> as_typed("add files with `index`, or a note with `add`")
    'add files with `%memory index FOLDER`, or a note with `%memadd TEXT`'
    """
    return _COMMAND.sub(lambda found: f"`{_AS_TYPED.get(found[1], f'%memory {found[1]}')}`", text)


def named(memory: Memory, did: str, store: str = "") -> str:
    """Return a line that says what was done to a memory of a store: ``pinned 3f2a… “Prices”``."""
    return f"{did} {address(store, memory.id)} “{fit(memory.headline, 60)}”"


class WrongUsage(JupyterMemoryError):
    """The words or options of a command cannot be used; a terminal shows its usage as well."""


class SeveralErrors(JupyterMemoryError):
    """Parts of a command failed, with an error each; the others were done."""

    def __init__(self, errors: Sequence[str]) -> None:
        super().__init__(" ".join(errors))
        self.errors = errors


class Halted(Exception):
    """A command ends here, with a last word: what an interruption leaves, or the help that was asked for."""


@contextmanager
def usage() -> Iterator[None]:
    """Raise ``WrongUsage`` for an option that cannot be read or names a profile that does not exist."""
    try:
        yield
    except (QueryError, UnknownProfile) as error:
        raise WrongUsage(str(error)) from None


@dataclass(frozen=True, slots=True)
class Argument:
    """A word that a command takes, or several; those of a text or a query, where a dash leaves one out, are joined."""

    name: str
    many: bool = False
    required: bool = True
    kind: Literal["word", "text", "query"] = "word"

    @property
    def takes_all(self) -> bool:
        return self.many or self.kind != "word"


@dataclass(frozen=True, slots=True)
class Call:
    """What was typed after the name of a command; ``source`` is that text as it was typed in a notebook."""

    words: tuple[str, ...]
    values: Mapping[str, Any]
    source: str = ""

    def text(self, what: str) -> str:
        """Return the words as one text; ``what`` names it in the error if there are none."""
        text = " ".join(word.removeprefix(SHIELD) for word in self.words)
        if not text.strip():
            raise WrongUsage(f"{what} is missing.")
        return text


@dataclass(frozen=True, eq=False)
class Command(Generic[F]):
    """One command: a function, whose docstring is its help, and what can be typed after its name.

    ``values`` are what a word can be, for completion; ``below`` are the commands that follow its name, as in
    ``model use``; ``missing`` is the error for words that are missing. ``notebook_words`` are the usage of a notebook,
    whose words the function checks itself.
    """

    name: str
    run: Callable[[F, Call], object]
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    values: Values = ()
    offered: Literal["both", "notebook", "terminal"] = "both"
    below: tuple[Command[F], ...] = ()
    missing: str = ""
    notebook_words: str | None = None
    terminal_options: tuple[Option, ...] = ()
    terminal_help: str = ""
    destroys: bool = False

    @property
    def help(self) -> str:
        """Return the whole help: a sentence, paragraphs and examples."""
        return cleandoc(self.run.__doc__ or "")

    @property
    def summary(self) -> str:
        """Return the sentence that lists show."""
        return self.help.partition("\n")[0]

    @property
    def words(self) -> str:
        """Return what a notebook shows after the name, empty if the command takes options alone."""
        if self.notebook_words is not None:
            return self.notebook_words
        return " ".join(argument.name + "…" * argument.many for argument in self.arguments)

    def takes(self, count: int) -> bool:
        """Return whether so many words are not more than the command takes in a notebook."""
        checks_itself = self.notebook_words is not None and not self.below
        return checks_itself or any(one.takes_all for one in self.arguments) or count <= len(self.arguments)


def offered(commands: Sequence[Command[F]], side: Side) -> dict[str, Command[F]]:
    return {one.name: one for one in commands if one.offered in ("both", side)}


@dataclass(frozen=True, slots=True)
class Shown:
    """Results that ranks stand for: their ids in order, and what was asked; ``what`` names them in a message."""

    ids: tuple[str, ...]
    query: str
    query_id: str
    profile: str
    what: str = "The last search"


class Front(Protocol):
    """A notebook or a terminal, as a command sees it.

    ``prefix`` begins a command that is typed here. ``greets`` decides whether a new store names the model it takes;
    ``problems`` are what was wrong with the settings. A notebook alone has the rest: ``last`` is the answer of the last
    search, ``ranked`` the last results of a search or of `related`, ``held`` the names that the kernel has.
    """

    settings: JupyterMemory
    problems: list[str]
    prefix: str
    greets: bool = True
    last: Answer | None = None
    ranked: Answer | None = None
    recorder: Recorder | None = None
    startup_folder: Path | None = None
    held: Container[str] = ()
    _stores: Stores | None = None

    # The open store that the settings name; `store` raises `NoStore` where there is none, `store_to_fill` creates it.
    @property
    def store(self) -> MemoryStore: ...
    @property
    def store_to_fill(self) -> MemoryStore: ...
    @property
    def store_if_any(self) -> MemoryStore | None:
        return self.store if has_store(self.settings) else None

    # The stores that can be searched together, each opened when it is first needed.
    @property
    def stores(self) -> Stores:
        # Imported late, here and below: help, completion and wrong usage need not wait, nor kernels that never search.
        from jupyter_memory.store.listed import Stores

        if self._stores is None:
            self._stores = Stores(self.settings, lambda: self.store)
        return self._stores

    # What ranks stand for, and what to say of a rank where nothing was shown yet.
    @property
    def shown(self) -> Shown | None: ...
    @property
    def no_results(self) -> str: ...

    # Whether progress bars are shown, and whether new kernels load the extension by themselves.
    @property
    def progress(self) -> bool:
        return True

    @property
    def is_loaded_at_start(self) -> bool:
        return False

    # The answers that showed what is ``gone``, or all, are no longer there; a terminal keeps none.
    def drop_answers(self, gone: Container[str] | None = None) -> None:
        return

    # What the command did; something worth knowing, to standard error; advice, below the result in a notebook.
    def say(self, text: str) -> None: ...
    def note(self, text: str) -> None: ...
    def hint(self, text: str) -> None: ...

    # A terminal prints or opens these; a notebook returns DataFrames, a text and links.
    def show_list(self, answer: Answer) -> object: ...
    def show_results(self, answer: Answer, *, short: bool) -> object: ...
    def show_text(self, text: WholeText) -> object:
        return text

    # Only a notebook has a next cell.
    def insert(self, text: str) -> None:
        return

    def show_profile(self, profile: Profile) -> object: ...
    def open(self, memories: Mapping[str, Memory]) -> object: ...

    def command(self, text: str) -> str:
        """Return a command as it is typed here: ``%memory pin ID`` or ``jupyter-memory pin ID``."""
        return f"{self.prefix} {text}"

    def with_commands(self, text: str) -> str:
        """Return a message in which commands in backticks are written as they are typed here."""
        return text

    def confirm(self, question: str, *, yes: bool, command: str, loss: str = "", plan: str = "") -> bool:
        """Show the ``plan`` and ask the person; return whether the command may go on, always with ``yes``.

        ``loss`` describes memories that would be lost for good: if there is no one to ask, it is an error.
        ``command`` is the line that, with ``--yes`` added, does the same without a question.
        """

    # Exit code 1 and this error; a notebook has no exit code, and all has been said.
    def exit_with_error(self, text: str) -> None:
        return

    def comparing(self, what: str, undo: str) -> AbstractContextManager[None]:
        """Compare the golden set before and after a change, and note if the change makes it worse."""
        return nullcontext()

    # The setting `embedder` names another model than the one that the store uses now.
    def embedder_differs(self, used: str) -> None: ...

    def _opened(self, profile: str = "auto") -> MemoryStore:
        from jupyter_memory.store.store import MemoryStore

        settings, path = self.settings, store_path(self.settings)
        store = MemoryStore(path, settings.embedder, profile, settings.space or None, settings=settings)
        for notice in (*store.notices, store.greeting if self.greets else ""):
            if notice:
                self.note(notice)
        return store
