"""A store that another process writes to for long: it can be searched; what was to be written is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest
from programs import running

WRITER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def jp_server_config(jp_server_config):
    """The server's settings; it does not wait long for other writers."""
    return {**jp_server_config, "JupyterMemory": {**jp_server_config["JupyterMemory"], "busy_seconds": 0.1}}


@pytest.fixture
def writer(week_in, store_file):
    """Another process that holds the write lock until its input is closed."""
    command = [sys.executable, "-c", WRITER, str(store_file)]
    with running(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "locked\n"
        yield process
        process.stdin.close()


async def test_searches_go_on_and_changes_are_refused(ask, fits, writer):
    """While another program writes, searches answer; a pin and a note are refused with what to do, and work after."""
    found = (await ask("search", {"query": "prices λ", "log": True})).json
    pin = {"memory_id": found["hits"][0]["memory_id"], "pinned": True}
    for route, body in (("pin", pin), ("add", {"text": "λ is 3.2"}), ("forget", {"memory_ids": [pin["memory_id"]]})):
        refused = await ask(route, body)
        assert (refused.code, fits("problem", refused.json)["reason"]) == (503, "StoreLocked")
        assert "try again" in refused.json["message"]

    # What is only counted is left out.
    assert (await ask("access", {"memory_id": pin["memory_id"]})).json == {"recorded": False}

    writer.stdin.close()
    writer.wait(60)
    assert (await ask("pin", pin)).code == 200
    assert (await ask("search", {"query": "prices λ"})).json["places"][0]["pinned"] is True
