"""Every door to a store takes a file or the URL of a database, and no URL that would show a password."""

from __future__ import annotations

import sys

import pytest

from jupyter_memory import (
    InputError,
    JupyterMemory,
    MemoryStore,
    MissingExtra,
    companion,
    load_config,
    open_store,
    store_path,
)
from jupyter_memory.cli import main
from jupyter_memory.interface import StoreProvider
from jupyter_memory.text import DatabaseAddress

URL = "postgresql://ada@db.invalid/team"
SECRET = "postgresql://ada:s3cr3t-λ@db.invalid/team"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("JUPYTER_MEMORY_PATH", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("opened", [MemoryStore, open_store])
@pytest.mark.parametrize("url", ["mysql://db/team", "sqlite:///a.sqlite", "http://db", SECRET])
def test_a_url_that_cannot_be_a_store_is_refused(opened, url, tmp_path):
    """Both ways to open a store refuse it, and make no folder of that name."""
    with pytest.raises(InputError) as raised:
        opened(url)
    assert "s3cr3t" not in str(raised.value)
    assert not [path.name for path in tmp_path.iterdir() if ":" in path.name]


@pytest.mark.parametrize("opened", [MemoryStore, open_store])
def test_without_the_extra_the_error_names_it(opened, monkeypatch):
    """Where the driver is not installed, a URL tells which extra brings it."""
    for name in [name for name in sys.modules if name.startswith("jupyter_memory.storage.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"jupyter-memory\[postgres\]"):
        opened(URL)


def test_the_setting_and_the_environment_take_a_url(monkeypatch):
    """A URL names a database wherever a path names a file; it is not made a path."""
    assert store_path(JupyterMemory(path=URL)) == DatabaseAddress(URL)
    assert StoreProvider(JupyterMemory(path=URL)).path == DatabaseAddress(URL)
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", URL)
    assert store_path(load_config()) == DatabaseAddress(URL)


def test_a_password_in_the_environment_is_refused_and_not_shown(monkeypatch, capsys):
    """Neither the warning nor the error of a command shows it, and no other store is opened instead."""
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", SECRET)
    assert main(["status"]) == 1
    shown = capsys.readouterr()
    assert "holds a password" in shown.err
    assert "s3cr3t" not in shown.out + shown.err


def test_the_option_takes_a_url_and_refuses_a_password(capsys):
    """A wrong URL after --store is wrong usage."""
    for url, said in ((SECRET, "~/.pgpass"), ("mysql://db/team", "postgresql://USER@HOST/DATABASE")):
        assert main(["--store", url, "status"]) == 2
        shown = " ".join(capsys.readouterr().err.replace("│", " ").split())
        assert said in shown
        assert "s3cr3t" not in shown


def test_what_belongs_to_a_database_here_is_in_the_data_folder(tmp_path):
    """Locks and golden sets of two databases are apart, and beside no file that is called like a URL."""
    here = companion(DatabaseAddress(URL))
    assert here.parent == tmp_path / "data" / "memory"
    assert here != companion(DatabaseAddress(URL + "2"))
    assert companion(tmp_path / "m.sqlite") == tmp_path / "m.sqlite"
