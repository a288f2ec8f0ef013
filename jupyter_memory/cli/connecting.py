"""The command that connects the clients of agents to the memory, which a terminal alone has: connect."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType

import click

from jupyter_memory.config import default_path, store_path
from jupyter_memory.errors import ClientConfigError
from jupyter_memory.interface.clients import plans
from jupyter_memory.interface.clients.clients import CLIENTS
from jupyter_memory.interface.clients.files import Change, backup_of
from jupyter_memory.interface.clients.places import Places
from jupyter_memory.interface.clients.targets import ClientTarget, JupyterTarget, SkillTarget, Target
from jupyter_memory.interface.commands.command import Argument, Call, Command, SeveralErrors, WrongUsage
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.interface.options import Option, yes
from jupyter_memory.text.display import columns
from jupyter_memory.text.paths import absolute, is_missing
from jupyter_memory.text.unicode import marked

_LEAVES = (
    "A client may send what it reads from the memory to the service that runs its model, so it may leave this machine. "
    "{history} Other stores stay closed to it. --path, --space and --read-only bound it further."
)
_HISTORY_WITHHELD = "The history of what you ran is withheld: --history allows it."
_HISTORY_ALLOWED = "Because of --history, what you ran is among it."


def connect(front: Front, call: Call) -> None:
    """Connect the clients of agents (Claude, Copilot, Cursor, Codex, Gemini, Jupyter AI) to the memory.

    Without a CLIENT, list those that are found here, and ask about each that is not connected. The change of each file
    is shown before it is made, and a copy of the file stays beside it.
    """
    wanted = _Wanted.of(front, call)
    chosen = wanted.targets() or _found(front, wanted)
    errors, written = [], []
    if not wanted.remove and any(target.reads for target in chosen):
        history = _HISTORY_ALLOWED if wanted.bounds.history else _HISTORY_WITHHELD
        front.note(_LEAVES.format(history=history) + "\n")
    for target in chosen:
        try:
            written += [target] if _carry_out(front, target, wanted) else []
        except ClientConfigError as error:
            errors.append(str(error))
    if not wanted.remove and any(isinstance(target, ClientTarget) for target in written):
        _say_what_is_missing(front)
    if errors:
        raise SeveralErrors(errors)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What was typed."""

    names: tuple[str, ...]
    skill: bool
    skills_folder: Path | None
    every: tuple[Target, ...]
    bounds: plans.Bounds
    remove: bool
    dry_run: bool
    yes: bool

    @classmethod
    def of(cls, front: Front, call: Call) -> _Wanted:
        """Return what a call asks for.

        Raises:
            WrongUsage: a name is none of a client, or what was typed does not go together.
        """
        values = call.values
        project = None if values["project"] is None else absolute(values["project"])
        bounds = plans.Bounds(
            values["read_only"], values["space"], tuple(values["path"]), values["history"], values["forget_any"]
        )
        file = store_path(front.settings)
        command = plans.command_of(None if file == default_path() else file, bounds)
        every = [ClientTarget(client, Places(), project, command, values["skill"]) for client in CLIENTS]
        folder = None if values["skill_to"] is None else absolute(values["skill_to"])
        switches = [values[name] for name in ("remove", "dry_run", "yes")]
        wanted = cls(call.words, values["skill"], folder, (*every, JupyterTarget()), bounds, *switches)
        wanted._check(project)
        return wanted

    def targets(self) -> list[Target]:
        """Return what was named."""
        named = [target for name in self.names for target in self.every if target.name == name]
        return [*named, *([SkillTarget(self.skills_folder)] if self.skills_folder is not None else [])]

    def _check(self, project: Path | None) -> None:
        known = [target.name for target in self.every]
        if unknown := next((name for name in self.names if name not in known), None):
            raise WrongUsage(f"There is no client {unknown!r}. There are: {', '.join(known)}.")
        if JupyterTarget.name in self.names and (self.bounds != plans.Bounds() or project or self.skill):
            raise WrongUsage(f"{JupyterTarget.name} is a setting, which takes none of the options for clients.")
        if any(not given.strip() for given in (self.bounds.space, *self.bounds.paths) if given is not None):
            raise WrongUsage("--space and --path need a name: the server would not start with an empty one.")
        missing = [path for path in self.bounds.paths if is_missing(plans.full(path))]
        if missing and not self.remove:
            raise WrongUsage(f"--path: there is no file or folder {missing[0]!r}. Check its name.")
        if self.yes and not (self.names or self.skills_folder or self.remove):
            raise WrongUsage("With --yes, name the clients: each of them can read the memory afterwards.")


