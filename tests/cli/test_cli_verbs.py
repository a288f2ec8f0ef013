"""The commands about single results in a terminal: ranks are those of the last search there, as the store keeps it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from commands import memory_id

from jupyter_memory import open_store

VERBS = ("open", "text", "tag", "related", "good", "bad", "pin", "unpin")


@pytest.mark.parametrize("verb", VERBS)
def test_what_goes_wrong_says_what_to_type(week, verb: str) -> None:
    """Without a search, or a rank that there is, one line says so; a missing word is wrong usage."""
    tag = ["decision"] if verb == "tag" else []
    nothing = week(verb, "1", *tag)
    assert nothing.code == 1 and "No search of the command line is kept" in nothing.err
    week("search", "prices")
    wrong = week(verb, "99", *tag)
    assert wrong.code == 1 and "so there is no rank 99" in wrong.err and wrong.err.count("\n") == 1
    assert week(verb).code == 2 and week(verb, "2-1", *tag).code == 2
    assert week(verb, "three", *tag).code in (1, 2)


def test_ranks_of_the_last_search_here(week) -> None:
    """The last search of a terminal counts, whatever was searched elsewhere; forgetting what it showed forgets it."""
    best = memory_id(week, "scaled prices")
    with open_store() as store:
        store.note_search(store.hits("merge frames"), "magic")

    assert week("text", "1").out == "we scaled the prices to zero mean\n"
    assert week("explain", "mean", "1").out == week("explain", "mean", best).out != ""
    assert week("tag", "1", "net", "price,", "idea").out.startswith(f"tagged net price, idea: {best}")
    assert week("tag", "1", "Idea", "--remove").out.startswith("no longer tagged idea")
    assert week("good", "1").out.startswith("noted as right")
    assert week("pin", "1").out.startswith(f"pinned {best}")
    with open_store() as store:
        [said] = store.feedbacks()
        assert (said.memory_id, said.query, said.rank, said.accepted) == (best, "scaled prices", 1, True)
        assert set(store.get(best).tags) == {"decision", "net price"}
    week("forget", best)
    assert "A search is forgotten with what it showed" in week("text", "1").err


def configure(home: Path, line: str) -> None:
    """Write the file of settings."""
    (home / "config").mkdir(exist_ok=True)
    (home / "config" / "jupyter_memory_config.py").write_text(f"c.JupyterMemory.{line}\n", encoding="utf-8")


def test_ranks_need_the_log_of_searches(week, home: Path) -> None:
    """With log_searches off nothing is kept, so ids are needed, and the error says so."""
    configure(home, "log_searches = False")
    best = memory_id(week, "scaled prices")
    assert "log_searches is off: name memories by their ids" in week("text", "1").err
    assert week("text", best).out == "we scaled the prices to zero mean\n"


def test_several_texts(week) -> None:
    """Several picks come with their titles above them, in the order in which they were named."""
    week("search", "prices and merged frames for Frau Müller", "-n", "3")
    shown = week("text", "2-3", "1").out
    assert [line[:5] for line in shown.splitlines() if line.startswith("──")] == ["── 2 ", "── 3 ", "── 1 "]


def test_related_has_no_ranks_of_its_own(week) -> None:
    """A list of related memories takes a limit, and leaves ranks to the search."""
    week("add", "the prices were scaled by their mean")
    week("search", "scaled prices", "-n", "1")
    done = week("related", "1")
    assert done.code == 0 and ("Ranks in other commands stay those of the last search" in done.err or not done.out)
    one = week("related", "1", "-n", "1").out
    assert one.count(" 1  ") == 1 and " 2  " not in one


def test_undo(week, home: Path) -> None:
    """What is forgotten by one program comes back with the next, if the setting allows it; --now leaves nothing."""
    best = memory_id(week, "scaled prices")
    assert "undo_minutes is 0" in week("undo").err
    configure(home, "undo_minutes = 10")
    done = week("forget", best)
    assert done.out == "forgot 1 memory\n" and "its texts are still in the file" in done.err
    assert "undo" in week("status").out and week("search", "scaled prices", "--json").out.count(best) == 0
    assert week("undo").out == "brought back 1 memory\n" and week("text", best).code == 0
    week("forget", best, "--now")
    assert week("undo").code == 1


def test_update_and_open(week, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Known folders are indexed again; a file opens in the editor, and without one its place is printed."""
    assert "Nothing was indexed yet" in week("update").err
    folder = home / "notes"
    folder.mkdir()
    (folder / "walross.md").write_text("# Walross\n", encoding="utf-8")
    week("index", str(folder))
    (folder / "robbe.md").write_text("# Robbe\n", encoding="utf-8")
    assert "1 file indexed (1 memory), 1 unchanged" in week("update").out
    week("search", "Robbe")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "true")
    assert week("open", "1").out == f"opened {folder / 'robbe.md'}\n"
    monkeypatch.delenv("EDITOR")
    assert week("open", "1").out.startswith(f"{folder / 'robbe.md'}\nTo open it in an editor, name one")


