"""The server of the protocol, asked by the SDK's own client in memory, and as a process beside other programs."""

import itertools
import json
import os
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from blocked import run_without
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from programs import running
from tool_answers import with_client

from jupyter_memory import MemoryStore
from jupyter_memory.cli import main
from jupyter_memory.text import estimated_tokens


def text_of(result: Any) -> str:
    [content] = result.content
    return content.text


def called(tools: Any, *calls: tuple[str, dict[str, Any]], mode: str = "auto") -> list[Any]:

    async def use(client: Client) -> list[Any]:
        return [await client.call_tool(name, arguments) for name, arguments in calls]

    return with_client(tools, use, mode)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_what_a_client_gets(tools, week_store, mode):
    """A result is typed and is text as well, the same twice; the log has the name of the client as a plain word."""
    wrong = ("memory_search", {}), ("memory_get", {"ids": []}), ("memory_drop", {})
    result, *errors = called(tools, ("memory_search", {"query": "join orders"}), *wrong, mode=mode)
    assert not result.is_error and json.loads(text_of(result)) == result.structured_content
    assert result.structured_content["hits"][0]["title"] == "Joining orders"
    assert estimated_tokens(text_of(result)) <= result.structured_content["tokens"]
    assert {one.client for one in week_store.recent()} == {"claude-code"}
    assert all(one.is_error and one.structured_content is None for one in errors)
    assert [text_of(one).partition(":")[0] for one in errors] == ["query", "ids", "There is no such tool. There are"]


def test_every_tool_answers_by_its_schema(tools, week_memories):
    """The client checks each answer against the schema that the tool has announced; at its end the store is closed."""
    id_ = week_memories["Joining orders"].id
    arguments = {
        "memory_search": {"query": "join orders", "mode": "full"},
        "memory_get": {"ids": [id_, "0" * 16], "around": "customer"},
        "memory_related": {"id": id_},
        "memory_fix": {"traceback": "KeyError: 'customer'"},
        "memory_remember": {"text": "Orders close at six."},
        "memory_status": {},
    }

    async def use(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == {*arguments, "memory_forget", "memory_pin"}
        for name, given in arguments.items():
            result = await client.call_tool(name, given)
            assert not result.is_error, text_of(result)
        kept = (await client.call_tool("memory_remember", {"text": "Orders close at seven."})).structured_content
        pinned = (await client.call_tool("memory_pin", {"ids": kept["id"]})).structured_content
        assert pinned["changed"] == 1
        assert (await client.call_tool("memory_forget", {"ids": kept["id"]})).structured_content["forgotten"] == 1

    store = tools.provider.store()
    with_client(tools, use)
    assert store.closed


def test_the_list_of_tools_is_cheap(tools):
    """What an agent pays before it has asked anything: names, descriptions, arguments, and the schemas of answers."""

    async def use(client: Client) -> list[Any]:
        return (await client.list_tools()).tools

    listed = with_client(tools, use)
    paid = json.dumps([[tool.name, tool.description, tool.input_schema] for tool in listed])
    assert estimated_tokens(paid) <= 1_300
    whole = json.dumps([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed])
    assert estimated_tokens(whole) <= 3_550
    hints = {tool.name: tool.annotations for tool in listed}
    assert hints["memory_forget"].destructive_hint and hints["memory_search"].read_only_hint


def test_calls_at_the_same_time(tools):
    expected = {
        "join orders": "Joining orders",
        "late deliveries Malmö": "Late deliveries",
        "Poisson λ": "Poisson λ",
        "boosted trees": "Holdout results",
    }

    async def use(client: Client) -> dict[str, str]:
        found = {}

        async def ask(query: str) -> None:
            answer = (await client.call_tool("memory_search", {"query": query})).structured_content
            found[query] = answer["hits"][0]["title"]

        async with anyio.create_task_group() as group:
            for query in expected:
                group.start_soon(ask, query)
        return found

    assert with_client(tools, use) == expected


def test_a_call_that_nobody_waits_for_is_stopped(tools, monkeypatch):
    """When a client gives a call up, what its thread reads is interrupted."""
    begun, stopped = threading.Event(), threading.Event()
    reading: list[int] = []
    call = tools.call

    def wait(*asked: Any) -> Any:
        reading.append(threading.get_ident())
        begun.set()
        assert stopped.wait(60)
        return call(*asked)

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


BEGIN = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]  # fmt: skip


