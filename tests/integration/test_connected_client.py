"""A client that was connected starts the server that its configuration names, wherever it is started."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.cli import main

pytest.importorskip("mcp_types", reason="the extra mcp, version 2 of its SDK, is not installed")


def test_the_entry_starts_without_a_path_in_a_folder_of_traps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With nothing on the PATH, in a project whose modules have the names of ours, the entry serves its store."""
    project = tmp_path / "project"
    project.mkdir()
    for name in ("click", "mcp", "json", "jupyter_memory", "anyio"):
        (project / f"{name}.py").write_text("raise SystemExit('a module of the project')")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "m.sqlite"))
    with MemoryStore(tmp_path / "m.sqlite") as store:
        store.add("We scaled the electricity prices to zero mean.", title="Scaling λ")
    assert main(["connect", "claude-code", "--project", str(project), "--read-only", "--yes"]) == 0
    entry = json.loads((project / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"]["jupyter-memory"]
    names, found = asyncio.run(_asked(entry, project, {"HOME": str(tmp_path)}))
    assert names == ["memory_search", "memory_get", "memory_related", "memory_status"]
    assert [hit["title"] for hit in found["hits"]] == ["Scaling λ"]


async def _asked(entry: dict[str, Any], folder: Path, places: dict[str, str]) -> tuple[list[str], Any]:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    # Where the package is not installed but in the folder of its sources, as in a checkout.
    sources = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    server = StdioServerParameters(
        command=entry["command"], args=entry["args"], env={"PATH": "", **sources, **places}, cwd=folder
    )
    async with Client(server) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        answer = await client.call_tool("memory_search", {"query": "how did we scale the electricity prices"})
        return names, answer.structured_content
