"""The server of the protocol, asked by the SDK's own client in memory: both ways in which a client may begin."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult, Implementation

from jupyter_memory.mcp.server import server_of
from jupyter_memory.mcp.tools import TOOLS, Outcome, Tools
from jupyter_memory.text import estimated_tokens

MODES = ("legacy", "auto")


def with_client(tools: Tools, use: Callable[[Client], Awaitable[Any]], mode: str = "auto") -> Any:
    """Connect a client that is called Claude Code to a server with these tools, and use it."""

    async def run() -> Any:
        info = Implementation(name="Claude Code", version="2")
        async with Client(server_of(tools), mode=mode, client_info=info) as client:
            return await use(client)

    return anyio.run(run)


def text_of(result: CallToolResult) -> str:
    """Return the text of a result."""
    [content] = result.content
    return content.text


@pytest.mark.parametrize("mode", MODES)
def test_what_a_client_gets(tools, week_store, mode):
    """A result is typed and is text as well, the same twice; the log has the name of the client as a plain word."""

    async def use(client: Client) -> CallToolResult:
        return await client.call_tool("memory_search", {"query": "join orders"})

    result = with_client(tools, use, mode)
    assert not result.is_error and json.loads(text_of(result)) == result.structured_content
    assert result.structured_content["hits"][0]["title"] == "Joining orders"
    assert estimated_tokens(text_of(result)) <= result.structured_content["tokens"]
    assert [(one.client, one.tool) for one in week_store.recent()] == [("claude-code", "memory_search")]


@pytest.mark.parametrize("mode", MODES)
def test_an_error_is_one_of_the_tool(tools, mode):
    """What cannot be answered is an error that a model reads, not one of the protocol."""

    async def use(client: Client) -> list[CallToolResult]:
        return [
            await client.call_tool(name, arguments)
            for name, arguments in (("memory_search", {}), ("memory_get", {"ids": []}), ("memory_drop", {}))
        ]

    results = with_client(tools, use, mode)
    assert all(one.is_error and one.structured_content is None for one in results)
    assert [text_of(one).partition(":")[0] for one in results] == ["query", "ids", "There is no such tool. There are"]


def test_every_tool_answers_by_its_schema(tools, week_memories):
    """The client checks each answer against the schema that the tool has announced."""
    id_ = week_memories["Joining orders"].id
    arguments = {
        "memory_search": {"query": "join orders", "mode": "full"},
        "memory_get": {"ids": [id_, "0" * 16], "around": "customer"},
        "memory_related": {"id": id_},
        "memory_remember": {"text": "Orders close at six."},
        "memory_status": {},
    }

    async def use(client: Client) -> None:
        announced = {tool.name for tool in (await client.list_tools()).tools}
        assert announced == set(TOOLS)
        for name, given in arguments.items():
            result = await client.call_tool(name, given)
            assert not result.is_error, text_of(result)
        kept = (await client.call_tool("memory_remember", {"text": "Orders close at seven."})).structured_content
        assert (await client.call_tool("memory_forget", {"ids": kept["id"]})).structured_content["forgotten"] == 1

    with_client(tools, use)


def test_the_list_of_tools_is_cheap(tools):
    """What an agent pays before it has asked anything: names, descriptions, arguments, and the schemas of answers."""

    async def use(client: Client) -> list[Any]:
        return (await client.list_tools()).tools

    listed = with_client(tools, use)
    paid = json.dumps([[tool.name, tool.description, tool.input_schema] for tool in listed])
    assert estimated_tokens(paid) <= 1_200
    whole = json.dumps([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed])
    assert estimated_tokens(whole) <= 3_300
    hints = {tool.name: tool.annotations for tool in listed}
    assert hints["memory_forget"].destructive_hint and hints["memory_search"].read_only_hint


def test_calls_at_the_same_time(tools):
    """Several calls are answered beside each other, each with its own answer."""

    async def use(client: Client) -> dict[str, Any]:
        found = {}

        async def ask(query: str) -> None:
            found[query] = (await client.call_tool("memory_search", {"query": query})).structured_content

        async with anyio.create_task_group() as group:
            for query in ("join orders", "late deliveries Malmö", "Poisson λ", "boosted trees"):
                group.start_soon(ask, query)
        return found

    found = with_client(tools, use)
    titles = {query: answer["hits"][0]["title"] for query, answer in found.items()}
    assert titles == {
        "join orders": "Joining orders",
        "late deliveries Malmö": "Late deliveries",
        "Poisson λ": "Poisson λ",
        "boosted trees": "Holdout results",
    }


def test_the_store_is_closed_when_the_client_leaves(tools):
    """At the end of a connection nothing keeps the file open."""

    async def use(client: Client) -> None:
        await client.call_tool("memory_status", {})

    store = tools.provider.store()
    with_client(tools, use)
    assert store.closed


def test_a_call_that_nobody_waits_for_is_stopped(tools, monkeypatch):
    """When a client gives a call up, what its thread reads is interrupted."""
    begun, stopped = threading.Event(), threading.Event()
    reading: list[int] = []

    def wait(*_: Any) -> Outcome:
        reading.append(threading.get_ident())
        begun.set()
        assert stopped.wait(60)
        return Outcome(error="stopped")

    def interrupt(thread: int) -> None:
        if thread in reading:  # the warm-up is stopped as well when the client leaves
            stopped.set()

    async def use(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "memory_status", {})
            await anyio.to_thread.run_sync(begun.wait, 60)
            group.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(stopped.wait, 60)

    monkeypatch.setattr(tools, "call", wait)
    monkeypatch.setattr(tools.provider, "interrupt", interrupt)
    with_client(tools, use, "legacy")
