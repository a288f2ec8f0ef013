"""How commands take their arguments: the tables of options in the words of click, and what is wrong usage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from jupyter_memory.errors import QueryError, UnknownProfile
from jupyter_memory.interface.options import SHIELD, Option, is_option


class Query(click.Command):
    """A command whose words are a query: a dash before one leaves it out, as in ``groupby -pandas``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options and the words; what looks like an option and is none is a word."""
        table = [_as_option(one) for one in self.get_params(ctx) if isinstance(one, click.Option)]
        valued = {flag for option in table if option.metavar for flag in option.flags}
        shielded, end = list(args), args.index("--") if "--" in args else len(args)
        for place, word in enumerate(args[:end]):
            if not (place and args[place - 1] in valued) and _is_word(ctx, word, table):
                shielded[place] = SHIELD + word
        return super().parse_args(ctx, shielded)


def _as_option(param: click.Option) -> Option:
    metavar = "" if param.is_flag else param.metavar or "VALUE"
    return Option(tuple(param.opts), "", metavar, whole=isinstance(param.type, click.IntRange))


def _is_word(ctx: click.Context, piece: str, table: Sequence[Option]) -> bool:
    """Return whether a piece is a word left out; an option with one dash too few is refused."""
    if not piece.startswith("-") or piece.startswith("--") or piece == "-" or is_option(piece, table):
        return False
    if any(f"-{piece.partition('=')[0]}" in option.flags for option in table):
        ctx.fail(f"There is no option {piece}. Did you mean -{piece}?")
    return True


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
    text = " ".join(word.removeprefix(SHIELD) for word in words)
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
