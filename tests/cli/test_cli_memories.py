"""Commands that change what is remembered: add, index, watch, fix, and forget with what it asks first."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import sleep

import pytest
from commands import PROGRAM, Run, Terminal, memories, memory_id
from programs import running, until

from jupyter_memory import MemoryStore
from jupyter_memory.types import Run as RunOf
from jupyter_memory.types import RunError

NOON = datetime(2026, 3, 6, 12, tzinfo=UTC)


def test_index(run: Run, home: Path) -> None:
    folder = home / "reports"
    folder.mkdir()
    (folder / "müller.md").write_text("# Müller\n\nThe ridge model has λ = 0.3.\n", encoding="utf-8")
    (home / "prices.xyz").write_text("ü;3")
    assert "1 file indexed" in run("index", str(folder)).out
    assert "~/reports/müller.md" in run("search", "ridge", "model").out
    done = run("index", str(home / "nowhere.md"), str(home / "prices.xyz"), str(folder))
    assert (done.code, "1 unchanged" in done.out) == (1, True)
    assert [line.startswith("Error: ") for line in done.err.splitlines()].count(True) == 2
    assert "nowhere.md" in done.err and "not a file of a known kind" in done.err


def test_folders_and_the_golden_set(run: Run, home: Path) -> None:
    """A folder is described, hidden and named in a terminal, too; so is what nobody judged, and then the weights."""
    folder = home / "reports"
    folder.mkdir()
    for name in ("müller", "zürich"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nThe ridge model of {name} has λ = 0.3.\n", encoding="utf-8")
    run("index", str(folder))
    assert f"described {folder}" in run("folders", "describe", str(folder), "drafts,", "superseded").out
    [hit, _] = json.loads(run("search", "--json", "ridge", "model").out)["hits"]
    assert hit["folder_description"] == "drafts, superseded"
    assert " · drafts, superseded" in run("search", hit["title"]).out
    run("folders", "hide", str(folder))
    assert "hidden  drafts, superseded" in run("folders", "list").out
    assert "2 memories are hidden" in run("search", "ridge").err
    assert "Its folder is hidden" in run("explain", "ridge", hit["memory_id"]).out
    assert run("search", "--quiet", "ridge", "--path", "reports").code == 0
    run("folders", "hide", "--off", str(folder))
    assert run("folders", "describe", str(folder)).code == run("folders", "describe", str(folder), "").code == 2

    run("search", "ridge", "model")
    run("good", "2")
    _, row = run("eval", "pool", "-p", "auto").out.splitlines()
    assert "first: “" in run("eval", "pool", "-p", "auto", "--first", row.split()[0]).out
    assert run("eval", "pool", "--right", "zzzzzz").code == 1
    assert "there is nothing to lift" in run("eval", "tune").err
    for name, own, other in (("pool", "--first", "--notebooks"), ("tune", "[FILE]", "--right")):
        told = run("eval", name, "--help").out
        assert f"eval {name} [OPTIONS]" in told and own in told and other not in told
    assert "--first" not in run("eval", "--help").out
    assert run("eval", "pool", "auto").code == run("eval", "tune", "a.toml", "b.toml").code == 2


def test_standard_input(home: Path, week: Run) -> None:
    command = [*PROGRAM, "add", "-", "--title", "Piped"]
    subprocess.run(command, input="first λ\n  second ü\n", capture_output=True, text=True, check=True, timeout=100)
    with MemoryStore(home / "m.sqlite") as store:
        assert store.get(memory_id(week, "second ü")).text.rstrip("\n") == "first λ\n  second ü"


def test_ctrl_c(home: Path, halfway) -> None:
    folder, stops, wait = halfway
    code = f"{stops}\nfrom jupyter_memory.cli import main\nraise SystemExit(main(['index', {str(folder)!r}]))"
    with running([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        wait(program)
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=100)
    assert (program.returncode, out) == (130, "")
    greeting, said = err.splitlines()
    assert greeting.startswith("This store searches by meaning with")
    assert re.match(r"Interrupted: the store holds [1-9][\d,]* memories of", said)


@pytest.fixture
def notes(home: Path) -> Path:
    (home / "notes").mkdir()
    (home / "notes" / "one.md").write_text("The tariff of Zürich.\n")
    return home / "notes"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
def test_watching_remembers_changes_until_it_is_interrupted(home: Path, notes: Path) -> None:
    command, store = [*PROGRAM, "watch", str(notes)], home / "m.sqlite"
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        until(store.exists)
        with MemoryStore(store) as memory:
            until(lambda: memory.hits("tariff").hits)
            (notes / "two.md").write_text("The fare of Malmö.\n")
            until(lambda: any("fare" in hit.memory.text for hit in memory.hits("fare").hits))
        sleep(0.5)
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=20)
    assert program.returncode == 0, err
    assert "1 change remembered" in out
    assert "watching 1 folder" in err and "Traceback" not in err


def test_a_folder_to_watch(run: Run, home: Path, notes: Path) -> None:
    run("add", "A note.")
    nothing = run("watch")
    assert nothing.code == 2 and "jupyter-memory watch ~/notebooks" in nothing.err
    file = run("watch", str(notes / "one.md"))
    assert file.code == 1 and "is not a folder" in file.err

    with MemoryStore(home / "m.sqlite") as memory:
        memory.index(notes, progress=False)
        memory.watch(notes)
    assert run("watch", "--off", str(notes)).code == 0
    with MemoryStore(home / "m.sqlite") as memory:
        assert not any(one.watched for one in memory.folders()) and memory.hits("tariff").hits
    strange = run("watch", "--off", str(home / "nosuch"))
    assert strange.code == 1 and "is not watched either" in strange.err
    assert run("watch", "--off").code == 2


def test_history(run: Run, home: Path) -> None:
    """Status counts runs and kernels; a script has to say --yes to clear them; a terminal records nothing."""
    with MemoryStore(home / "m.sqlite") as store:
        store.history.record([RunOf("λ = 0.3", NOON, "a", 1, outcome="ok")])
    said = run("history", "status").out
    assert "1 run of 1 text" in said and "0 kernels" in said
    assert run("search", "kind:history λ").code == 0
    assert "\n\n    λ = 0.3" in run("history", "versions", "1").out
    assert '"outcome": "ok"' in run("history", "runs", "1", "--json").out
    on = run("history", "on")
    assert on.code == 2 and "There is no command 'on'" in on.err
    assert run("history", "clear").code == 2
    assert "forgot 1 run, 1 memory" in run("history", "clear", "--yes").out
    with MemoryStore(home / "m.sqlite") as store:
        assert store.history.runs() == []


MESSAGE = 'can only concatenate str (not "int") to str'
TRACEBACK = f"""Traceback (most recent call last):
  File "/home/ida/report.py", line 3, in <module>
    total = "sum: " + {{name}}
