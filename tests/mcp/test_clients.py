"""Clients that start the server themselves: one that was connected, and jupyter-server-mcp by its entry point."""

import asyncio
import json
import os
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, get_type_hints

import pytest

from jupyter_memory import JupyterMemoryError, MemoryStore
from jupyter_memory.cli import main

pytest.importorskip("pydantic", reason="the extra mcp is not installed; jupyter-server-mcp brings pydantic along")


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a person with a note and a run; the functions keep the first store that they open."""
    folder = tmp_path_factory.mktemp("person")
    with MemoryStore(folder / "m.sqlite") as store:
        store.add("We scaled the electricity prices to zero mean.", title="Scaling λ")
        store.add("We scaled the electricity prices by hand.", kind="history")
    return folder


@pytest.fixture
def switch(person: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a function that writes the setting, which is off before."""
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(person))
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(person / "m.sqlite"))
    file = person / "jupyter_memory_config.json"
    file.unlink(missing_ok=True)
    return lambda on: file.write_text(json.dumps({"JupyterMemory": {"jupyter_mcp": on}}))


def offered() -> dict[str, Any]:
    [point] = entry_points(group="jupyter_server_mcp.tools", name="jupyter_memory")
    return {name.partition(":")[2]: resolve_name(name) for name in point.load()()}


def test_there_is_nothing_until_it_is_switched_on(switch: Any) -> None:
    """Nothing is offered until it is switched on; then each name leads to a function with a docstring and types."""
    assert offered() == {}
    switch(False)
    assert offered() == {}
    switch(True)
    functions = offered()
    assert list(functions) == ["memory_search", "memory_get", "memory_related", "memory_fix", "memory_status"]
    assert all(function.__name__ == name and function.__doc__ for name, function in functions.items())
    assert all("return" in get_type_hints(function) for function in functions.values())


def test_a_call_reads_what_may_be_seen(switch: Any) -> None:
    """A search answers, what was run is withheld, nothing is written, and a wrong argument is named in a sentence."""
    switch(True)
    functions = offered()
    found = asyncio.run(functions["memory_search"]("how did we scale the electricity prices"))
    assert [hit["title"] for hit in found["hits"]] == ["Scaling λ"]
    read = asyncio.run(functions["memory_get"]([found["hits"][0]["id"]]))
    assert "zero mean" in read["memories"][0]["text"]
    assert asyncio.run(functions["memory_status"]())["writing"] == "no"
    with pytest.raises(JupyterMemoryError, match="limit"):
        asyncio.run(functions["memory_search"]("prices", limit=0))


def test_switched_off_it_refuses_at_once(switch: Any) -> None:
    """A server that listed the tools before gets no answer any more."""
    switch(True)
    status = offered()["memory_status"]
    asyncio.run(status())
    switch(False)
    with pytest.raises(JupyterMemoryError, match="connect jupyter"):
        asyncio.run(status())


def test_the_entry_starts_without_a_path_in_a_folder_of_traps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With nothing on the PATH, in a project whose modules have the names of ours, the entry serves its store."""
    pytest.importorskip("mcp_types", reason="the extra mcp, version 2 of its SDK, is not installed")
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
    assert names == ["memory_search", "memory_get", "memory_related", "memory_fix", "memory_status"]
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
