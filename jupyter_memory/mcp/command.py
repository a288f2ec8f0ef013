"""The command `jupyter-memory mcp`: its options as a bound, then the server."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_memory.config import JupyterMemory
from jupyter_memory.errors import InputError
from jupyter_memory.mcp.bound import Bound, bounded_path
from jupyter_memory.mcp.stdio import serve


def run(
    settings: JupyterMemory,
    *,
    read_only: bool = False,
    space: str | None = None,
    path: Sequence[str] = (),
    history: bool = False,
    forget_any: bool = False,
) -> None:
    """Serve the store of the settings, within what the options allow, until the agent leaves.

    Raises:
        InputError: a path or the space is empty, or a path cannot be one.
    """
    if space is not None and not space.strip():
        raise InputError("--space is empty. Name the space, or leave the option out.")
    bound = Bound(
        space=settings.space if space is None else space,
        paths=tuple(map(bounded_path, path)),
        history=history,
        writing=not read_only,
        forgetting_any=forget_any,
    )
    serve(settings, bound)
