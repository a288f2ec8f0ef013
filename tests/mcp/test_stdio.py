"""The server as a process: what it writes, when it starts and when it ends, beside other programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from programs import running

from jupyter_memory.cli import main

ASK = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}}  # fmt: skip


def command(store: Any, *options: str) -> list[str]:
    """Return the command that an agent's configuration names."""
    return [sys.executable, "-m", "jupyter_memory", "--store", str(store.path), "mcp", *options]


def asked(store: Any, calls: list[tuple[str, dict[str, Any]]], *options: str) -> list[Any]:
    """Start a server as an agent does, call its tools, and return their results."""

    async def run() -> list[Any]:
        program, *arguments = command(store, *options)
        server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
        async with Client(server) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            return [names, *[await client.call_tool(name, arguments) for name, arguments in calls]]

    return anyio.run(run)


def test_a_session_over_stdio(week_store):
    """A client finds the tools, searches, reads, stores and forgets; the store is sound after it."""
    names, found, kept = asked(
        week_store,
        [("memory_search", {"query": "join orders"}), ("memory_remember", {"text": "Orders close at six."})],
    )
    assert len(names) == 6 and found.structured_content["hits"][0]["title"] == "Joining orders"
    assert week_store.get(kept.structured_content["id"]).tier == "mcp"
    assert week_store.doctor() == []


def test_options_bound_what_is_seen(week_store):
    """The options of the command are the bounds: one folder, read-only."""
    names, found, status = asked(
        week_store,
        [("memory_search", {"query": "join orders on customer"}), ("memory_status", {})],
        "--read-only", "--path", "/projects/week/notes",
    )  # fmt: skip
    assert "memory_remember" not in names and found.structured_content["hits"] == []
    assert status.structured_content["memories"] == 1
    assert status.structured_content["bounds"] == [
        "path /projects/week/notes (nothing is there now)",
        "without what was run",
    ]


def test_nothing_but_the_protocol_is_written_and_the_end_of_input_is_the_end(week_store):
    """Each line of the output is a message, also after one that is none; when the input is closed, it ends with 0."""
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "memory_search", "arguments": {"query": "join orders"}}}  # fmt: skip
    lines = [ASK, {"jsonrpc": "2.0", "method": "notifications/initialized"}, call]
    with running(command(week_store), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        program.stdin.write(b"no message\n")
        for line in lines:
            program.stdin.write(json.dumps(line).encode() + b"\n")
        program.stdin.flush()
        answers: list[dict[str, Any]] = []
        while not answers or answers[-1].get("id") != 2:
            answers.append(json.loads(program.stdout.readline()))
        program.stdin.close()
        rest = program.stdout.read()
    assert program.returncode == 0 and rest == b""
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert answers[-1]["result"]["structuredContent"]["hits"]


def test_a_client_that_leaves_in_a_call_ends_the_server_quietly(week_store):
    """When the client closes both ends before it is answered, the server ends with 0 and without a word."""
    calls = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
        "name": "memory_search", "arguments": {"query": f"join orders {number}"}}} for number in range(9)]  # fmt: skip
    lines = [ASK, {"jsonrpc": "2.0", "method": "notifications/initialized"}, *calls]
    with running(command(week_store), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        for line in lines:
            program.stdin.write(json.dumps(line).encode() + b"\n")
        program.stdin.flush()
        program.stdout.readline()
        program.stdout.close()
        program.stdin.close()
        complaints = program.stderr.read().decode()
    assert (program.returncode, complaints) == (0, "")


def test_it_serves_beside_another_writer(week_store):
    """What another program adds meanwhile is found by the next call."""

    async def run() -> Any:
        program, *arguments = command(week_store)
        async with Client(StdioServerParameters(command=program, args=arguments, env=dict(os.environ))) as client:
            before = await client.call_tool("memory_search", {"query": "quagga"})
            week_store.add("The quagga is gone.", title="Quagga")
            return before, await client.call_tool("memory_search", {"query": "quagga"})

    before, after = anyio.run(run)
    assert before.structured_content["hits"] == []
    assert [hit["title"] for hit in after.structured_content["hits"]] == ["Quagga"]


def test_without_the_extra_it_says_how_to_install_it(monkeypatch, capsys):
    """Without the SDK the command names the extra; with another version of it, what to do."""

    def missing(_: str) -> str:
        raise PackageNotFoundError

    for found, said in (
        (missing, "pip install 'jupyter-memory[mcp]'"),
        (lambda _: "1.26.0", "and 1.26.0 is installed"),
    ):
        monkeypatch.setattr("jupyter_memory.cli.commands.version", found)
        assert main(["mcp"]) == 1
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(("option", "said"), [("--path", "The path is empty"), ("--space", "--space is empty")])
def test_a_bound_that_is_empty(capsys, option, said):
    """A bound that is empty is refused before anything is served: it would bound nothing."""
    assert main(["mcp", option, ""]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("module", ["jupyter_memory.cli.program", "jupyter_memory.cli.commands"])
def test_the_command_line_does_not_load_the_protocol(module):
    """Other commands do not pay for the SDK."""
    code = f"import sys, {module}; print('mcp.server' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_the_server_begins_before_it_can_search():
    """What a search needs is loaded when the server answers already."""
    code = "import sys, jupyter_memory.mcp.server; print({'numpy', 'apsw', 'pandas', 'mlx'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
