"""A private memory for notebooks: search what you wrote, ran or saved by meaning and by exact words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_memory.lazy import exports

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell
    from jupyter_server.serverapp import ServerApp

    from jupyter_memory.config import *
    from jupyter_memory.errors import *
    from jupyter_memory.search.profiles.own_lists import *
    from jupyter_memory.store.store import *
    from jupyter_memory.types import Hit as Hit
    from jupyter_memory.types import Memory as Memory
    from jupyter_memory.types.protocols import *

# Looked up on first use: importing the package wakes neither MLX nor pandas nor SQLite.
_lazily, _, __all__ = exports(
    __name__,
    {
        "store.store": "MemoryStore open_store",
        "types": "Memory Hit",
        "search.profiles.own_lists": "fuse fuse_scores dedup rerank Scored RerankWeights TimeAnchor",
        "errors": (
            "JupyterMemoryError QueryError ClientConfigError InputError UnknownMemory UnknownProfile UnknownStore "
            "Interrupted StoreError NoStore StoreDamaged StoreTooNew StoreReadOnly StoreLocked StoreFull "
            "StoreOpen StoreClosed EmbedderError UnknownEmbedder EmbedderUnavailable FetchError "
            "EmbeddingMismatch MissingExtra"
        ),
        "config": (
            "JupyterMemory Setting load_config store_path default_path has_store existing_path companion "
            "models_folder budget settings"
        ),
        "stores": "ListedStore listed_stores chosen_stores project_store trust",
        "types.protocols": "Embedder FileState Term WeightedTerm",
    },
)
__all__ += ["__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # Looked up here: importlib.metadata takes longer to load than all the rest of this file.
        from importlib.metadata import version

        return version("jupyter-memory")
    return _lazily(name)


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
    return [{"src": "labextension", "dest": "jupyter-memory"}]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "jupyter_memory"}]


def _load_jupyter_server_extension(server: ServerApp) -> None:
    from jupyter_memory.server.handlers import load

    load(server)
