"""A private memory for notebooks: search what you wrote, ran or saved by meaning and by exact words."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell
    from jupyter_server.serverapp import ServerApp

    from jupyter_memory.search.profiles.own_lists import (
        RerankWeights,
        Scored,
        TimeAnchor,
        dedup,
        fuse,
        fuse_scores,
        rerank,
    )
    from jupyter_memory.store.memory_store import MemoryStore, open_store
    from jupyter_memory.types import Hit, Memory

__all__ = [
    "MemoryStore", "Memory", "Hit", "open_store", "fuse", "fuse_scores", "dedup", "rerank", "Scored", "RerankWeights",
    "TimeAnchor", "__version__",
]  # fmt: skip

# Here are `jupyter_memory.ranking` and `jupyter_memory.vaults`: earlier names that work for one more release.
__path__.append(f"{__path__[0]}/interface/earlier_names")

# Looked up on first use: importing the package wakes neither MLX nor pandas nor SQLite.
_HOMES = {
    "MemoryStore": "jupyter_memory.store.memory_store",
    "open_store": "jupyter_memory.store.memory_store",
    **dict.fromkeys(
        ("fuse", "fuse_scores", "dedup", "rerank", "Scored", "RerankWeights", "TimeAnchor"),
        "jupyter_memory.search.profiles.own_lists",
    ),
    "Memory": "jupyter_memory.types",
    "Hit": "jupyter_memory.types",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # Looked up here: importlib.metadata takes longer to load than all the rest of this file.
        from importlib.metadata import version

        return version("jupyter-memory")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Make the magics known to a shell: ``%load_ext jupyter_memory``."""
    from jupyter_memory.magics import load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Take the magics away again and close the store: ``%unload_ext jupyter_memory``."""
    from jupyter_memory.magics import unload

    unload(shell)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Say where the built panel is, to JupyterLab."""
    return [{"src": "labextension", "dest": "jupyter-memory"}]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Say which module is the server extension."""
    return [{"module": "jupyter_memory"}]


def _load_jupyter_server_extension(server: ServerApp) -> None:
    """Add the memory's routes to a Jupyter server."""
    from jupyter_memory.server.extension import load

    load(server)
