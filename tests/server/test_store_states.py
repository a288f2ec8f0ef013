"""A store that is not there, broken, of a newer version, replaced, or used by others at the same time."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import apsw
import pytest
from programs import running

from jupyter_memory import MemoryStore


async def test_no_store_yet(ask, fits, store_file):
    """Status says that there is none, a search that nothing is indexed, and neither makes one."""
    status = fits("status", (await ask("status")).json)
    assert (status["store"]["exists"], status["store"]["memories"], status["notices"]) == (False, 0, [])
    answered = await ask("search", {"query": "prices"})
    assert (answered.code, answered.json["reason"]) == (409, "NoStore")
    assert not store_file.exists()


async def test_the_first_note_makes_the_store(ask, fits, store_file):
    """Remembering something is what makes a store; the item comes back as it is stored."""
    item = fits("item", (await ask("add", {"text": "λ is 3.2", "title": "Rate", "tags": ["model"]})).json)
    assert store_file.exists()
    assert (item["title"], item["tags"], item["tier"]) == ("Rate", ["model"], "note")
    assert fits("item", (await ask("item", {"memory_id": item["memory_id"]})).json) == item


def damaged(path):
    path.write_bytes(b"this is no database, whatever its name says" * 100)


def too_new(path):
    MemoryStore(path).close()
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", 99_000)
    connection.close()


@pytest.mark.parametrize(("spoil", "reason"), [(damaged, "StoreDamaged"), (too_new, "StoreTooNew")])
async def test_a_store_that_cannot_be_opened_says_why(ask, fits, store_file, spoil, reason):
    """Status still answers, with the reason among its notices; all else is refused with it; mended, all works again."""
    store_file.parent.mkdir()
    spoil(store_file)
    status = fits("status", (await ask("status")).json)
    assert status["store"]["exists"] is True
    assert str(store_file) in status["notices"][0]
    for route, body in (("search", {"query": "prices"}), ("add", {"text": "prices"}), ("doctor", None)):
        answered = await ask(route, body)
        assert (answered.code, answered.json["reason"]) == (409, reason)
        assert fits("problem", answered.json)["message"] == status["notices"][0]
    assert len((await ask("models")).json["models"]) > 1

    store_file.unlink()
    assert (await ask("add", {"text": "prices are net of tax"})).code == 200


async def test_a_store_that_was_replaced_is_opened_anew(ask, week_in, store_file):
    """Removed and made again by another program, the file that is there now is the one that is read."""
    assert (await ask("status")).json["store"]["memories"] == 10
    for file in store_file.parent.iterdir():
        file.unlink()
    assert (await ask("status")).json["store"]["exists"] is False
    assert (await ask("add", {"text": "a new beginning"})).code == 200
    assert (await ask("status")).json["store"]["memories"] == 1


async def test_two_clients_at_once(ask, week_in):
    """Searches and notes of two clients at the same time each get their own answer."""
    asked = [("search", {"query": query}) for query in ("Poisson λ", "Zürich", "Deliveries to Malmö")] * 4
    asked += [("add", {"text": f"The λ of day {number}"}) for number in range(4)]
    answers = await asyncio.gather(*(ask(route, body) for route, body in asked))
    assert {one.code for one in answers} == {200}
    first = [one.json["hits"][0]["title"] for one in answers[:3]]
    assert first == ["Poisson λ", "Zürich and Genève", "Late deliveries"]
    assert [one.json["text"] for one in answers[12:]] == [body["text"] for _, body in asked[12:]]


KERNEL = """
import sys
from jupyter_memory import JupyterMemory, MemoryStore
store = MemoryStore(sys.argv[1], "static", settings=JupyterMemory(busy_seconds=120))
print(store.hits("Poisson").hits[0].memory.title)
for number in range(20):
    store.add(f"The kernel of day {number} says λ")
store.close()
"""


async def test_kernel_and_server_share_a_store(ask, week_in, store_file):
    """A process writes what it remembers while the server searches and adds, and each finds the other's."""
    command = [sys.executable, "-c", KERNEL, str(store_file)]
    kernel = asyncio.create_task(asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True))
    added = 0
    while not kernel.done():
        assert (await ask("add", {"text": f"The server says number {added}"})).code == 200
        assert (await ask("search", {"query": "kernel says"})).code == 200
        added += 1
    assert (await kernel).stdout.split() == ["Poisson", "λ"]
    assert (await ask("status")).json["store"]["memories"] == 10 + 20 + added
    assert "kernel" in (await ask("search", {"query": "kernel of day 7"})).json["hits"][0]["snippet"]


async def test_a_cell_is_remembered_with_its_notebook(ask, fits, notebook):
    """What the panel adds from a notebook names it as its source, and the language of its kernel."""
    cell = {"text": "λ = 3.2", "kind": "cell", "lang": "python", "source": str(notebook), "metadata": {"index": 1}}
    item = fits("item", (await ask("add", cell)).json)
    assert {name: item[name] for name in ("kind", "lang", "source")} == {
        "kind": "cell",
        "lang": "python",
        "source": str(notebook),
    }
    assert item["place"]["path"] == "prices/orders.ipynb"
    found = (await ask("search", {"query": "λ", "filters": {"lang": ["python"]}})).json
    assert [hit["memory_id"] for hit in found["hits"]] == [item["memory_id"]]


async def test_a_pin_is_put_on_and_taken_off(ask, fits, week_in):
    """Pinned, a memory is core; then it has its tier again; title, text and tags are replaced as asked."""
    memory = week_in.hits("Poisson").hits[0].memory.id
    assert fits("item", (await ask("pin", {"memory_id": memory, "pinned": True})).json)["tier"] == "core"
    assert (await ask("pin", {"memory_id": memory, "pinned": False})).json["tier"] == "note"
    changed = {"memory_id": memory, "title": "Rate", "tags": ["λ"], "text": "The rate is 3.1."}
    item = fits("item", (await ask("update", changed)).json)
    assert {name: item[name] for name in changed} == changed


async def test_forgotten_is_gone(ask, fits, week_in):
    """By ids, or by a source with the number of its memories; the answer says how many."""
    memory = week_in.hits("Poisson").hits[0].memory.id
    assert fits("forgotten", (await ask("forget", {"memory_ids": [memory]})).json) == {"forgotten": 1}
    assert (await ask("item", {"memory_id": memory})).code == 404
    for agreed in ({}, {"count": 1}, {"count": 3}):
        refused = await ask("forget", {"source": "/projects/week", **agreed})
        assert (refused.code, refused.json["reason"]) == (409, "CountDiffers")
        assert "would forget 2 memories" in fits("problem", refused.json)["message"]
    assert (await ask("forget", {"source": "/projects/week", "count": 2})).json == {"forgotten": 2}
    assert json.dumps((await ask("browse", {})).json).count("/projects/week") == 0


WRITER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def writer(week_in, store_file):
    """Another process that holds the write lock until its input is closed."""
    command = [sys.executable, "-c", WRITER, str(store_file)]
    with running(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "locked\n"
        yield process
        process.stdin.close()


@pytest.mark.parametrize("jp_server_config", [{"JupyterMemory": {"busy_seconds": 0.1}}], indirect=True)
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