@pytest.fixture
def editor(home: Path, monkeypatch: pytest.MonkeyPatch):
    """Give a function that makes a program of a name, and one that returns with what it was started."""
    (home / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{home / 'bin'}:{os.environ['PATH']}")

    def make(name: str) -> None:
        program = home / "bin" / name
        program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{home / 'opened'}'\n")
        program.chmod(0o755)

    return make, lambda: (home / "opened").read_text().splitlines()


@pytest.mark.parametrize(
    ("name", "command", "expected"),
    [
        ("vim", "vim", ["+7", "{file}"]),
        ("code", "code --wait", ["--wait", "--goto", "{file}:7"]),
        ("subl", "subl -w", ["-w", "{file}:7"]),
        ("notepad", "notepad", ["{file}"]),
        (r"C:\vim\gvim.exe", r"C:\vim\gvim.exe", ["+7", "{file}"]),
        (r"C:\Microsoft VS Code\Code.exe", r'"C:\Microsoft VS Code\Code.exe" --wait', ["--wait", "--goto", "{file}:7"]),
    ],
)
def test_a_result_is_opened_at_its_line(
    run, home: Path, monkeypatch, editor, name: str, command: str, expected
) -> None:
    """`--open` shows the results, and opens the file of one in the editor, at the line where it was found."""
    make, opened = editor
    file = home / "müller.md"
    file.write_text("# Plans\n\n" + "We wait. " * 200 + "\n\n# Ridge\n\nMüller wants λ = 0.3.\n")
    assert run("index", str(file)).code == 0
    make(name)
    monkeypatch.setenv("VISUAL", command)
    done = run("search", "Müller", "--open", "1", "-n", "1")

    assert done.code == 0 and done.out.startswith(" 1  müller.md") and "opened" in done.out.splitlines()[-1]
    assert opened() == [word.format(file=file) for word in expected]
    assert run("search", "Müller", "--open", "3").code == 1
    assert run("search", "Müller", "--open", "1", "--json").code == 2


@pytest.mark.parametrize(("root", "is_shown"), [("work", True), ("elsewhere", False)])
def test_a_notebook_is_opened_in_the_server_that_shows_it(run, home: Path, monkeypatch, editor, root, is_shown) -> None:
    """Only a server that shows the notebook's folder opens it, at its cell; else the editor does."""
    pytest.importorskip("jupyter_server")
    make, opened = editor
    make("browser")
    make("vim")
    monkeypatch.setenv("BROWSER", "browser %s")
    monkeypatch.setenv("VISUAL", "vim")
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(home / "runtime"))
    (home / "runtime").mkdir()
    (home / "work").mkdir()
    for number, folder in ((1, "other"), (2, root)):
        server = {"pid": os.getpid(), "url": f"http://localhost:{number}/", "root_dir": str(home / folder)}
        (home / "runtime" / f"jpserver-{number}.json").write_text(json.dumps(server))
    cell = {"cell_type": "code", "id": "rate", "source": "λ = 0.3", "metadata": {}, "outputs": []}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (home / "work" / "a b.ipynb").write_text(json.dumps(notebook))
    run("index", str(home / "work"))
    run("search", "λ")

    assert run("open", "1").code == 0
    address = "http://localhost:2/lab/tree/a%20b.ipynb#cell-id=rate"
    assert opened() == [address if is_shown else str(home / "work" / "a b.ipynb")]


def test_who_may_only_read_a_store_has_no_ranks(run, postgres_server):
    """The searches of a reader are not kept, so searching again would not help; a memory can be named by its id."""
    tenants = pytest.importorskip("tenants", reason="needs the extra `postgres`")
    with tenants.opened(postgres_server) as team:
        team.grant("ana", "reader")
        url = team.of("ana").url
        found = run("--store", url, "list")
        assert found.code == 0
        memory_id = found.out.split()[0]
        for arguments in (["good", "1"], ["good", memory_id], ["pin", "1"]):
            refused = run("--store", url, *arguments)
            assert refused.code == 1
            assert "may only read this store" in refused.err
        assert run("--store", url, "text", memory_id).code == 0
