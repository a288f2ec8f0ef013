"""The packages that only the larger models need: which of them are missing, and how pip installs them when asked."""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path

from jupyter_memory.embedders.download import pip
from jupyter_memory.embedders.registry import ModelEntry
from jupyter_memory.embedders.runtime.arithmetic import has_mlx, is_installed, runs_mlx
from jupyter_memory.embedders.runtime.blas import fast_blas
from jupyter_memory.errors import FetchError

# The extra with all of them. As our own package is installed, pip asks the index for what is missing alone.
EXTRA = "jupyter-memory[hub]"
INSTALL = f"pip install '{EXTRA}'"
# Bytes that it fetches on Linux, x86-64; what is here already is not fetched again.
DOWNLOAD = 37_000_000


def missing(entry: ModelEntry, *, to_fetch: bool = False) -> tuple[str, ...]:
    """Return the packages without which a model cannot run here, or with ``to_fetch`` not be fetched.

    OpenBLAS is not among them: without it a model runs slowly, and `%memory status` says so.
    """
    if not entry.is_fetched:
        return ()
    lacking = [] if has_mlx() else ["mlx"]
    if to_fetch and entry.repository and not is_installed("huggingface_hub"):
        lacking.append("huggingface-hub")
    return tuple(lacking)


def check_machine(entry: ModelEntry) -> None:
    """Raise ``FetchError`` where a model needs MLX and there is none for this kind of machine."""
    if entry.is_fetched and not has_mlx() and not runs_mlx():
        raise FetchError(
            f"{entry.name} needs MLX, which has no packages for this machine, so nothing was fetched or copied. "
            "The store goes on with: model use static"
        )


def check(entry: ModelEntry, *, to_fetch: bool = False) -> None:
    """Raise ``FetchError`` unless the packages that a model needs are here, or, ``to_fetch``, those to fetch it."""
    check_machine(entry)
    if lacking := missing(entry, to_fetch=to_fetch):
        raise FetchError(
            f"{entry.name} needs {' and '.join(lacking)}, which this Python environment does not have, so nothing was "
            f"fetched or copied. Type: {INSTALL}, or: model use {entry.name}, which offers to install it."
        )


def install(entry: ModelEntry, *, to_fetch: bool = False) -> None:
    """Install the extra with pip, into the environment of this interpreter, so that a model can run at once.

    Raises:
        FetchError: pip is missing, or could not install it; the message says what to do.
    """
    with tempfile.TemporaryDirectory(prefix="jupyter-memory-") as folder:
        pip.install(EXTRA, Path(folder))
    importlib.invalidate_caches()
    # A BLAS that was not there before is looked for again; it can serve only an MLX that is not imported yet.
    if "mlx.core" not in sys.modules:
        fast_blas.cache_clear()
    if missing(entry, to_fetch=to_fetch):
        raise FetchError(f"pip installed {EXTRA}, but this program does not see it yet. Restart it, and try again.")
