"""What a server finds when it starts: settings, a store that is not there, broken, replaced, or used by others."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from blocked import run_without
from inside import while_another_writes
from traitlets import TraitError

from jupyter_memory import MemoryStore, NoStore, StoreReadOnly
from jupyter_memory.server import load


async def test_no_store_yet(ask, fits, store_file):
    """Neither status nor a search makes one; remembering something does, and the item comes back as it is stored."""
    status = fits("status", (await ask("status")).json)
    assert (status["store"]["exists"], status["store"]["memories"], status["notices"]) == (False, 0, [])
    answered = await ask("search", {"query": "prices"})
    assert (answered.code, answered.json["reason"]) == (409, "NoStore")
    assert not store_file.exists()
    item = fits("item", (await ask("add", {"text": "λ is 3.2", "title": "Rate", "tags": ["model"]})).json)
    assert store_file.exists()
    assert (item["title"], item["tags"], item["tier"]) == ("Rate", ["model"], "note")
    for asked in ({}, {"runnable": True}):  # a note is not code
        assert fits("item", (await ask("item", {"memory_id": item["memory_id"], **asked})).json) == item
    code = await ask("add", {"text": "λ = 1", "kind": "history", "lang": "python"})
    found = await ask("item", {"memory_id": code.json["memory_id"], "runnable": True})
    assert fits("item", found.json)["runnable"] == "λ = 1"


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
    assert (await ask("status")).json["store"]["memories"] == 10
    for file in store_file.parent.iterdir():
        file.unlink()
    assert (await ask("status")).json["store"]["exists"] is False
    assert (await ask("add", {"text": "a new beginning"})).code == 200
    assert (await ask("status")).json["store"]["memories"] == 1


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
    assert all(item[name] == cell[name] for name in ("kind", "lang", "source"))
    assert item["place"]["path"] == "prices/orders.ipynb"
    found = (await ask("search", {"query": "λ", "filters": {"lang": ["python"]}})).json
    assert [hit["memory_id"] for hit in found["hits"]] == [item["memory_id"]]


async def test_a_pin_is_put_on_and_taken_off(ask, fits, week_in):
    memory = week_in.hits("Poisson").hits[0].memory.id
    assert fits("item", (await ask("pin", {"memory_id": memory, "pinned": True})).json)["tier"] == "core"
    assert (await ask("pin", {"memory_id": memory, "pinned": False})).json["tier"] == "note"
    changed = {"memory_id": memory, "title": "Rate", "tags": ["λ"], "text": "The rate is 3.1."}
    item = fits("item", (await ask("update", changed)).json)
    assert {name: item[name] for name in changed} == changed


async def test_forgotten_is_gone(ask, fits, week_in):
    memory = week_in.hits("Poisson").hits[0].memory.id
    assert fits("forgotten", (await ask("forget", {"memory_ids": [memory]})).json) == {"forgotten": 1}
    assert (await ask("item", {"memory_id": memory})).code == 404
    for agreed in ({}, {"count": 1}, {"count": 3}):
        refused = await ask("forget", {"source": "/projects/week", **agreed})
        assert (refused.code, refused.json["reason"]) == (409, "CountDiffers")
        assert "would forget 2 memories" in fits("problem", refused.json)["message"]
    assert (await ask("forget", {"source": "/projects/week", "count": 2})).json == {"forgotten": 2}
    assert json.dumps((await ask("browse", {})).json).count("/projects/week") == 0


@pytest.mark.parametrize("jp_server_config", [{"JupyterMemory": {"busy_seconds": 0.1}}], indirect=True)
async def test_searches_go_on_and_changes_are_refused(ask, fits, week_in):
    """While another program writes, searches answer; a pin and a note are refused with what to do, and work after."""
    with while_another_writes(week_in):
        found = (await ask("search", {"query": "prices λ", "log": True})).json
        memory = found["hits"][0]["memory_id"]
        pin = {"memory_id": memory, "pinned": True}
        for route, body in (("pin", pin), ("add", {"text": "λ is 3.2"}), ("forget", {"memory_ids": [memory]})):
            refused = await ask(route, body)
            assert (refused.code, fits("problem", refused.json)["reason"]) == (503, "StoreLocked")
            assert "try again" in refused.json["message"]
        # What is only counted is left out.
        assert (await ask("access", {"memory_id": memory})).json == {"recorded": False}
    assert (await ask("pin", pin)).code == 200
    assert (await ask("search", {"query": "prices λ"})).json["places"][0]["pinned"] is True


HEAVY = {"mlx", "pandas", "numpy", "apsw", "sqlite_vec", "tokenizers", "IPython", "dateparser"}


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "import sys, jupyter_server.serverapp; before = set(sys.modules); from jupyter_memory.server import load\n"
            f"print(sorted(({HEAVY} & set(sys.modules)) - before))",
            "[]",
        ),
        # Where jupyter_server is not installed the package loads, and says where its extensions are.
        (
            "import sys; sys.modules['jupyter_server'] = sys.modules['tornado'] = None; import jupyter_memory as m\n"
            "m.MemoryStore; print(m._jupyter_server_extension_points(), m._jupyter_labextension_paths())",
            "[{'module': 'jupyter_memory'}] [{'src': 'labextension', 'dest': 'jupyter-memory'}]",
        ),
    ],
)
def test_loading_is_light(code, said):
    """A server with the memory has loaded neither SQLite, NumPy, MLX nor pandas; a kernel needs no server."""
    assert run_without([], code) == said


async def test_status_wakes_no_model(week_in, store_file, home, tmp_path, monkeypatch):
    """The route that is polled neither loads a model nor looks through folders."""
    code = """
