"""Loads the magics, their completion and their settings into a shell, and unloads them."""

from __future__ import annotations

from IPython.core.interactiveshell import InteractiveShell

from jupyter_memory.config import JupyterMemory, load_config
from jupyter_memory.interface.commands.memories import check_profile
from jupyter_memory.magics import completion
from jupyter_memory.magics.magics import MemoryMagics
from jupyter_memory.magics.parsing import keep_questions
from jupyter_memory.magics.session import Session

__all__ = ["load", "unload"]


def load(shell: InteractiveShell) -> None:
    """Register the magics, their completion and their settings with a shell; loading twice is loading once."""
    unload(shell)
    problems: list[str] = []
    more = {"IPython's configuration": shell.config}
    settings = load_config(more=more, on_problem=problems.append, check_profile=check_profile)
    session = Session(shell, settings, problems)
    for problem in problems:
        session.note(problem)
    session.recorder.follow_setting()
    shell.register_magics(MemoryMagics(shell, session))
    # Annotated as a list of shells, it holds everything that `%config` can set.
    shell.configurables.append(settings)  # type: ignore[arg-type]
    shell.input_transformers_cleanup.append(keep_questions)
    completion.install(shell, session)


def unload(shell: InteractiveShell) -> None:
    """Remove the magics from a shell and close its store."""
    manager = shell.magics_manager
    magics = manager.registry.pop(MemoryMagics.__name__, None)
    if isinstance(magics, MemoryMagics):
        magics.fixing.stop()
        magics.session.recorder.stop()
        magics.session.close()
        for kind, names in magics.magics.items():
            for name in names:
                manager.magics[kind].pop(name, None)
    shell.configurables[:] = [one for one in shell.configurables if not isinstance(one, JupyterMemory | MemoryMagics)]
    transforms = shell.input_transformers_cleanup
    transforms[:] = [one for one in transforms if one is not keep_questions]
    matchers = shell.Completer.custom_matchers
    matchers[:] = [one for one in matchers if getattr(one, "matcher_identifier", "") != completion.IDENTIFIER]
