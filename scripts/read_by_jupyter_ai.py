"""Reads a folder's .jupyter/mcp_settings.json as Jupyter AI 3 does for a chat in it, and starts the server it names.

Run by scripts/check_jupyter_ai.sh with the Python of an environment that has Jupyter AI.
"""

from __future__ import annotations

import asyncio
import os
import sys
from importlib.metadata import version
from pathlib import Path

from acp.schema import McpServerStdio
from jupyter_ai_persona_manager.persona_manager import PersonaManager
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client


class Chat(PersonaManager):  # type: ignore[misc,unused-ignore]
    """The manager of a chat in a folder below the server's folder, without the chat's document."""

    def __init__(self, folder: Path) -> None:
        self.root_dir = str(folder)
        self._chat = folder / "analysis" / "prices.chat"

    def get_chat_path(self, *arguments: object, **more: object) -> str:
        """Return the file of the chat."""
        return str(self._chat)


async def tools_of(server: McpServerStdio) -> list[str]:
    """Return the tools that a server offers to this environment's SDK."""
    command = StdioServerParameters(command=server.command, args=server.args, env=dict(os.environ))
    async with stdio_client(command) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        return [tool.name for tool in (await session.list_tools()).tools]


def main(folder: Path) -> None:
    (folder / "analysis").mkdir(exist_ok=True)
    settings = Chat(folder).get_mcp_settings()
    [found] = [one for one in settings.mcp_servers if one.name == "jupyter-memory"]
    # What jupyter_ai_acp_client hands to an agent, made as it makes it.
    handed = McpServerStdio(**found.model_dump())
    names = asyncio.run(tools_of(handed))
    assert "memory_search" in names, names
    sys.stdout.write(f"Jupyter AI {version('jupyter-ai')} (mcp {version('mcp')}) read it: {', '.join(names)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
