"""What a kernel does beside its cells: `%memory history` keeps what they ran, `%memory watch` follows folders."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.profiledir import ProfileDir
from IPython.core.shellapp import InteractiveShellApp

from jupyter_memory import MemoryStore, load_config, store_path
from jupyter_memory.storage import Journal, note, refusal
from jupyter_memory.types import Run, RunError


@pytest.fixture
def ip(shell) -> InteractiveShell:
    return shell.ip


def ran(ip: InteractiveShell, *cells: str) -> None:
    for cell in cells:
        ip.run_cell(cell, store_history=True).raise_error()


@pytest.fixture
def config(home: Path) -> Path:
    file = home / "config" / "jupyter_memory_config.json"
    file.parent.mkdir()
    file.write_text('{"JupyterMemory": {"limit": 7}, "other": 1}')
    return file


def test_what_runs_after_on_is_found(shell, ip):
    """A search finds what ran just before it, status says that it is on, and wrong words are named."""
    ran(ip, "before = 1", "%memory history on", "normalised_prices = [0.1, 0.9]")
    assert shell.titles("%memsearch normalised prices") == ["normalised_prices = [0.1, 0.9]"]
    said = shell.printed("%memory history")
    assert "on: 1 run noted" in said and "1 run of 1 text" in said
    assert "1 run; on: 1 kernel records what it runs" in shell.printed("%memory status")
    assert "followed by on, off, status, clear or import" in shell.mistake("%memory history onn")
    assert "There is no file" in shell.mistake("%memory history import nowhere.sqlite")


def test_versions_and_runs_of_a_cell(shell, ip):
    """Every text that ran in a cell is a row with its diff, also by the accessor; an old one comes back by its id."""
    ran(ip, "%memory history on", "%config JupyterMemory.limit = 1")
    for text in ("fit(1)", "fit(2)"):
        ip.run_cell(f"fit = abs; {text}", store_history=True, cell_id="c1")
    found = shell.run("df = %memsearch kind:history fit\ndf")
    versions = shell.run("%memory versions 1")
    assert versions["diff"].str.contains("+fit = abs; fit(2)", regex=False).tolist() == [True, False]
    assert versions["outcome"].tolist() == ["ok", "ok"] and (versions["seconds"] < 60).all()
    assert shell.run("df.memory.versions(1)").equals(versions)
    runs = shell.run("%memory runs 1")
    assert runs.index.name == "run" and runs["text"].tolist() == versions["text"].tolist()
    assert shell.run("df.memory.runs(1)").equals(runs) and len(found) == 1
    ip.run_line_magic("memory", f"insert {versions.loc[1, 'memory_id']}")
    assert "fit(1)" in ip.rl_next_input
    shell.run("note = %memadd prices;")
    assert "`%memory history on`" in shell.noted("%memory versions " + shell.run("note.memory.id"))


def test_which_change_made_a_number_better(shell, ip):
    """With results kept, the table of runs says which change, here or in another cell, took R² from .71 to .78."""
    ran(ip, "%memory history on", "%config JupyterMemory.history_outputs = True")
    score = "print('R²:', {1: 0.71, 2: 0.75, 3: 0.78}[alpha])"
    for cell, text in (
        ("a", "alpha = 1"), ("b", score), ("a", "alpha = 3"), ("b", score), ("b", score + "; alpha / 2"),
    ):  # fmt: skip
        ip.run_cell(text, store_history=True, cell_id=cell)
    shell.run("%memsearch kind:history print R²")
    runs = shell.run("runs = %memory runs 1\nruns")
    assert runs["result"].tolist() == ["R²: 0.78\n1.5", "R²: 0.78", "R²: 0.71"]
    assert "+alpha = 3" in runs.loc[2, "elsewhere"] and runs.loc[2, "diff"] == ""
    assert "alpha / 2" in runs.loc[3, "diff"] and runs.loc[3, "elsewhere"] == ""
    assert "R²: 0.71" in repr(runs)


def test_results_are_asked_for_once(shell, ip):
    """A history that is on keeps no result; the table of runs asks once, and the setting alone changes it."""
    ran(ip, "%memory history on", "6 * 7")
    assert shell.titles("%memsearch kind:history 6 7") == ["6 * 7"]
    assert "history_outputs = True" in shell.printed("%memory runs 1;")
    assert "history_outputs" not in shell.printed("%memory runs 1;")
    assert shell.run("%memory runs 1")["result"].tolist() == [""]


def test_a_hit_and_a_fix_name_other_versions(shell):
    """A hit from the history, and a fix, say with which versions of packages they ran, where others are here."""
    error, now = RunError("KeyError", "'λ'", "KeyError: 'λ'"), datetime.now(UTC)
    here = version("pandas")
    runs = [
        Run("prices['λ']", now, "k0", 1, "error", error=error),
        Run("prices['λ'.upper()]", now + timedelta(seconds=9), "k0", 2, "ok", packages=f"nowhere 1.0, pandas {here}"),
    ]
    with MemoryStore(store_path(load_config())) as store:
        store.history.record(runs)
    said = shell.noted("%memsearch kind:history prices upper")
    assert "Rank 1 ran with nowhere 1.0; here is none." in said and "pandas" not in said
    shell.ip.run_cell("prices = {}; prices['λ']", store_history=True)
    assert "was fixed like this (it ran with nowhere 1.0; here is none):" in shell.printed("%memfix")


def test_what_a_dead_kernel_left_is_found_by_an_open_one(shell):
    """A kernel that has its store open finds what another one noted that died meanwhile, with its next search."""
    shell.run("%memadd prices are net of tax;")
    journal = Journal.on_disk(store_path(load_config()))
    journal.write(note(Run("fit_poisson(λ)", datetime.now(UTC), "k1", 1)))
    journal.close()
    assert shell.titles("%memsearch kind:history poisson") == ["fit_poisson(λ)"]
    assert not journal.path.exists()


def test_off_ends_it(shell, ip):
    """After off, or the setting, nothing more is remembered, and what is remembered stays."""
    ran(ip, "%memory history on", "first = 1", "%memory history off", "second = 2")
    assert "The history was already off." in shell.printed("%memory history off")
    assert shell.titles("%memsearch kind:history") == ["first = 1"]
    ran(ip, "%config JupyterMemory.history = True", "third = 3", "%config JupyterMemory.history = False", "fourth = 4")
    found = shell.titles("%memsearch kind:history")
    assert "third = 3" in found and "fourth = 4" not in found


def test_always_sets_it_for_every_kernel(shell, ip, config: Path):
    """`on --always` writes the setting beside others that are there, and `off --always` removes it."""
    ran(ip, "%memory history on --always")
    assert load_config().history and load_config().limit == 7
    ran(ip, "%unload_ext jupyter_memory", "%load_ext jupyter_memory", "kept = 1")
    assert shell.titles("%memsearch kind:history") == ["kept = 1"]
    ran(ip, "%memory history off --always")
    assert json.loads(config.read_text()) == {"JupyterMemory": {"limit": 7}, "other": 1}


def test_always_says_when_new_kernels_do_not_load_the_extension(shell, ip, monkeypatch, home: Path):
    """The setting alone records nothing: `on --always` names what loads the extension, unless something does."""
    always = "%memory history on --always"
    assert "`%memory autoload on`" in shell.printed(always)
    with monkeypatch.context() as configured:
        app = InteractiveShellApp()
        configured.setattr(ip, "parent", app)
        app.extensions = ["jupyter_memory"]
        assert "autoload" not in shell.printed(always)
    assert "autoload" in shell.printed(always)
    monkeypatch.setattr(ip, "profile_dir", ProfileDir(location=str(home / "profile")))
    ran(ip, "%memory autoload on")
    assert "autoload" not in shell.printed(always)


def test_clear_names_the_history_that_ipython_keeps(shell, ip, home: Path):
    """IPython's own file still has the lines: clear says where it is and how to empty it, where there is one."""
    ran(ip, "%memory history on", "forgotten = 1")
    assert "ipython history clear" not in shell.printed("%memory history clear --yes")
    file = home / "ipython" / "profile_default" / "history.sqlite"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"")
    ran(ip, "forgotten = 2")
    said = shell.printed("%memory history clear --yes")
    assert str(file) in said and "ipython history clear" in said


