"""Answers of the tools as a program reads them, and the SDK's own client in memory."""

from collections.abc import Callable
from typing import Any


def with_shared(found: dict[str, Any]) -> dict[str, Any]:
    """Return an answer in which each hit has what the hits have in common, as a program reads it."""
    shared = dict(found.get("shared", {}))
    folder = shared.pop("folder", "")
    hits = [{**shared, **hit} for hit in found.get("hits", ())]
    paths = [{"path": folder + hit["path"]} if "path" in hit else {} for hit in hits]
    return {**found, "hits": [{**hit, **path} for hit, path in zip(hits, paths, strict=True)]} if hits else found


def with_client(tools: Any, use: Callable[[Any], Any], mode: str = "auto", name: str = "Claude Code") -> Any:
    """Connect a client of this name to a server with these tools, and use it."""
    import anyio
    from mcp import Client
    from mcp_types import Implementation

    from jupyter_memory.mcp import server_of

    async def run() -> Any:
        async with Client(server_of(tools), mode=mode, client_info=Implementation(name=name, version="2")) as client:
            return await use(client)

    return anyio.run(run)
