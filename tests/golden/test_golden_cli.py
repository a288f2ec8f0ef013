"""What the command line prints and the magics show: help, results, lists, errors, as a person sees them.

Ages count from the moment at which something is typed, and what lies in the future is new: so memories are of 2096.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import golden_shell
import goldens
import pytest

PROFILES = ("auto", "covalence", "vault", "trovella", "memini", "memini-rrf")
COMMANDS = (
    "add", "index", "search", "list", "explain", "pin", "unpin", "forget", "model", "model list", "model use",
    "model drop", "model remove", "status", "backup", "restore", "doctor", "profile", "profile list", "profile show",
    "eval", "bench",
)  # fmt: skip
NOTES = (
    ["--title", "Prices", "--tag", "decision", "--on", "2096-03-02", "we scaled the prices to zero mean"],
    ["--title", "Müller", "--tag", "people", "--on", "2096-03-03", "--pin", "Frau Müller wants λ = 0.3 in the ridge"],
    ["--title", "Merge", "--on", "2096-03-04", "--space", "shops", "merge frames with a left join on customer_id"],
    ["--on", "2096-03-05", "--severity", "warning", "--domain", "sync", "FileSyncService 1.0.21 drops events"],
    ["--tier", "mcp", "--session", "friday", "--on", "2096-03-06", "東京の価格を正規化した"],
)
MISTAKES = (
    [], ["serch", "prices"], ["frobnicate"], ["search"], ["search", ""], ["search", "prices", "--limit", "0"],
    ["search", "prices", "--profile", "covalense"], ["search", "prices", "-tag", "decision"],
    ["search", "prices", "--tagg", "decision"], ["search", "prices", "--kind", "sheet"],
    ["search", "prices", "--since", "last", "week"], ["search", "prices", "--since", "someday"],
    ["search", "prices", "--on", "2096-03-02", "--until", "2096-03-03"], ["search", "-p", "./missing.toml", "prices"],
    ["search", "kind:sheet", "prices"], ["explain", "prices"], ["explain", "prices", "nosuchid"], ["pin", "nosuchid"],
    ["unpin"], ["forget"], ["forget", "nosuchid"], ["forget", "--everything"], ["forget", "--tag", "none"],
    ["forget", "--searches", "--everything", "--yes"], ["index"], ["index", "/nowhere/at/all"], ["add"], ["add", " "],
    ["add", "x", "--severity", "grave"], ["add", "x", "--on", "someday"], ["profile", "show", "covalense"],
    ["profile"], ["model", "use", "nomik"], ["model", "use"], ["model", "remove", "static", "--yes"],
    ["model", "drop", "nomic"], ["restore", "/nowhere/backup.sqlite"], ["eval"], ["eval", "/nowhere"],
    ["bench", "--profile", "covalense"], ["--store", "", "status"], ["--store", "/nowhere/m.sqlite", "search", "x"],
)  # fmt: skip


SUBCOMMANDS = (
    "status", "index", "list", "explain", "pin", "unpin", "forget", "profile", "model", "config", "autoload", "doctor",
    "backup",
)  # fmt: skip
# In the order of a session.
CELLS = (
    "%memory status", "%memsearch λ", "%memsearch",
    '%memadd --title "Prices" --tag decision --on 2096-03-02 we scaled the prices to zero mean',
    '%memadd --title "Müller" --tag people --on 2096-03-03 --pin Frau Müller wants λ = 0.3 in the ridge model',
    "%%memadd --title Merge --on 2096-03-04\nmerge frames with a left join\non customer_id",
    "%memsearch prices of the ridge", "%memsearch -p trovella --scan prices", "%memory explain 1",
    "%memory explain 7", "%memsearch prices of the ridge", "%memeval add 1", "%memeval list", "%memeval forget none",
    "%memsearch tag:people", "%memsearch prices --tag decison", "%memory list", "%memory status", "%memory profile",
    "%memory profile show trovella", "%memory profile vault", "%memsearch prices", "%memory profile save mine.toml",
    "%memory profile ./mine.toml", "%memory config", "%memory autoload status", "%memory forget --tag people",
    "%memory forget --everything --yes", "%memory statsu", "%memory search prices", "%memory index",
    "%memory index /nowhere/at/all", "%memory forget", "%memory pin nosuchid", "%memory profile covalense",
    "%memory model use nomik", "%memsearch -p covalense prices", "%memsearch --since someday prices",
    "%memsearch --var nothing", "%memsearch kind:sheet", "%memadd", "%memeval add 3",
)  # fmt: skip


@pytest.fixture
def work() -> Iterator[Path]:
    """A folder whose path is as long in every run: a terminal's lines are cut where they are too long."""
    with tempfile.TemporaryDirectory(prefix="g-") as folder:
        yield Path(folder).resolve()


def kept_in(work: Path, monkeypatch: pytest.MonkeyPatch, **places: str) -> golden_shell.Plain:
    """Keep everything in a folder of the test; give what makes the texts the same everywhere."""
    for name, place in places.items():
        monkeypatch.setenv(name, str(work / place))
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.chdir(work)
    return golden_shell.Plain({str(work): "/home/ada"})


@pytest.fixture
def place(work: Path, monkeypatch: pytest.MonkeyPatch) -> golden_shell.Plain:
    folders = {"HOME": "home", "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data"}
    return kept_in(work, monkeypatch, **folders, JUPYTER_MEMORY_PATH="memory.sqlite")