def searching(number: int) -> dict[str, Any]:
    asked = {"name": "memory_search", "arguments": {"query": f"join orders {number}"}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": asked}


def command(store: Any, *options: str) -> list[str]:
    return [sys.executable, "-m", "jupyter_memory", "--store", str(store.path), "mcp", *options]


def started(store: Any) -> Any:
    return running(command(store), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def asked(store: Any, use: Any, *options: str) -> Any:

    async def run() -> Any:
        program, *arguments = command(store, *options)
        async with Client(StdioServerParameters(command=program, args=arguments, env=dict(os.environ))) as client:
            return await use(client)

    return anyio.run(run)


def test_a_session_over_stdio(week_store):
    """A client searches and stores; what another program adds meanwhile is found; the store is sound after it."""

    async def use(client: Client) -> list[Any]:
        kept = await client.call_tool("memory_remember", {"text": "Orders close at six."})
        answers = [await client.call_tool("memory_search", {"query": query}) for query in ("join orders", "quagga")]
        week_store.add("The quagga is gone.", title="Quagga")
        answers.append(await client.call_tool("memory_search", {"query": "quagga"}))
        return [kept.structured_content["id"], *(one.structured_content["hits"] for one in answers)]

    kept, orders, before, after = asked(week_store, use)
    assert orders[0]["title"] == "Joining orders"
    assert (before, [hit["title"] for hit in after]) == ([], ["Quagga"])
    assert week_store.get(kept).tier == "mcp"
    assert week_store.doctor() == []


def test_options_bound_what_is_seen(week_store):
    """The options of the command are the bounds: read-only, folders from the root and without dots, addresses as is."""

    async def use(client: Client) -> Any:
        names = {tool.name for tool in (await client.list_tools()).tools}
        found = await client.call_tool("memory_search", {"query": "join orders on customer"})
        return names, found.structured_content, (await client.call_tool("memory_status", {})).structured_content

    paths = ("--path", "/projects/week/x/../notes/", "--path", "https://example.org/a")
    names, found, status = asked(week_store, use, "--read-only", *paths)
    assert "memory_remember" not in names and found["hits"] == [] and status["memories"] == 1
    assert status["bounds"] == [
        "path /projects/week/notes (nothing is there now)",
        "path https://example.org/a",
        "without what was run",
    ]


def test_nothing_but_the_protocol_is_written_and_the_end_of_input_is_the_end(week_store):
    """Each line of the output is a message, also after one that is none; when the input is closed, it ends with 0."""
    with started(week_store) as program:
        program.stdin.write(b"no message\n")
        for line in (*BEGIN, searching(2)):
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


PING = '{"jsonrpc": "2.0", "id": %s, "method": "ping"}'


@pytest.mark.parametrize(
    ("sent", "id_", "code"),
    [
        *(("no message", None, -32700), ("[" * 100_000, None, -32700), ("\0", None, -32700)),
        *(("[]", None, -32600), ("17", None, -32600), ('{"jsonrpc": "2.0", "id": 7}', 7, -32600)),
        *(('{"id": 7, "method": "ping"}', 7, -32600), ('{"jsonrpc": "2.0", "id": 7, "method": 1}', 7, -32600)),
        *((PING % "true", None, -32600), (PING % "1.5", None, -32600), (PING % "null", None, -32600)),
        *((PING % '"a"', "a", None), (PING % r'"\ud800"', "\ufffd", None), (PING % 7, 7, None)),
    ],
)
def test_every_line_is_answered(session, sent, id_, code):
    """What is no JSON, or no request, gets an error; half of a pair of surrogates is a mark."""
    [answer] = session(sent)
    assert (answer["id"], answer.get("error", {}).get("code")) == (id_, code)


HALF = "\ud800"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        *(
            ("search", {"query": HALF}),
            ("search", {"query": "a", "filters": {"tag": HALF, "path": [HALF], "lang": HALF}}),
        ),
        *(("search", {"query": "a", "cursor": HALF}), ("search", {"query": "a", "filters": {"since": HALF}})),
        *(("search", {HALF: 1}), ("search", {"query": "a", "mode": HALF}), ("get", {"ids": [HALF], "around": HALF})),
        *(("related", {"id": HALF}), ("remember", {"text": HALF, "title": HALF, "tags": [HALF]})),
        *(("remember", {"text": "a", "domain": HALF, "space": HALF}), ("remember", {"text": "a", "valid_from": HALF})),
        *(("search", {"query": "a", "about_tags": [HALF]}), ("pin", {"ids": HALF})),
        *(("forget", {"ids": HALF}), (HALF, {})),
        *(("search", {"query": "a", "limit": float("nan")}), ("search", {"query": "a", "limit": float("inf")})),
    ],
)
def test_every_argument_is_answered(session, tool, arguments):
    """A call with half of a pair of surrogates, or a number that is none, in any argument gets a result."""
    params = {"name": f"memory_{tool}", "arguments": arguments}
    [answer] = session(json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}))
    assert answer["id"] == 3 and answer["result"]["content"][0]["text"]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Send a line to a real server, and return what it answers before the answer to a ping that follows."""
    path = tmp_path_factory.mktemp("asked") / "memory.sqlite"
    with MemoryStore(path, embedder=None) as store:
        store.add("Orders close at six.")
    with started(SimpleNamespace(path=path)) as program:
        pings = itertools.count(1_000)

        def send(line: str) -> list[dict[str, Any]]:
            number = next(pings)
            program.stdin.write(f"{line}\n".encode())
            program.stdin.flush()
            # Calls are answered in threads, so a ping may be answered first.
            answers = [json.loads(program.stdout.readline())]
            program.stdin.write((PING % number).encode() + b"\n")
            program.stdin.flush()
            while (answer := json.loads(program.stdout.readline()))["id"] != number:
                answers.append(answer)
            return answers

        for line in BEGIN[:1]:
            send(json.dumps(line))
        program.stdin.write(json.dumps(BEGIN[1]).encode() + b"\n")
        yield send
        program.stdin.close()


def test_a_client_that_leaves_in_a_call_ends_the_server_quietly(week_store):
    """When the client closes both ends before it is answered, the server ends with 0 and without a word."""
    with started(week_store) as program:
        for line in (*BEGIN, *map(searching, range(2, 11))):
            program.stdin.write(json.dumps(line).encode() + b"\n")
        program.stdin.flush()
        program.stdout.readline()
        program.stdout.close()
        program.stdin.close()
        complaints = program.stderr.read().decode()
    assert (program.returncode, complaints) == (0, "")


WITH_SDK = """
import importlib.metadata as metadata, sys
def version(name):
    {version}
