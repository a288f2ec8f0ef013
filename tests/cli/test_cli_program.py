"""The command line as a program: usage, exit codes, one line for what fails, pipes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import PROGRAM, Run
from programs import running

from jupyter_memory import MemoryStore


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["search"], "query is missing"),
        (["search", ""], "query is missing"),
        (["search", "x", "-p", "autp"], "Did you mean 'auto'"),
        (["search", "x", "--tier", "notes"], "note"),
        (["search", "x", "--since", "last", "week"], '--since "last week"'),
        (["add", " "], "text is missing"),
        (["search", "x", "--limt", "3"], "--limit"),
        (["search", "x", "--limit", "0"], "x>=1"),
        (["search", "x", "--since", "soonish"], "2025-03-31"),
        (["search", "x", "--kind", "cel"], "cell"),
        (["add"], "text is missing"),
        (["add", "x", "--on", "soonish"], "2025-03-31"),
        (["forget"], "Say what to forget"),
        (["forget", "--everything", "abc"], "leave the rest out"),
        (["serch", "x"], "search"),
        (["pin"], "Name a rank of the last results, or an id: jupyter-memory pin 1"),
        (["tag", "1"], "Name the hits, and then the tag: jupyter-memory tag 3 decision"),
        (["--store", "", "forget", "--everything", "--yes"], "name the store's file"),
        ([], "Usage"),
    ],
)
def test_wrong_usage(run: Run, home: Path, arguments: list[str], says: str) -> None:
    """Wrong usage exits with 2, says what is wrong, and makes no store."""
    done = run(*arguments)

    assert done.code == 2
    assert says in done.err
    assert not (home / "m.sqlite").exists()


@pytest.mark.parametrize(
    "arguments", [["pin", "nosuchid"], ["explain", "x", "nosuchid"], ["backup", "/"], ["index", "nowhere"]]
)
def test_failures_are_one_line(week: Run, arguments: list[str]) -> None:
    """What fails exits with 1 and one line on stderr."""
    done = week(*arguments)

    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)


def test_version_and_help(run: Run) -> None:
    """`--version` and `--help` are done, and name the commands."""
    assert re.fullmatch(r"jupyter-memory, version \d+\.\d+\.\d+\n", run("--version").out)
    names = "add index search list status forget pin unpin explain backup restore doctor"
    for name in names.split():
        assert name in run("--help").out
        assert run(name, "--help").code == 0


def test_a_closed_pipe(home: Path, week: Run) -> None:
    """A reader that stops reading, such as `head -1`, causes no traceback and no error."""
    with MemoryStore(home / "m.sqlite") as store:
        store.add_many(({"text": f"day {i}: " + "λ and ü " * 40} for i in range(150)), progress=False)
    with running(
        [*PROGRAM, "search", "--json", "-n", "150", "day"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        program.stdout.read(10)
        program.stdout.close()
        err = program.stderr.read().decode()

    assert (program.wait(100), err) == (0, "")


def test_help_is_fast_and_light(home: Path) -> None:
    """Help loads neither pandas nor MLX, and a search no pandas."""
    for arguments in (["--help"], ["search", "λ"]):
        code = (
            f"import sys; from jupyter_memory.cli import main; main({arguments!r}); sys.exit('pandas' in sys.modules)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, env=os.environ, check=False, timeout=100
        )
        assert done.returncode == 0, done.stderr


def test_without_standard_output(home: Path, week: Run) -> None:
    """A command whose standard output is closed (`>&-`) does its work and has nothing to complain of."""
    code = "import os, sys; os.close(1); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    done = subprocess.run(
        [sys.executable, "-c", code, *PROGRAM[1:], "status"], capture_output=True, check=False, timeout=100
    )

    assert (done.returncode, done.stderr) == (0, b"")


def test_ctrl_c_before_it_has_begun(home: Path) -> None:
    """Ctrl-C while the program is still being read ends it with a line instead of a traceback."""
    code = """
import sys
class Stopped:
    def find_spec(self, name, path=None, target=None):
        if name == "jupyter_memory.cli.program":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Stopped())
from jupyter_memory.cli import main
sys.exit(main(["status"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=100)

    assert (done.returncode, done.stderr.split()) == (130, [b"Interrupted."])