def test_clear_asks_first(shell, ip, monkeypatch):
    ran(ip, "%memory history on", "forgotten = 1", "%memadd prices are net of tax")
    monkeypatch.setattr("builtins.input", lambda question: "n")
    shell.run("%memory history clear")
    assert shell.titles("%memsearch kind:history") == ["forgotten = 1"]
    monkeypatch.setattr("builtins.input", lambda question: "y")
    shell.run("%memory history clear")
    shell.run("%memory history off")
    assert shell.run("%memory list")["kind"].tolist() == ["note"]


@pytest.mark.parametrize("path", [None, "elsewhere/memory.sqlite"])
def test_clear_without_a_history_says_so(shell, home: Path, path):
    if path is not None:
        shell.run(f"%config JupyterMemory.path = {str(home / path)!r}")
    assert "There is no history to forget." in shell.printed("%memory history clear")
    assert not list(home.rglob("memory.sqlite"))


@pytest.mark.parametrize("more", [[], ["%memory history off"]])
@pytest.mark.parametrize("line", ["history clear --yes", "forget --everything --yes"])
def test_forgetting_reaches_what_the_store_does_not_have_yet(shell, ip, home: Path, line: str, more: list[str]):
    """What was noted a moment ago is forgotten too, by `clear` and with everything, also after off, and in no file."""
    ran(ip, "%memory history on", "quetzalcoatlus = 1", *more)
    assert "forgot 1 " in shell.printed(f"%memory {line}")
    contents = [file.read_bytes() for file in (home / "data" / "memory").iterdir()]
    assert contents and not [one for one in contents if b"quetzalcoatlus" in one]


