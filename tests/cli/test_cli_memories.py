"""Commands that change what is remembered: add, index, forget."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

from commands import PROGRAM, Run, memory_id
from programs import running

from jupyter_memory import MemoryStore


def test_index(run: Run, home: Path) -> None:
    """A folder is indexed, found, and next time unchanged; a path that is not there fails with one line."""
    folder = home / "reports"
    folder.mkdir()
    (folder / "müller.md").write_text("# Müller\n\nThe ridge model has λ = 0.3.\n", encoding="utf-8")

    assert "1 file indexed" in run("index", str(folder)).out
    assert "~/reports/müller.md" in run("search", "ridge", "model").out
    assert "1 unchanged" in run("index", str(folder)).out
    failed = run("index", str(home / "nowhere"))
    assert (failed.code, failed.err.count("\n")) == (1, 1)


def test_index_of_whatever_lies_there(run: Run, home: Path) -> None:
    """Of several paths those that can be indexed are, the others are named in a line each, and the exit code is 1."""
    (home / "prices.xyz").write_text("ü;3")
    (home / "λ.md").write_text("The ridge model has λ = 0.3.")
    done = run("index", str(home / "nowhere.md"), str(home / "prices.xyz"), str(home / "λ.md"))

    assert (done.code, "1 file indexed" in done.out) == (1, True)
    assert [line.startswith("Error: ") for line in done.err.splitlines()].count(True) == 2
    assert "nowhere.md" in done.err and "not a file of a known kind" in done.err


def test_forget(week: Run) -> None:
    """Memories are forgotten by id and by filter."""
    assert week("forget", memory_id(week, "Müller")).out == "forgot 1 memory\n"
    assert week("forget", "--until", "2026-03-02").out == "forgot 1 memory\n"
    assert json.loads(week("status", "--json").out)["memories"] == 1


def test_nothing_forgotten_says_why(week: Run, home: Path) -> None:
    """A tag, a source or a time that nothing fits is told, with what is nearest."""
    (home / "tariffs.md").write_text("Net of tax, says Frau Müller: λ.", encoding="utf-8")
    week("index", str(home / "tariffs.md"))

    assert "Did you mean 'decision'?" in week("forget", "--tag", "decisoin").err
    assert f"Did you mean '{home / 'tariffs.md'}'?" in week("forget", "--source", "tarifs.md").err
    assert "Nothing in this store is from that time" in week("forget", "--until", "2001").err
    assert json.loads(week("status", "--json").out)["memories"] == 4


def test_standard_input(home: Path, week: Run) -> None:
    """`add -` remembers what comes on standard input, as it comes."""
    done = subprocess.run(
        [*PROGRAM, "add", "-", "--title", "Piped"],
        input="first λ\n  second ü\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )

    assert done.returncode == 0
    with MemoryStore(home / "m.sqlite") as store:
        assert store.get(memory_id(week, "second ü")).text.rstrip("\n") == "first λ\n  second ü"


def test_ctrl_c(home: Path, halfway) -> None:
    """Ctrl-C while indexing exits with 130 and one line that says what is in."""
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
