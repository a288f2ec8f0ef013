"""Loading into a server is light, and a kernel needs no server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from traitlets import TraitError

import jupyter_memory
from jupyter_memory import NoStore, StoreReadOnly
from jupyter_memory.server import load

ROOT = Path(jupyter_memory.__file__).parents[1]
HEAVY = {"mlx", "pandas", "numpy", "apsw", "sqlite_vec", "tokenizers", "IPython", "dateparser", "pathspec"}


def run(code: str, *arguments: str, **environment: str) -> str:
    command, variables = [sys.executable, "-c", code, *arguments], os.environ | environment
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100, env=variables)
    return done.stdout.strip()


def test_loading_wakes_nothing_heavy():
    """A server that has loaded the memory has not loaded SQLite, NumPy, MLX or pandas for it."""
    loaded = "import sys, jupyter_server.serverapp; before = set(sys.modules); from jupyter_memory.server import load"
    assert run(f"{loaded}; print(sorted(({HEAVY} & set(sys.modules)) - before))") == "[]"


def test_the_hooks_need_no_server():
    """Where jupyter_server is not installed the package loads, and says where its extensions are."""
    without = "import sys; sys.modules['jupyter_server'] = sys.modules['tornado'] = None; import jupyter_memory as m"
    shown = "print(m._jupyter_server_extension_points(), m._jupyter_labextension_paths())"
    assert run(f"{without}; m.MemoryStore; {shown}") == (
        "[{'module': 'jupyter_memory'}] [{'src': 'labextension', 'dest': 'jupyter-memory'}]"
    )


def test_the_panel_has_the_name_that_its_package_has():
    """Lab finds the panel under the name of package.json, and the server extension is switched on where it is."""
    package = json.loads((ROOT / "package.json").read_text("utf-8"))
    [path] = jupyter_memory._jupyter_labextension_paths()
    assert path["dest"] == package["name"]
    assert package["jupyterlab"]["outputDir"] == f"jupyter_memory/{path['src']}"
    switched_on = json.loads((ROOT / "jupyter-config/server-config/jupyter_memory.json").read_text("utf-8"))
    assert switched_on == {"ServerApp": {"jpserver_extensions": {"jupyter_memory": True}}}


async def test_status_wakes_no_model(week_in, store_file, home, tmp_path):
    """The route that is polled neither loads a model nor looks through folders."""
    code = """
import asyncio, sys
from types import SimpleNamespace
from jupyter_events import EventLogger
from jupyter_server.services.contents.filemanager import FileContentsManager
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
    assert run(code, str(tmp_path), JUPYTER_MEMORY_PATH=str(store_file)).split("\n")[-2:] == ["1", "[]"]


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


@pytest.mark.parametrize("route", ["status", "jobs"])
async def test_what_is_polled_does_not_keep_a_server_awake(ask, jp_serverapp, route):
    """A panel that only looks does not count as somebody at work."""
    jp_serverapp.web_app.settings.pop("api_last_activity", None)
    await ask(route)
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