def _found(front: Front, wanted: _Wanted) -> list[Target]:
    """List the clients that are here, and return those to ask about: for the skill all, for --remove the connected."""
    here = [target for target in wanted.every if target.is_here()]
    connected = {target.name for target in here if target.is_connected()}
    _list(front, here, connected)
    asked_about_all = wanted.skill and not wanted.remove
    left = [target for target in here if asked_about_all or (target.name in connected) == wanted.remove]
    if wanted.dry_run or wanted.remove or sys.stdin.isatty():
        return left
    if left:
        front.note("Name the clients to connect: jupyter-memory connect " + " ".join(target.name for target in left))
    return []


def _list(front: Front, here: Sequence[Target], connected: set[str]) -> None:
    if not here:
        front.note(f"No client is found here. These can be named: {', '.join(client.name for client in CLIENTS)}.")
        return
    rows = [
        (target.name, target.title, "connected" if target.name in connected else "-", str(target.file))
        for target in here
    ]
    front.say(columns([("client", "", "memory", "file"), *rows]))


def _carry_out(front: Front, target: Target, wanted: _Wanted) -> bool:
    """Show what changes for one client, ask, and change it; return whether anything was changed."""
    changes = target.removal() if wanted.remove else target.connection()
    if not changes:
        front.say(f"{target.title}: nothing to remove." if wanted.remove else f"{target.title}: nothing to change.")
        return False
    for change in changes:
        front.say(change.diff())
    if target.caution and not wanted.remove:
        front.note(target.caution)
    if wanted.dry_run:
        front.say(f"{target.title}: nothing was written (--dry-run).")
        return False
    if not _agreed("Remove this?" if wanted.remove else "Write this?", wanted):
        front.note(f"{target.title}: left as it is.")
        return False
    for change in changes:
        change.apply()
        front.say(_report(change))
    front.say(f"{target.title}: {target.removed if wanted.remove else target.done}")
    return True


def _agreed(question: str, wanted: _Wanted) -> bool:
    """Ask the person at the terminal; a program has to pass ``--yes``."""
    if wanted.yes:
        return True
    if not sys.stdin.isatty():
        raise click.UsageError("There is nobody to ask, so nothing was written. Add --yes to do it.")
    return click.confirm(marked(question), err=True)


def _report(change: Change) -> str:
    if change.after is None:
        return f"removed {change.path}"
    copy = backup_of(change.path)
    return f"wrote {change.path}" + (f" (before: {copy})" if copy.exists() else "")


def _say_what_is_missing(front: Front) -> None:
    """Say what the server needs that this environment does not have."""
    try:
        found = version("mcp")
    except PackageNotFoundError:
        front.note("The server needs a package that is not installed here: pip install 'jupyter-memory[mcp]'")
        return
    if found.startswith(("0.", "1.")):
        front.note(
            f"The server needs version 2 of the package mcp, and {found} is installed here: pip install "
            "'jupyter-memory[mcp]', in an environment of its own if another program needs the older one."
        )


_OPTIONS = (
    Option(("--project",), "write the configuration of this project instead of the user's", "FOLDER", path="folder"),
    Option(("--read-only",), "the client cannot store or forget anything"),
    Option(("--space",), "the client sees only this space", "SPACE"),
    Option(("--path",), "the client sees only this file, or what lies below this folder", "PATH", many=True),
    Option(("--history",), "the client may read what you ran, too"),
    Option(("--forget-any",), "the client may forget anything that it sees, not only its own notes"),
    Option(("--skill",), "also write a skill that tells the agent when to search"),
    Option(("--skill-to",), "write the skill into this folder of skills", "FOLDER"),
    Option(("--remove",), "end the connection: take out the entry and the skill"),
    Option(("--dry-run",), "show the changes, and write nothing"),
    yes("do not ask before files are changed"),
)
CONNECTING: Mapping[str, Command[Front]] = MappingProxyType(
    {"connect": Command("connect", connect, (Argument("CLIENT", many=True, required=False),), _OPTIONS)}
)
