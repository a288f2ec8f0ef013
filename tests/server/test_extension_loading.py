"""Loading into a server is light, and a kernel needs no server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from traitlets import TraitError

import jupyter_memory
from jupyter_memory import NoStore, StoreReadOnly
from jupyter_memory.server import load
from jupyter_memory.server.extension import SETTING
from jupyter_memory.server.handlers import ROUTES, routes
from jupyter_memory.server.handlers.about import status

ROOT = Path(jupyter_memory.__file__).parents[1]
HEAVY = {"mlx", "pandas", "numpy", "apsw", "sqlite_vec", "tokenizers", "IPython", "dateparser", "pathspec"}


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=100
    ).stdout.strip()


def test_loading_wakes_nothing_heavy():
    """A server that has loaded the memory has not loaded SQLite, NumPy, MLX or pandas for it."""
    loaded = "import sys, jupyter_server.serverapp; before = set(sys.modules); import jupyter_memory.server.extension"
    assert run(f"{loaded}; print(sorted(({HEAVY} & set(sys.modules)) - before))") == "[]"


def test_the_hooks_need_no_server():
    """Where jupyter_server is not installed the package loads, and says where its extensions are."""
    without = "import sys; sys.modules['jupyter_server'] = sys.modules['tornado'] = None; import jupyter_memory as m"
    shown = "print(m._jupyter_server_extension_points(), m._jupyter_labextension_paths())"
    assert run(f"{without}; import jupyter_memory.store.memory_store; {shown}") == (
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


async def test_status_wakes_no_model(ask, week_in, service):
    """The route that is polled neither loads a model nor looks through folders."""
    code = """
import sys
from types import SimpleNamespace
from jupyter_memory.config import load_config
from jupyter_memory.server.handlers import ROUTES, routes
from jupyter_memory.server.handlers.about import status
from jupyter_memory.server.locations import Root
from jupyter_memory.interface.store_provider import StoreProvider
settings = load_config()
settings.path = sys.argv[1] if len(sys.argv) > 1 else {path!r}
jobs = SimpleNamespace(listed=list)
provider = StoreProvider(settings)
service = SimpleNamespace(settings=settings, provider=provider, problems=(), offer="", root=Root(None), jobs=jobs)
assert status(service)["store"]["memories"] == 10
print(sorted({{'mlx', 'tokenizers', 'pandas'}} & set(sys.modules)))
"""
    assert run(code.format(path=str(service.provider.path))) == "[]"


async def test_the_settings_are_those_of_server_and_files(
    jp_configurable_serverapp, jp_server_config, home, tmp_path, monkeypatch
):
    """What jupyter_memory_config.json says holds in the server, and the server's own configuration overrides it."""
    config = home / "config" / "jupyter_memory_config.json"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(json.dumps({"JupyterMemory": {"limit": 3, "path": str(tmp_path / "other.sqlite")}}), "utf-8")
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(config.parent))
    service = jp_configurable_serverapp().web_app.settings[SETTING]
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


def test_the_address_of_a_server_is_no_pattern(service):
    """A hub gives each server an address with the user's name in it, whatever signs that has."""
    address = "/user/ada+b.(c)/"
    patterns = [pattern for pattern, *_ in routes(address, service)]
    asked = [f"{address}jupyter-memory/{name}" for name in ROUTES]
    assert all(re.fullmatch(pattern, path) for pattern, path in zip(patterns, asked, strict=True))
    assert not any(re.fullmatch(pattern, path.replace(".", "x")) for pattern in patterns for path in asked)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"threads": 0}, "threads"), ({"only_user": 7}, "only_user"), ({"root": "/λ/nowhere"}, "is not a folder")],
)
def test_a_wrong_limit_keeps_the_memory_shut(jp_configurable_serverapp, jp_server_config, wrong, said):
    """A misspelt user must not let everybody in: the server runs, without the memory, and its log says why."""
    config = {**jp_server_config, "JupyterMemoryServer": wrong}
    config["ServerApp"] = {**config["ServerApp"], "reraise_server_extension_failures": False}
    app = jp_configurable_serverapp(config=config)
    assert SETTING not in app.web_app.settings
    with pytest.raises(TraitError, match=said):
        load(app)


async def test_a_store_where_nothing_can_be_keeps_no_server_from_starting(
    jp_configurable_serverapp, jp_server_config, tmp_path
):
    """Settings may name a path that this machine cannot have: status and search say so, and nothing breaks."""
    path = tmp_path / ("λ" * 300) / "memory.sqlite"
    config = {**jp_server_config, "JupyterMemory": {**jp_server_config["JupyterMemory"], "path": str(path)}}
    service = jp_configurable_serverapp(config=config).web_app.settings[SETTING]
    told = status(service)["store"]
    assert (told["path"], told["exists"], told["memories"]) == (str(path), False, 0)
    with pytest.raises(NoStore):
        service.provider.store()
    with pytest.raises(StoreReadOnly, match="No store can be made"):
        service.provider.store(create=True)
