"""A row of the table of commands, the call that its function receives, and the errors of wrong usage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import cleandoc
from typing import Any, Generic, Literal, TypeVar

from jupyter_memory.errors import JupyterMemoryError, QueryError, UnknownProfile
from jupyter_memory.interface.options import SHIELD, Option

F = TypeVar("F")
Side = Literal["notebook", "terminal"]
Values = str | tuple[str, ...]


class WrongUsage(JupyterMemoryError):
    """The words or options of a command cannot be used; a terminal shows its usage as well."""


class SeveralErrors(JupyterMemoryError):
    """Parts of a command failed, one error each; the others were done."""

    def __init__(self, errors: Sequence[str]) -> None:
        super().__init__(" ".join(errors))
        self.errors = errors


@contextmanager
def usage() -> Iterator[None]:
    """Raise ``WrongUsage`` for an option that cannot be read or names a profile that does not exist."""
    try:
        yield
    except (QueryError, UnknownProfile) as error:
        raise WrongUsage(str(error)) from None


@dataclass(frozen=True, slots=True)
class Argument:
    """A word that a command takes, or several; the words of a text or a query are joined.

    In a query, a dash before a word leaves the word out of what is searched.
    """

    name: str
    many: bool = False
    required: bool = True
    kind: Literal["word", "text", "query"] = "word"

    @property
    def takes_all(self) -> bool:
        """Return whether it takes every word that is left."""
        return self.many or self.kind != "word"


@dataclass(frozen=True, slots=True)
class Call:
    """What was typed after the name of a command; ``source`` is that text as it was typed in a notebook."""

    words: tuple[str, ...]
    values: Mapping[str, Any]
    source: str = ""

    def text(self, what: str) -> str:
        """Return the words as one text; ``what`` names it in the error.

        Raises:
            WrongUsage: there are no words.
        """
        text = " ".join(word.removeprefix(SHIELD) for word in self.words)
        if not text.strip():
            raise WrongUsage(f"{what} is missing.")
        return text


@dataclass(frozen=True, eq=False)
class Command(Generic[F]):
    """One command: a function, whose docstring is its help, and what can be typed after its name.

    ``values`` are what a word can be, for completion: given words, or a kind of value such as ``"path"``. ``below``
    are the commands that follow its name, as in ``model use``; its own function handles any other word.

    A command that ``destroys`` what nothing brings back is never what a person is asked to have meant: see ``nearest``.

    Where the sides differ, ``notebook_words`` is the usage of a notebook, whose words the function checks itself;
    ``missing`` is the error for words that are missing; ``terminal_options`` and
    ``terminal_help`` are a terminal's.
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

    def has_too_few(self, count: int) -> bool:
        """Return whether so many words are fewer than the command needs in a notebook."""
        return self.notebook_words is None and count < sum(argument.required for argument in self.arguments)

    def has_too_many(self, count: int) -> bool:
        """Return whether so many words are more than the command takes in a notebook."""
        if self.notebook_words is not None or self.below or any(argument.takes_all for argument in self.arguments):
            return False
        return count > len(self.arguments)


def nearest(name: str, commands: Mapping[str, Command[F]]) -> str | None:
    """Return the command that a misspelt name may mean, None if there is none, or if it destroys something."""
    near = next(iter(get_close_matches(name, commands, n=1)), None)
    return None if near is None or commands[near].destroys else near


def offered(commands: Sequence[Command[F]], side: Side) -> dict[str, Command[F]]:
    """Return the commands that a notebook or a terminal has, by name."""
    return {one.name: one for one in commands if one.offered in ("both", side)}