metadata.version = version
from jupyter_memory import MemoryStore
from jupyter_memory.cli import main
sys.stderr = sys.stdout
print(main(["mcp"]))
"""


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("raise metadata.PackageNotFoundError", "pip install 'jupyter-memory[mcp]'"),
        ("return '1.26.0'", "and 1.26.0 is installed"),
    ],
)
def test_without_the_sdk_it_says_how_to_install_it(version, said):
    """Without the SDK the command names the extra; with another version of it, what to do."""
    shown = run_without([], WITH_SDK.format(version=version))
    assert said in shown and shown.endswith("\n1")


@pytest.mark.parametrize(("option", "said"), [("--path", "The path is empty"), ("--space", "--space is empty")])
def test_a_bound_that_is_empty(capsys, option, said):
    assert main(["mcp", option, ""]) == 1 and said in capsys.readouterr().err


HELP = "from jupyter_memory.cli import main; main(['mcp', '--help']); print({'mcp.server'} & set(sys.modules))"
HEAVY = "print({'numpy', 'apsw', 'pandas', 'mlx'} & set(sys.modules))"


@pytest.mark.parametrize(
    "code",
    [HELP, f"import anyio; from jupyter_memory.cli import main; anyio.run = lambda work: {HEAVY}; main(['mcp'])"],
)
def test_it_begins_light(code):
    """Help does not pay for the SDK; what a search needs is loaded when the server answers already."""
    assert run_without([], code).splitlines()[-1] == "set()"
