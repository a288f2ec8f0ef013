"""The command line as a program: usage, exit codes, one line for what fails, pipes, and what a terminal is shown."""

import json
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
        # Others, with their whole text, are in tests/golden/cli/mistakes.json.
        (["search", "x", "-p", "autp"], "Did you mean 'auto'"),
        (["search", "x", "--tier", "notes"], "note"),
        (["search", "x", "--context", "abc"], "'abc' is not a valid whole number"),
        *((["search", "x", "--context", wrong], said) for wrong, said in (("-1", "x>=1"), ("199", "200 or more"))),
        *((["search", "x", "--context", "400", other], "context") for other in ("--json", "--scan")),
        (["add", " "], "text is missing"),
        (["forget", "--everything", "abc"], "leave the rest out"),
        (["forget", "--everything", "--tag", "λ"], "leave the rest out"),
        # A variable that was never set chooses nothing, also beside other options.
        *((["forget", "--source", empty], "--source is empty. Give it a value") for empty in ("", "  ")),
        *((["forget", "--source", "", *more], "--source is empty") for more in (["--source", "a.md"], ["--dry-run"])),
        (["search", "x", "--tag", ""], "--tag is empty. Give it a value"),
        *((["forget", flag, "", "--yes"], f"{flag} is empty. Give it a value") for flag in ("--space", "--lang")),
        (["move", "--space", "", "--to", "own", "--yes"], "--space is empty. Give it a value"),
        (["copy", "--space", "", "a.sqlite", "b.sqlite"], "--space is empty. Give it a value"),
        *((["add", "x", "--tag", "λ", "--tag", empty], "--tag is empty. Give it a value") for empty in ("", " ,")),
        (["eval", "poll"], "There is no command 'eval poll'. Did you mean 'eval pool'?"),
        (["pin"], "Name a rank of the last results, or an id: jupyter-memory pin 1"),
        (["eval", "add", "1"], "To judge a hit, type jupyter-memory good 1, or in a notebook %memeval add 1."),
        (["explain"], "Name a rank of the last search: jupyter-memory explain 1"),
        (["explain", "prices"], 'a query and an id: jupyter-memory explain "prices" ID'),
        (["tag", "1"], "Name the hits, and then the tag: jupyter-memory tag 3 decision"),
        (["--store", "", "forget", "--everything", "--yes"], "name the store's file"),
    ],
)
def test_wrong_usage(run: Run, home: Path, arguments: list[str], says: str) -> None:
    done = run(*arguments)
    assert done.code == 2
    assert says in done.err and "()" not in done.err
    assert not (home / "m.sqlite").exists()


def test_version(run: Run) -> None:
    assert re.fullmatch(r"jupyter-memory, version \d+\.\d+\.\d+\n", run("--version").out)


