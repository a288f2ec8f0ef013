"""The subcommands of `%memory` about the store itself and how it is used: status, config, backup and so on."""

from __future__ import annotations

from pathlib import Path

from IPython.core.error import UsageError

from jupyter_memory.config import settings
from jupyter_memory.interface import autoload as startup
from jupyter_memory.interface import messages
from jupyter_memory.magics.parsing import Line
from jupyter_memory.magics.session import Session, say
from jupyter_memory.magics.wording import as_typed
from jupyter_memory.text.layout import columns


def status(session: Session, line: Line) -> None:
    """Show what the store holds: where it is, its memories by kind, its size, its model."""
    # Imported late, here and below: a kernel that only searches need not wait for models and their downloads.
    from jupyter_memory.interface.models import arithmetic

    say(as_typed(messages.status(session.store.stats(), arithmetic())))


def config(session: Session, line: Line) -> None:
    """Show each setting, its value, and where that came from.

    Set one for this session with `%config JupyterMemory.limit = 20`, for good in jupyter_memory_config.py in the
    folder that `jupyter --config-dir` names: `c.JupyterMemory.limit = 20`.
    """
    say(messages.configuration(settings(session.settings)))
    for problem in session.problems:
        say(problem)


def autoload(session: Session, line: Line) -> None:
    """Load the extension in every new kernel, or no longer.

    Examples::

        %memory autoload on
        %memory autoload off
        %memory autoload status
    """
    profile_folder = session.shell.profile_dir
    if profile_folder is None:
        raise UsageError("This shell has no IPython profile, so it has no startup folder.")
    folder = Path(profile_folder.startup_dir)
    match line.arguments:
        case ["on"]:
            say(f"on: new kernels load jupyter_memory ({startup.turn_on(folder)})")
        case ["off"]:
            was_on = startup.turn_off(folder)
            say("off: new kernels no longer load jupyter_memory" if was_on else "off, as it was")
        case [] | ["status"]:
            say(f"on ({startup.startup_file(folder)})" if startup.is_on(folder) else "off")
        case _:
            raise UsageError("%memory autoload is followed by on, off or status.")


def doctor(session: Session, line: Line) -> None:
    """Check the installation, the settings and the store; tell what is wrong and what to do."""
    from jupyter_memory.interface.doctor import examine

    found = examine(session.store, session.problems)
    say(columns(found.facts))
    say("\n".join(f"- {problem}" for problem in found.problems) if found.problems else "All is well.")


def backup(session: Session, line: Line) -> None:
    """Copy the store into a new file, as it is at this moment.

    Examples::

        %memory backup ~/memory-2026-03.sqlite
    """
    if len(line.words) != 1:
        raise UsageError("Name the file to write: %memory backup ~/memory-backup.sqlite")
    say(f"copied to {session.store.backup(line.text)}")
