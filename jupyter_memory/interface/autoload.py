"""Loads the extension in every new kernel, through a file in the startup folder of an IPython profile."""

from __future__ import annotations

from pathlib import Path

from jupyter_memory.text.paths import make_private

FILE_NAME = "90-jupyter-memory.py"

# The profile may serve kernels of environments without the package, where the file must stay silent. It removes the
# names that it defines, which the user would see otherwise.
_STARTUP = """\
# Loads jupyter_memory in every new kernel; written by `%memory autoload on`, removed by `%memory autoload off`.
def _load_jupyter_memory(shell):
    from importlib.util import find_spec

    if find_spec("jupyter_memory") is not None:
        shell.extension_manager.load_extension("jupyter_memory")


_load_jupyter_memory(get_ipython())
del _load_jupyter_memory
"""


def startup_file(startup: Path) -> Path:
    """Return the file in a profile's startup folder that loads the extension."""
    return startup / FILE_NAME


def turn_on(startup: Path) -> Path:
    """Write the file; return its path."""
    make_private(startup)
    file = startup_file(startup)
    file.write_text(_STARTUP, encoding="utf-8")
    return file


def turn_off(startup: Path) -> bool:
    """Remove the file; return whether it was there."""
    was_on = is_on(startup)
    startup_file(startup).unlink(missing_ok=True)
    return was_on


def is_on(startup: Path) -> bool:
    """Return whether new kernels of this profile load the extension."""
    return startup_file(startup).is_file()
