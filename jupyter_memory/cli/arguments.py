"""How commands take their arguments: the tables of options in the words of click, and what is wrong usage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from jupyter_memory.errors import QueryError, UnknownProfile
from jupyter_memory.options import Option


def options(table: Sequence[Option]) -> Callable[[Any], Any]:
    """Give a command the options of a table."""

    def decorate(command: Any) -> Any:
        for option in reversed(table):
            kind: Any = (
                click.Choice(option.choices) if option.choices else click.IntRange(min=1) if option.whole else None
            )
            settings = (
                {"type": kind, "metavar": option.metavar, "multiple": option.many}
                if option.metavar
                else {"is_flag": True}
            )
            command = click.option(*option.flags, option.name, help=option.help, **settings)(command)
        return command

    return decorate


def joined(words: Sequence[str], what: str) -> str:
    """Return the words of an argument as one text.

    Raises:
        UsageError: there is none.
    """
    text = " ".join(words)
    if not text.strip():
        raise click.UsageError(f"{what} is missing.")
    return text


@contextmanager
def usage() -> Iterator[None]:
    """Take an option that cannot be read, or names what is not there, for wrong usage."""
    try:
        yield
    except (QueryError, UnknownProfile) as error:
        raise click.UsageError(str(error)) from None
