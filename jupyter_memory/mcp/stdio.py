"""The server over standard input and output, until the program that started it closes them."""

from __future__ import annotations

import logging
import sys
from functools import partial

import anyio
from mcp.server.stdio import stdio_server

from jupyter_memory.config import JupyterMemory
from jupyter_memory.interface.store_provider import StoreProvider
from jupyter_memory.mcp.bound import Bound
from jupyter_memory.mcp.server import server_of
from jupyter_memory.mcp.tools import Tools
from jupyter_memory.text.paths import is_missing

log = logging.getLogger(__name__)

# Seconds that a call waits for another program that writes: an agent can do something else meanwhile.
_PATIENCE = 5.0


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
