"""The commands about single results in a terminal: ranks are those of the last search there, as the store keeps it."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import memory_id

from jupyter_memory import open_store
from jupyter_memory.interface.opening import editing, in_lab

CODE = r"C:\Program Files\Microsoft VS Code\Code.exe"
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
    assert week("tag", "1", "net", "price,", "idea").out.startswith(f"tagged net price, idea: {best}")
    assert week("tag", "1", "Idea", "--remove").out.startswith("no longer tagged idea")
    assert week("good", "1").out.startswith("noted as right")
    assert week("pin", "1").out.startswith(f"pinned {best}")
    with open_store() as store:
        [said] = store.feedbacks()
        assert (said.memory_id, said.query, said.rank, said.accepted) == (best, "scaled prices", 1, True)
        assert store.get(best).tags == ("decision", "net price") or set(store.get(best).tags) == {
            "decision",
            "net price",
        }
    week("forget", best)
    assert "A search is forgotten with what it showed" in week("text", "1").err


def test_ranks_need_the_log_of_searches(week, home: Path) -> None:
    """With log_searches off nothing is kept, so ids are needed, and the error says so."""
    (home / "config").mkdir(exist_ok=True)
    (home / "config" / "jupyter_memory_config.py").write_text(
        "c.JupyterMemory.log_searches = False\n", encoding="utf-8"
    )
    best = memory_id(week, "scaled prices")

    assert "log_searches is off: name memories by their ids" in week("text", "1").err
    assert week("text", best).out == "we scaled the prices to zero mean\n"


def test_several_texts(week) -> None:
    """Several picks come with their titles above them, in the order in which they were named."""
    week("search", "prices and merged frames for Frau Müller", "-n", "3")
    shown = week("text", "2-3", "1").out
    assert [line[:5] for line in shown.splitlines() if line.startswith("──")] == ["── 2 ", "── 3 ", "── 1 "]


def test_explain_takes_a_rank_with_a_query(week) -> None:
    """A rank of the last search stands for its memory; alone, it is wrong usage that says what to type."""
    best = memory_id(week, "scaled prices")
    assert week("explain", "mean", "1").out == week("explain", "mean", best).out != ""
    alone = week("explain", "1")
    assert alone.code == 2 and 'jupyter-memory explain "prices" 1' in alone.err


def test_related_takes_a_limit(week) -> None:
    """As a search does."""
    week("add", "the prices were scaled by their mean")
    week("search", "scaled prices")
    assert week("related", "1", "-n", "1").out.count(" 1  ") == 1
    assert " 2  " not in week("related", "1", "-n", "1").out


def test_related_has_no_ranks_of_its_own(week) -> None:
    """A list of related memories leaves ranks to the search, and says so where that may mislead."""
    week("add", "the prices were scaled by their mean")
    week("search", "scaled prices", "-n", "1")
    done = week("related", "1")
    assert done.code == 0 and ("Ranks in other commands stay those of the last search" in done.err or not done.out)


def test_undo(week, home: Path) -> None:
    """What is forgotten by one program comes back with the next, if the setting allows it; --now leaves nothing."""
    best = memory_id(week, "scaled prices")
    assert "undo_minutes is 0" in week("undo").err
    (home / "config").mkdir(exist_ok=True)
    (home / "config" / "jupyter_memory_config.py").write_text("c.JupyterMemory.undo_minutes = 10\n", encoding="utf-8")
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


@pytest.mark.parametrize(
    ("editor", "expected"),
    [
        (rf'"{CODE}" --wait', [CODE, "--wait", "--goto", r"C:\λ\a.py:3"]),
        (r"C:\vim\gvim.exe", [r"C:\vim\gvim.exe", "+3", r"C:\λ\a.py"]),
        ("notepad", ["notepad", r"C:\λ\a.py"]),
        ("subl -w", ["subl", "-w", r"C:\λ\a.py:3"]),
    ],
)  # fmt: skip
def test_editors_are_told_the_line(editor: str, expected: list[str]) -> None:
    """A path with backslashes and blanks stays one word, and editors that know lines get theirs."""
    assert editing(editor, r"C:\λ\a.py", "3") == expected


def test_a_notebook_outside_of_every_server() -> None:
    """Only a server that shows the notebook's folder opens it."""
    servers = [
        {"url": "http://localhost:8888/", "root_dir": "/other"},
        {"url": "http://localhost:8889/", "root_dir": "/w"},
    ]
    assert in_lab("/w/a.ipynb", "#3", servers) == "http://localhost:8889/lab/tree/a.ipynb"
    assert in_lab("/elsewhere/a.ipynb", "c", servers) == ""


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