TypeError: {MESSAGE}
"""


@pytest.fixture
def known(run: Run, home: Path) -> Run:
    error = RunError("TypeError", MESSAGE, TRACEBACK.format(name="count"))
    with MemoryStore(home / "m.sqlite", embedder=None) as store:
        store.add(f"TypeError: {MESSAGE}: ask Łukasz.", event_at="2026-03-05")
        store.history.record(
            [
                RunOf('print("hours: " + count)', NOON, "k1", 1, "error", error=error),
                RunOf('print("hours: " + str(count))', NOON + timedelta(minutes=1), "k1", 2, "ok"),
            ]
        )
    return run


def test_fix_of_a_file(known: Run, home: Path) -> None:
    (home / "log.txt").write_text(TRACEBACK.format(name="n"), encoding="utf-8")
    done = known("fix", str(home / "log.txt"))
    assert done.code == 0
    first, note = done.out.split("\n\n2. ")
    assert first.startswith(f"1. TypeError: {MESSAGE}: a similar error on 2026-03-0")
    assert '\n    -print("hours: " + count)\n    +print("hours: " + str(count))' in first
    assert note.startswith("A note of 2026-03-0") and f"mentions TypeError: {MESSAGE}:\n\n    TypeError" in note


@pytest.mark.parametrize(
    ("arguments", "given", "code", "said"),
    [
        (["."], "", 1, "cannot be read: "),
        (["nosuch.txt"], "", 1, "holds a traceback"),
        ([], "ZeroDivisionError: division by zero", 0, "No earlier error is like this one."),
        ([], "panic: secret things", 1, "no traceback of Python"),
    ],
)
def test_fix_of_something_else(known: Run, home: Path, monkeypatch, arguments, given, code, said) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setattr("sys.stdin", io.StringIO(given))
    done = known("fix", *arguments)
    assert (done.code, done.out, "secret" in done.err) == (code, "", False)
    assert said in done.err


@pytest.mark.parametrize("arguments", [["fix"], ["fix", "-"]])
def test_fix_of_standard_input_as_json(known: Run, monkeypatch, arguments: list[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(TRACEBACK.format(name="n")))
    fix, _ = json.loads(known(*arguments, "--json").out)
    assert (fix["fix"], fix["kind"]) == ('print("hours: " + str(count))', "history")


CHOICES = [["--kind", "note"], ["--tag", "decision,people"], ["--everything"]]


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_several_memories_are_forgotten_after_a_question(week: Run, monkeypatch, choice: list[str]) -> None:
    held = memories(week)
    dry = week("forget", *choice, "--dry-run")
    found = re.search(r"Nothing was forgotten. Without --dry-run these would go: (?:all )?(\d+) memories", dry.err)
    assert (dry.code, memories(week)) == (0, held) and found is not None
    number = int(found[1])
    assert len(dry.out.splitlines()) == number > 1

    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    refused = week("forget", *choice)
    assert (refused.code, refused.out) == (2, "")
    assert re.search(rf"This would forget (all )?{number} memories .*\(.*Add --yes", refused.err)
    for no in ("n\n", ""):
        monkeypatch.setattr("sys.stdin", Terminal(no))
        assert (week("forget", *choice).code, memories(week)) == (1, held)
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    done = week("forget", *choice)
    assert re.search(rf"Forget (all )?{number} memories .*\(\d note; 0 pinned, \d with tags\)\?", done.err)
    assert (done.out, memories(week)) == (f"forgot {number} memories\n", held - number)


def test_a_dry_run_of_all_kinds(week: Run) -> None:
    week("search", "Müller")
    one = memory_id(week, "Müller")
    assert week("forget", one, "--dry-run").out == f"would forget {one} “Müller”\n"
    everything = week("forget", "--everything", "--dry-run")
    assert "all 3 memories of" in everything.err and len(everything.out.splitlines()) == 3
    assert week("forget", "--searches", "--dry-run").out == "would forget 1 search\n"
    nothing = week("forget", "--tag", "decisoin", "--dry-run")
    assert "these would go: 0 memories" in nothing.err and "Did you mean 'decision'?" in nothing.err
    both = week("forget", "--searches", "--everything", "--yes")
    assert both.code == 2 and "leave the rest out" in both.err
    assert [week("forget", "--searches").out for _ in range(2)] == ["forgot 1 search\n", "forgot 0 searches\n"]
    assert memories(week) == 3


def test_what_is_added_during_the_question_stays(week: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The yes is to the memories that were counted: another program's new one is not among them."""

    class Slow(Terminal):
        def readline(self, *limit: int) -> str:  # type: ignore[override]
            with MemoryStore(home / "m.sqlite") as store:
                store.add("added while somebody thinks")
            return "y\n"

    monkeypatch.setattr("sys.stdin", Slow())
    done = week("forget", "--everything")
    assert "Forget all 3 memories of" in done.err and done.out == "forgot 3 memories\n"
    assert "added while somebody thinks" in week("list").out


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        *(([name], "There is no command") for name in ("forgt", "fogret", "restor")),
        (["model", "remov", "nomic"], "There is no command"),
        (["model", "drp"], "There is no command"),
        *((["forget", option], "No such option") for option in ("--everythin", "--serches", "--yess")),
        (["restore", "a", "--overwrit"], "No such option"),
    ],
)
def test_no_guess_names_what_destroys(run: Run, typed: list[str], said: str) -> None:
    """A misspelt command or option never leads to one that cannot be undone, or that answers the question before."""
    done = run(*typed)
    assert done.code == 2 and said in done.err and "Did you mean" not in done.err
    assert said == "No such option" or "There are: " in done.err
    assert "Did you mean '--tag'?" in run("forget", "--tga", "draft").err
    assert "In a notebook, type %memory context." in run("context").err
