"""The command `jupyter-memory mcp`: its options as a bound, then the server over standard input and output."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from functools import partial

import anyio
from mcp.server.stdio import stdio_server

from jupyter_memory.config import JupyterMemory
from jupyter_memory.errors import InputError
from jupyter_memory.interface.store_provider import StoreProvider
from jupyter_memory.mcp.bound import Bound, bounded_path
from jupyter_memory.mcp.server import server_of
from jupyter_memory.mcp.tools import Tools
from jupyter_memory.text.paths import is_missing

log = logging.getLogger(__name__)

# Seconds that a call waits for another program that writes: an agent can do something else meanwhile.
_PATIENCE = 5.0


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


def serve(settings: JupyterMemory, bound: Bound) -> None:
    """Answer one program over standard input and output; nothing but the protocol is written to the output."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="jupyter-memory: %(message)s")
    for missing in filter(is_missing, bound.paths):
        # Its memories are still there, and a disk may be away for a while; but it may also be mistyped.
        log.warning("there is no file or folder %s: is --path right?", missing)
    settings.busy_seconds = min(settings.busy_seconds, _PATIENCE)
    folder = bound.paths[0] if len(bound.paths) == 1 and "://" not in bound.paths[0] else None
    try:
        anyio.run(partial(_serve, Tools(StoreProvider(settings, folder), bound)))
    except* BrokenPipeError:
        log.info("the program left before its last answer")


async def _serve(tools: Tools) -> None:
    server = server_of(tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
