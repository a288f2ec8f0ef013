"""The list of stores that are searched together: its names, its places, its order, and where it is kept."""

import json
import os
import shutil
from pathlib import Path

import pytest
import shells
from commands import runner
from IPython.core.error import UsageError

from jupyter_memory import JupyterMemory, MemoryStore, StoreReadOnly, listed_stores, load_config
from jupyter_memory.interface.stores import opened


@pytest.fixture
def run(home, capsys, monkeypatch):
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(home / "m.sqlite"))
    return runner(capsys)


@pytest.fixture
def papers(tmp_path):
    with MemoryStore(tmp_path / "papers.sqlite") as store:
        store.add("Prices are net of tax.", title="Prices")
    return store.path


def names():
    return [one.name for one in listed_stores(load_config())]


def test_the_list(run, papers, tmp_path):
    """A store is added, moved to the front and taken off again; the settings keep what was there before."""
    file = Path(os.environ["JUPYTER_CONFIG_DIR"], "jupyter_memory_config.json")
    file.parent.mkdir(parents=True)
    file.write_text('{"JupyterMemory": {"limit": 7}}')
    shutil.copy(papers, tmp_path / "other.sqlite")

    assert run("store", "add", "papers", str(papers), "--read-only").out == f"added papers: {papers}\n"
    assert run("store", "add", "other", str(tmp_path / "other.sqlite")).code == 0
    assert names() == ["own", "project", "papers", "other"]
    assert run("store", "list").out.splitlines()[1:] == [
        f"papers  {papers}  read only",
        f"other   {tmp_path}/other.sqlite",
    ]
    assert run("store", "order", "other", "own").code == 0
    assert names() == ["other", "own", "project", "papers"]
    assert json.loads(file.read_text())["JupyterMemory"]["limit"] == 7
    assert run("store", "remove", "papers").code == run("store", "remove", "other").code == 0
    assert names() == ["own", "project"] and papers.exists()


@pytest.mark.parametrize(
    ("name", "place", "said"),
    [
        ("λ", "papers.sqlite", "letters, digits"),
        ("a b", "papers.sqlite", "letters, digits"),
        ("", "papers.sqlite", "letters, digits"),
        ("all", "papers.sqlite", "meaning of its own"),
        ("own", "papers.sqlite", "meaning of its own"),
        ("papers", "nowhere.sqlite", "no store at"),
        ("papers", "damaged.sqlite", "not a readable store"),
        ("papers", "mysql://host/base", "neither"),
        ("papers", "postgresql://ada:hunter2@host/base", "password"),
        ("papers", "postgresql://host/base?password=hunter2", "password"),
    ],
)
def test_what_cannot_be_added(run, papers, monkeypatch, name, place, said):
    """The reason is said in one line, without what may be a password, and the list stays as it was."""
    monkeypatch.chdir(papers.parent)
    Path("damaged.sqlite").write_text("This is no database, whatever its name says. " * 40)
    done = run("store", "add", name, place)
    assert done.code == 1 and said in done.err and len(done.err.splitlines()) == 1
    assert "hunter2" not in done.err and names() == ["own", "project"]
    assert not Path("nowhere.sqlite").exists()


def test_the_same_name_twice_and_one_that_is_unknown(run, papers):
    assert run("store", "add", "papers", str(papers)).code == 0
    assert "already" in run("store", "add", "papers", str(papers)).err
    for command in ("remove", "order"):
        assert "Did you mean 'papers'?" in run("store", command, "paper").err
    assert "'own'" in run("store", "remove", "own").err


def test_a_newer_store(run, papers):
    """A store of a newer version is refused before it is on the list."""
    import apsw

    with apsw.Connection(str(papers)) as connection:
        connection.execute("pragma user_version = 99000")
    assert "newer" in run("store", "add", "papers", str(papers)).err and names() == ["own", "project"]


def test_nothing_is_written_into_a_store_that_is_read_only(papers):
    [*_, listed] = listed_stores(JupyterMemory(stores=[{"name": "p", "path": str(papers), "read_only": True}]))
    with opened(listed, JupyterMemory()) as store:
        memory = store.hits("prices").hits[0].memory
        assert not store.note_access(memory.id)
        for change in (lambda: store.add("more"), lambda: store.forget([memory.id]), lambda: store.pin(memory.id)):
            with pytest.raises(StoreReadOnly):
                change()


def test_in_a_notebook(home, papers, capsys):
    """The magic does the same, and its session knows the store at once."""
    shell = shells.made()
    shell.run_line_magic("load_ext", "jupyter_memory")
    shell.run_line_magic("memory", f"store add papers {papers}")
    assert names() == ["own", "project", "papers"]
    shell.run_line_magic("memory", "store")
    assert f"papers  {papers}" in capsys.readouterr().out
    with pytest.raises(UsageError, match="Name the store"):
        shell.run_line_magic("memory", "store add papers")
    shell.run_line_magic("unload_ext", "jupyter_memory")


def test_what_the_settings_may_say():
    """A list that cannot be read is reported by its setting, and the one before stays."""
    settings = JupyterMemory()
    for rows in (
        [{"name": "a"}],
        [{"name": "a", "path": "postgresql://ada:hunter2@host/base"}],
        [{"name": "a", "path": "/a"}, {"name": "a", "path": "/b"}],
    ):
        [problem] = settings.take({"stores": rows}, "a file")
        assert problem.startswith("stores: ") and "hunter2" not in problem
    assert settings.stores == []