import asyncio, sys
from jupyter_server.serverapp import ServerApp
from tornado.httpserver import HTTPServer
from tornado.httpclient import AsyncHTTPClient
from tornado.testing import bind_unused_port

async def ask():
    app = ServerApp(root_dir=sys.argv[1], jpserver_extensions={"jupyter_memory": True}, token="λ", open_browser=False)
    app.initialize([], new_httpserver=False)
    socket, port = bind_unused_port()
    HTTPServer(app.web_app).add_sockets([socket])
    url = f"http://127.0.0.1:{port}/jupyter-memory/status?token=%CE%BB"
    print((await AsyncHTTPClient().fetch(url)).body.count(b'"memories": 10'))

asyncio.run(ask())
print(sorted({"mlx", "tokenizers", "pandas"} & set(sys.modules)))
"""
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(store_file))
    assert run_without([], code, str(tmp_path)).split("\n")[-2:] == ["1", "[]"]


async def test_the_settings_are_those_of_server_and_files(
    jp_configurable_serverapp, jp_server_config, home, tmp_path, monkeypatch
):
    """What jupyter_memory_config.json says holds in the server, and the server's own configuration overrides it."""
    config = home / "config" / "jupyter_memory_config.json"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(json.dumps({"JupyterMemory": {"limit": 3, "path": str(tmp_path / "other.sqlite")}}), "utf-8")
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(config.parent))
    service = jp_configurable_serverapp().web_app.settings["jupyter_memory_service"]
    assert service.settings.limit == 3
    assert service.provider.path == Path(jp_server_config["JupyterMemory"]["path"])


@pytest.mark.parametrize(
    ("route", "asked"), [("status", None), ("jobs", None), ("thumbnail", {"memory_id": "none", "place": 0})]
)
async def test_what_is_polled_does_not_keep_a_server_awake(ask, jp_serverapp, route, asked):
    """A panel that only looks does not count as somebody at work."""
    jp_serverapp.web_app.settings.pop("api_last_activity", None)
    await ask(route, asked)
    assert "api_last_activity" not in jp_serverapp.web_app.settings
    await ask("profiles")
    assert "api_last_activity" in jp_serverapp.web_app.settings


@pytest.mark.parametrize("jp_base_url", ["/user/ada+b.c/"])
async def test_the_address_of_a_server_is_no_pattern(http_server_client, jp_auth_header, service, jp_base_url):
    """A hub gives each server an address with the user's name in it, whatever signs that has."""
    for address, code in ((jp_base_url, 200), (jp_base_url.replace(".", "x"), 404)):
        url = f"{address}jupyter-memory/status"
        assert (await http_server_client.fetch(url, headers=jp_auth_header, raise_error=False)).code == code


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"threads": 0}, "threads"), ({"only_user": 7}, "only_user"), ({"root": "/λ/nowhere"}, "is not a folder")],
)
def test_a_wrong_limit_keeps_the_memory_shut(jp_configurable_serverapp, jp_server_config, wrong, said):
    """A misspelt user must not let everybody in: the server runs, without the memory, and its log says why."""
    config = {**jp_server_config, "JupyterMemoryServer": wrong}
    config["ServerApp"] = {**config["ServerApp"], "reraise_server_extension_failures": False}
    app = jp_configurable_serverapp(config=config)
    assert "jupyter_memory_service" not in app.web_app.settings
    with pytest.raises(TraitError, match=said):
        load(app)


async def test_a_store_where_nothing_can_be_keeps_no_server_from_starting(
    jp_configurable_serverapp, jp_server_config, tmp_path
):
    """Settings may name a path that this machine cannot have: searches and notes say so, and nothing breaks."""
    path = tmp_path / ("λ" * 300) / "memory.sqlite"
    config = {**jp_server_config, "JupyterMemory": {**jp_server_config["JupyterMemory"], "path": str(path)}}
    service = jp_configurable_serverapp(config=config).web_app.settings["jupyter_memory_service"]
    with pytest.raises(NoStore):
        service.provider.store()
    with pytest.raises(StoreReadOnly, match="No store can be made"):
        service.provider.store(create=True)