@pytest.fixture
def filled(place: golden_shell.Plain, work: Path) -> golden_shell.Plain:
    """A store with notes and a folder of three files, all of them of 2096."""
    for note in NOTES:
        assert golden_shell.run("add", *note)["code"] == 0
    folder = work / "week"
    folder.mkdir()
    for name, text in {
        "cap.py": "import numpy as np\nλ = 3\n\n\ndef cap(prices):\n    return prices.clip(λ)\n",
        "results.md": "# Results\n\nThe boosted trees beat the ridge.\n\n## Prices\n\nPrices were net of tax.\n",
        "plan.txt": "Ask Łukasz for the warehouse extract of March.\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
        changed = datetime(2096, 3, 7, 12, tzinfo=UTC).timestamp()
        os.utime(folder / name, (changed, changed))
    assert golden_shell.run("index", str(folder))["code"] == 0
    return place


def test_help(place):
    found = {"": golden_shell.lines(golden_shell.run("--help"), place)}
    for command in COMMANDS:
        found[command] = golden_shell.lines(golden_shell.run(*command.split(), "--help"), place)
    goldens.check("cli/help", found)


def test_mistakes(filled):
    found = {" ".join(one): golden_shell.lines(golden_shell.run(*one), filled) for one in MISTAKES}
    goldens.check("cli/mistakes", found)


def test_outputs(filled, work):
    found = {}

    def say(*arguments: str) -> dict:
        done = golden_shell.run(*arguments)
        said = filled(" ".join(arguments))
        found[said if said not in found else f"{said} (again)"] = golden_shell.lines(done, filled)
        return done

    for query in ("prices", "who wants λ", "clip", "FileSyncServise", "価格", "the of", "zzyzx"):
        say("search", query, "-p", "trovella")
    for words in (
        ["search", "prices of the ridge", "-n", "2"], ["search", "prices", "--scan", "-n", "3"],
        ["search", "prices", "--tag", "decison"], ["search", "prices", "--space", "shop"],
        ["search", "prices", "-ridge", "-l", "3"], ["search", "tag:decision"],
        ["search", "--json", "-p", "trovella", "-n", "2", "prices on 2096-03-02"],
        ["search", "--json", "-p", "memini", "-n", "2", "--kind", "note", "ridge"],
        ["search", "--json", "-n", "2", "who joins frames?"],
        ["list"], ["list", "-n", "2", "--tier", "file"], ["list", "--tag", "none"],
    ):  # fmt: skip
        say(*words)
    first = json.loads(golden_shell.run("search", "--json", "prices", "-p", "trovella")["out"])["hits"]
    for hit in (first[0], first[-1]):
        say("explain", "prices", hit["memory_id"], "-p", "trovella")
    say("explain", "prices", first[1]["memory_id"])
    one, week, copy = first[0]["memory_id"], str(work / "week"), str(work / "copy.sqlite")
    for words in (
        ["status"], ["status", "--json"], ["profile", "list"], ["index", week], ["pin", one], ["unpin", one],
        ["add", *NOTES[0]],
        ["add", "the password is hunter2secret and api_key = 'sk-abcdefghijklmnopqrstuvwxyz123456'"],
        ["backup", copy], ["backup", copy], ["restore", copy], ["model"],
        ["forget", one], ["forget", "--source", f"{week}/cap.py"], ["forget", "--source", week, "--dry-run"],
        ["forget", "--source", week], ["forget", "--source", week, "--yes"], ["forget", "--tag", "people"],
        ["forget", "--searches"], ["forget", "--everything", "--yes"], ["search", "prices"], ["list"],
    ):  # fmt: skip
        say(*words)
    goldens.check("cli/outputs", found)


def test_nothing_yet(place, monkeypatch):
    """Before anything is remembered the commands say what to do first, in the golden words."""
    monkeypatch.delenv("JUPYTER_MEMORY_PATH")
    told = (["search", "λ"], ["list"], ["status"], ["forget", "--searches"])
    goldens.check("cli/empty", {" ".join(one): golden_shell.lines(golden_shell.run(*one), place) for one in told})


@pytest.mark.parametrize("profile", PROFILES)
def test_profiles(place, profile):
    found = {}
    for form in ([], ["--json"], ["--toml"]):
        found[" ".join(form)] = golden_shell.run("profile", "show", profile, *form)["out"].splitlines()
    goldens.check(f"cli/profile.{profile}", found)


# -- magics ------------------------------------------------------------------------------------------------------------
@pytest.fixture
def notebook(work: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[golden_shell.Notebook, golden_shell.Plain]]:
    """A shell with the magics, and what makes the texts the same everywhere."""
    folders = {"IPYTHONDIR": "ipython", "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data"}
    plain = kept_in(work, monkeypatch, **folders, HOME="", JUPYTER_CONFIG_PATH="config")
    shell = golden_shell.Notebook()
    yield shell, plain
    shell.close()


def test_help_of_magics(notebook):
    shell, plain = notebook
    cells = ["%memory", "%memeval", "%memsearch --help", "%memadd --help"]
    cells += [f"%memory {name} --help" for name in SUBCOMMANDS]
    cells += [f"%memeval {name} --help" for name in ("add", "list", "forget", "run")]
    goldens.check("cli/magics.help", {cell: golden_shell.lines(shell.run(cell), plain) for cell in cells})


def test_cells(notebook):
    shell, plain = notebook
    found = {f"{n} {cell}": golden_shell.lines(shell.run(cell), plain) for n, cell in enumerate(CELLS, start=1)}
    goldens.check("cli/magics", found)
