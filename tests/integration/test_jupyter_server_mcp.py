"""Agents inside Jupyter: a real Jupyter server with jupyter-server-mcp, asked by its own client.

It needs jupyter-server-mcp 0.3 or 0.4, which need different SDKs: scripts/check_jupyter_mcp.sh runs it with both.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from programs import LONGEST, running

from jupyter_memory import MemoryStore

fastmcp = pytest.importorskip("fastmcp", reason="jupyter-server-mcp is not installed: scripts/check_jupyter_mcp.sh")
pytest.importorskip("jupyter_server_mcp", reason="run scripts/check_jupyter_mcp.sh, which installs it")

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    """Give the environment of a person with one note, and one cell that was run."""
    with MemoryStore(tmp_path / "m.sqlite") as store:
        store.add("We scaled the electricity prices to zero mean.", title="Scaling λ")
    (tmp_path / "config").mkdir()
    return {
        **os.environ, "HOME": str(tmp_path), "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "JUPYTER_DATA_DIR": str(tmp_path / "data"), "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "JUPYTER_MEMORY_PATH": str(tmp_path / "m.sqlite"),
    }  # fmt: skip


@contextmanager
def served(places: dict[str, str]) -> Iterator[str]:
    """Run a Jupyter server, and give the address of its MCP server."""
    command = [sys.executable, "-m", "jupyter", "server", "--no-browser", "--allow-root", "--ServerApp.port=0"]
    command += ["--MCPExtensionApp.mcp_port=0", "--ServerApp.jpserver_extensions={'jupyter_server_mcp': True}"]
    with running(command, env=places, cwd=places["HOME"], stderr=subprocess.DEVNULL) as server:
        yield _address(Path(places["JUPYTER_RUNTIME_DIR"]), server)
        server.terminate()


def _address(folder: Path, server: subprocess.Popen[Any]) -> str:
    end = time.monotonic() + LONGEST
    while time.monotonic() < end and server.poll() is None:
        for file in folder.glob("*mcp*.json"):
            return str(json.loads(file.read_text())["url"])
        time.sleep(0.2)
    raise AssertionError("the MCP server of Jupyter did not start")


def asked(address: str, *calls: tuple[str, dict[str, Any]]) -> tuple[list[str], list[Any]]:

    async def ask() -> tuple[list[str], list[Any]]:
        async with fastmcp.Client(address) as client:
            names = sorted(tool.name for tool in await client.list_tools())
            return names, [await client.call_tool(name, given, raise_on_error=False) for name, given in calls]

    return asyncio.run(ask())


def test_nothing_is_offered_until_it_is_switched_on(places: dict[str, str]) -> None:
    """With jupyter-server-mcp installed and its discovery on, an agent sees none of our tools."""
    with served(places) as address:
        names, _ = asked(address)
    assert [name for name in names if name.startswith("memory")] == []


def test_an_agent_in_jupyter_searches_and_reads(places: dict[str, str]) -> None:
    """After `connect jupyter` the tools that read are there, and answer; switched off, they refuse at once."""
    connect = [sys.executable, "-m", "jupyter_memory", "connect", "jupyter", "--yes"]
    subprocess.run(connect, env=places, check=True, capture_output=True)
    with served(places) as address:
        names, [found] = asked(address, ("memory_search", {"query": "how did we scale the electricity prices"}))
        [hit] = found.data["hits"]
        _, [read, wrong] = asked(address, ("memory_get", {"ids": [hit["id"]]}), ("memory_get", {"ids": ["x"]}))
        subprocess.run([*connect, "--remove"], env=places, check=True, capture_output=True)
        _, [refused] = asked(address, ("memory_status", {}))
    assert names == ["memory_fix", "memory_get", "memory_related", "memory_search", "memory_status"]
    assert "zero mean" in read.data["memories"][0]["text"]
    assert wrong.is_error
    assert "No memory" in wrong.content[0].text
    assert refused.is_error
    assert "connect jupyter" in refused.content[0].text