@pytest.mark.parametrize("command", ["on", "off"])
def test_a_full_disk_leaves_the_settings_whole(ip, config: Path, monkeypatch, command):
    before = '{"JupyterMemory": {"limit": 7, "history": true}, "other": 1}'
    config.write_text(before)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ip.run_cell(f"%memory history {command} --always")
    assert config.read_text() == before and list(config.parent.iterdir()) == [config]


WATCHING = """
from pathlib import Path
from time import monotonic, sleep
%load_ext jupyter_memory
%memory watch
%memory watch {folder}
Path("{folder}/two.md").write_text("The fare of Malmö.")
end, found = monotonic() + 20, []
while found[:1] != ["two.md"] and monotonic() < end:
    sleep(0.1)
    frame = %memsearch fare of Malmö
    found = frame["title"].tolist()
print("found", found[0])
%memory watch
%memory watch --off {folder}
%memory watch
"""


def test_a_kernel_keeps_a_folder_up_to_date(shell, home: Path):
    """It is indexed at once; what another program saves there is found; --off ends that; a file is no folder."""
    folder = home / "notes"
    folder.mkdir()
    (folder / "one.md").write_text("The tariff of Zürich.\n")
    assert "a single file can be indexed" in shell.mistake(f"%memory watch {folder / 'one.md'}")
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=nocolor", "-c", WATCHING.format(folder=folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    said = iter(done.stdout.splitlines())
    watched = ("1 file indexed", "found two.md", "This kernel follows them", "no longer watched")
    for expected in ("No folder is watched", *watched, "No folder is watched"):
        assert any(expected in line for line in said), (expected, done.stdout + done.stderr)


def test_a_server_keeps_no_history_and_each_command_says_so(shell):
    shell.run("%config JupyterMemory.path = 'postgresql://db.invalid/team'")
    why = "What you run is not recorded in postgresql://db.invalid/team: all who may read that store would read it."
    for command in ("on", "on --always", "import"):
        assert shell.mistake(f"%memory history {command}").startswith(why)
    assert not load_config().history
    assert shell.printed("%memory history off").startswith(why)


def test_a_system_without_locks_keeps_no_history_and_each_command_says_so(shell, monkeypatch):
    """As on Windows."""
    monkeypatch.setattr(sys.modules[refusal.__module__], "_CAN_RECORD", False)
    why = "What you run is not recorded here: this system lacks the file locks that it needs."
    assert shell.mistake("%memory history on") == why
    for command in ("", "status", "off", "clear"):
        assert shell.printed(f"%memory history {command}").endswith(f"{why}\n")
    shell.ip.run_cell("1 / 0")
    said = shell.noted("%memfix")
    assert said.endswith(f"{why}\n") and "%memory history on" not in said
