"""The commands about who may read and write a store on a server, which a terminal alone has: team."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, get_args

from jupyter_memory.config import store_path
from jupyter_memory.interface.commands.command import Call, WrongUsage
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.text.display import columns, count_of
from jupyter_memory.text.paths import store_at

if TYPE_CHECKING:
    from jupyter_memory.storage.writing import Team

USAGE = "team is followed by grant, revoke, list or distribute."


def team(front: Front, call: Call) -> None:
    """Say who may read and write a store on a server: grant, revoke, list; the database enforces it."""
    if call.words:
        raise WrongUsage(USAGE)
    list_(front, call)


def grant(front: Front, call: Call) -> None:
    """Let roles of the database read, write or own the store, or read or write one space of it."""
    # Imported late, here and below: a kernel, which has none of these commands, must not wait for databases.
    from jupyter_memory.storage.writing import Level

    right, *roles = call.words
    level = next((one for one in get_args(Level) if one == right), None)
    if level is None:
        raise WrongUsage(f"A right is one of {', '.join(get_args(Level))}, not {right!r}.")
    space = call.values["space"]
    with _opened(front) as opened:
        for role in roles:
            opened.grant(role, level, space)
            front.say(f"{role} is {level} of {_of(space)}")


def revoke(front: Front, call: Call) -> None:
    """Take away the rights of a role of the database, in one space or all of them."""
    [role] = call.words
    with _opened(front) as opened:
        taken = opened.revoke(role, call.values["space"])
    front.say(f"removed {count_of(taken, 'right')} of {role}")


def list_(front: Front, call: Call) -> None:
    """List who may read and write the store, as far as you may know."""
    with _opened(front) as opened:
        rights = opened.rights()
    front.say(columns([("role", "right", "space"), *((one.role, one.level, _of(one.space)) for one in rights)]))


def distribute(front: Front, call: Call) -> None:
    """Spread the tables of the store over the machines of Citus, by space; what was spread before stays."""
    with _opened(front) as opened:
        made = opened.distribute()
    front.say(f"spread {count_of(len(made), 'table')} by space" if made else "All tables are spread already.")


@contextmanager
def _opened(front: Front) -> Iterator[Team]:
    from jupyter_memory.storage.databases import open_team

    opened = open_team(store_at(store_path(front.settings)), busy_seconds=front.settings.busy_seconds)
    try:
        yield opened
    finally:
        opened.close()


def _of(space: str | None) -> str:
    return "every space" if space is None else f"the space {space!r}" if space else "what is in no space"