def ended(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


def test_the_module_is_the_command(home: Path, week: Run) -> None:
    """`python -m jupyter_memory` does what the command does, failures included, also with standard output closed."""
    added, wrong = ended(*PROGRAM, "add", "prices in Zürich, λ"), ended(*PROGRAM, "serch", "prices")
    assert (added.returncode, "Zürich" in added.stdout) == (0, True)
    assert (wrong.returncode, "jupyter-memory" in wrong.stderr) == (2, True)
    code = "import os, sys; os.close(1); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    done = ended(sys.executable, "-c", code, *PROGRAM[1:], "status")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_search_imports(home: Path, week: Run) -> None:
    """One search imports none of the modules that take long and that it can do without."""
    found = ended(sys.executable, "-X", "importtime", *PROGRAM[1:], "search", "prices")
    assert "Prices" in found.stdout and re.search(r"\bnumpy\b", found.stderr)
    assert not re.search(r"\b(numpy\.ma|importlib\.resources\.readers|pandas|IPython|mlx)\b", found.stderr)


def test_a_closed_pipe(home: Path, week: Run) -> None:
    """A reader that stops reading, such as `head -1`, causes no traceback and no error."""
    with MemoryStore(home / "m.sqlite") as store:
        store.add_many(({"text": f"day {i}: " + "λ and ü " * 40} for i in range(150)), progress=False)
    command = [*PROGRAM, "search", "--json", "-n", "150", "day"]
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        program.stdout.read(10)
        program.stdout.close()
        err = program.stderr.read().decode()
    assert (program.wait(100), err) == (0, "")


def test_ctrl_c_before_it_has_begun(home: Path) -> None:
    """Ctrl-C while the program is still being read ends it with a line instead of a traceback."""
    code = """
import sys
class Stopped:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Stopped())
from jupyter_memory.cli import main
sys.exit(main(["status"]))
"""
    done = ended(sys.executable, "-c", code)
    assert (done.returncode, done.stderr.split()) == (130, ["Interrupted."])


PAINTED = """
import os, pty, sys
os.environ |= {"TERM": "xterm", "COLUMNS": "80", "LINES": sys.argv[1], "PAGER": "cat -n"}
sys.exit(os.waitstatus_to_exitcode(pty.spawn([sys.executable, "-m", "jupyter_memory", *sys.argv[2:]])))
"""


def on_a_terminal(lines: int, *arguments: str) -> str:
    command = [sys.executable, "-c", PAINTED, str(lines), *arguments]
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=True, timeout=100)
    return done.stdout.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="it needs a pseudo-terminal")
def test_on_a_terminal(week: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal has colours and pages; NO_COLOR, --no-color and pipes have none of the first, pipes none of either."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    painted = on_a_terminal(60, "search", "who wants λ")
    assert "\x1b[1;31mwants\x1b[0m" in painted and "1\t" not in painted
    assert "\x1b" not in on_a_terminal(60, "--no-color", "search", "who wants λ")
    assert "     1\t" in on_a_terminal(3, "search", "who wants λ")
    monkeypatch.setenv("NO_COLOR", "1")
    plain = on_a_terminal(60, "search", "who wants λ").replace("\r\n", "\n")
    done = week("search", "who wants λ")
    assert plain == done.err + done.out == re.sub(r"\x1b\[[\d;]*m", "", painted).replace("\r\n", "\n")


LIES = "λ \x1b[2J\x9b31m costs \u202e5\u2066 \x7f\u200f"
HIDDEN = set("\x1b\x9b\x7f\u202e\u2066\u200f")
COMMANDS = (
    ["search", "prices"], ["search", "prices", "--json"], ["search", "prices", "--scan"], ["search", f"tag:'{LIES}x'"],
    ["search", "prices", f"--{LIES}"], ["list"], ["list", "--session", LIES], ["index", "lies"],
    ["index", f"no {LIES}"], ["explain", "prices", "ID"], ["pin", "ID"], ["pin", LIES], ["forget", "--tag", f"{LIES}x"],
    ["forget", "--kind", "note", "--dry-run"], ["forget", "--everything"], [f"nosuch{LIES}"],
    ["profile", "show", LIES],
)  # fmt: skip


def test_nothing_hidden_reaches_the_terminal(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results, lists, JSON, questions and errors show marks in place of controls and changes of direction."""
    monkeypatch.chdir(home)
    (home / "lies").mkdir()
    (home / "lies" / f"{LIES}.md").write_text(f"# {LIES}\n\nprices {LIES}\n", encoding="utf-8")
    assert run("index", "lies").code == 0
    for which in ("first", "second"):
        assert run("add", "--title", LIES, "--tag", LIES, "--session", LIES, f"{which} prices {LIES}").code == 0
    hits = json.loads(run("search", "prices", "--json").out)["hits"]
    for command in COMMANDS:
        done = run(*(hits[0]["memory_id"] if word == "ID" else word for word in command))
        assert done.out or done.err, command
        assert not set(done.out + done.err) & HIDDEN, command

    assert "λ ␛[2J[U+009B]31m costs [U+202E]5" in run("list").out
    assert LIES in {hit["title"] for hit in hits}
