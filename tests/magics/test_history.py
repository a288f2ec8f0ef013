"""`%memory history`: on, off, for every kernel, clear, import, and what status says."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.profiledir import ProfileDir
from IPython.core.shellapp import InteractiveShellApp

from jupyter_memory import load_config, store_path
from jupyter_memory.storage import Journal
from jupyter_memory.storage import journal as records
from jupyter_memory.types import Run


@pytest.fixture
def ip(shell) -> InteractiveShell:
    """Give the shell itself, to run cells with numbers as a notebook does."""
    return shell.ip


def ran(ip: InteractiveShell, *cells: str) -> None:
    """Run cells that are recorded."""
    for cell in cells:
        ip.run_cell(cell, store_history=True).raise_error()


def test_what_runs_after_on_is_found(shell, ip, capsys):
    """A search finds what ran just before it, and status says that it is on."""
    ran(ip, "before = 1", "%memory history on", "normalised_prices = [0.1, 0.9]")

    assert shell.titles("%memsearch normalised prices") == ["normalised_prices = [0.1, 0.9]"]
    capsys.readouterr()
    shell.run("%memory history")
    shell.run("%memory status")
    said = capsys.readouterr().out
    assert "on: 1 run noted" in said and "1 run of 1 text" in said
    assert "1 run; on: 1 kernel records what it runs" in said


def test_what_a_dead_kernel_left_is_found_by_an_open_one(shell):
    """A kernel that has its store open finds what another one noted that died meanwhile, with its next search."""
    shell.run("%memadd prices are net of tax;")
    journal = Journal.on_disk(store_path(load_config()))
    journal.write(records.note(Run("fit_poisson(λ)", datetime.now(UTC), "k1", 1)))
    journal.close()

    assert shell.titles("%memsearch kind:history poisson") == ["fit_poisson(λ)"]
    assert not journal.path.exists()


def test_off_ends_it(shell, ip, capsys):
    """After off nothing more is remembered, and what is remembered stays."""
    ran(ip, "%memory history on", "first = 1", "%memory history off", "second = 2")
    shell.run("%memory history off")

    assert "The history was already off." in capsys.readouterr().out
    assert shell.titles("%memsearch kind:history") == ["first = 1"]


def test_always_sets_it_for_every_kernel(shell, ip, home: Path):
    """`on --always` writes the setting beside others that are there, and `off --always` removes it."""
    file = home / "config" / "jupyter_memory_config.json"
    file.parent.mkdir()
    file.write_text('{"JupyterMemory": {"limit": 7}, "other": 1}')
    ran(ip, "%memory history on --always")
    assert load_config().history and load_config().limit == 7

    ran(ip, "%unload_ext jupyter_memory", "%load_ext jupyter_memory", "kept = 1")
    assert shell.titles("%memsearch kind:history") == ["kept = 1"]
    ran(ip, "%memory history off --always")
    assert json.loads(file.read_text()) == {"JupyterMemory": {"limit": 7}, "other": 1}


def test_always_says_when_new_kernels_do_not_load_the_extension(shell, ip, capsys, monkeypatch):
    """The setting alone records nothing: `on --always` names what loads the extension, unless something does."""
    ran(ip, "%memory history on --always")
    assert "`%memory autoload on`" in capsys.readouterr().out

    app = InteractiveShellApp()
    monkeypatch.setattr(ip, "parent", app)
    app.extensions = ["jupyter_memory"]
    ran(ip, "%memory history on --always")
    assert "autoload" not in capsys.readouterr().out


def test_always_is_enough_with_autoload(shell, ip, capsys, monkeypatch, home: Path):
    """Where the startup file loads the extension, nothing is left to say."""
    monkeypatch.setattr(ip, "profile_dir", ProfileDir(location=str(home / "profile")))
    ran(ip, "%memory autoload on")
    capsys.readouterr()
    ran(ip, "%memory history on --always")

    assert "autoload" not in capsys.readouterr().out


def test_clear_names_the_history_that_ipython_keeps(shell, ip, home: Path, capsys):
    """IPython's own file still has the lines: clear says where it is and how to empty it, where there is one."""
    ran(ip, "%memory history on", "forgotten = 1")
    shell.run("%memory history clear --yes")
    assert "ipython history clear" not in capsys.readouterr().out

    file = home / "ipython" / "profile_default" / "history.sqlite"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"")
    ran(ip, "forgotten = 2")
    shell.run("%memory history clear --yes")
    said = capsys.readouterr().out
    assert str(file) in said and "ipython history clear" in said


def test_a_broken_config_file_is_left_as_it_is(shell, home: Path):
    """Where the file of settings cannot be read, it is said, and not written."""
    file = home / "config" / "jupyter_memory_config.json"
    file.parent.mkdir()
    file.write_text("{broken")

    assert "it is not valid JSON" in shell.mistake("%memory history on --always")
    assert file.read_text() == "{broken"


def test_the_setting_turns_it_on_and_off(shell, ip):
    """`%config JupyterMemory.history` works at once."""
    ran(ip, "%config JupyterMemory.history = True", "kept = 1", "%config JupyterMemory.history = False", "left_out = 2")

    assert "kept = 1" in shell.titles("%memsearch kind:history")
    assert "left_out = 2" not in shell.titles("%memsearch kind:history")


def test_clear_asks_first(shell, ip, monkeypatch):
    """Without a yes nothing is forgotten; with one, all of the history goes and notes stay."""
    ran(ip, "%memory history on", "forgotten = 1", "%memadd prices are net of tax")
    monkeypatch.setattr("builtins.input", lambda question: "n")
    shell.run("%memory history clear")
    assert shell.titles("%memsearch kind:history") == ["forgotten = 1"]

    monkeypatch.setattr("builtins.input", lambda question: "y")
    shell.run("%memory history clear")
    shell.run("%memory history off")
    assert shell.run("%memory list")["kind"].tolist() == ["note"]


@pytest.mark.parametrize("path", [None, "elsewhere/memory.sqlite"])
def test_clear_without_a_history_says_so(shell, home: Path, capsys, path):
    """Before anything was recorded there is nothing to forget, and no store is made."""
    if path is not None:
        shell.run(f"%config JupyterMemory.path = {str(home / path)!r}")
    shell.run("%memory history clear")

    assert "There is no history to forget." in capsys.readouterr().out
    assert not list(home.rglob("memory.sqlite"))


def test_clear_reaches_what_the_store_does_not_have_yet(shell, ip, capsys):
    """What was noted a moment ago is forgotten too, if there was no store before."""
    ran(ip, "%memory history on", "quetzalcoatlus = 1", "%memory history off", "%memory history clear --yes")

    assert "forgot 1 run" in capsys.readouterr().out


def test_forgetting_everything_forgets_what_was_just_run(shell, ip, home: Path):
    """`forget --everything` reaches what the kernel has noted and the store does not have yet."""
    ran(ip, "%memory history on", "quetzalcoatlus = 1")
    shell.run("%memory forget --everything --yes")

    contents = [file.read_bytes() for file in (home / "data" / "memory").iterdir()]
    assert contents and not [one for one in contents if b"quetzalcoatlus" in one]


def test_wrong_words_are_refused(shell):
    """A word that is none of the five is named."""
    assert "followed by on, off, status, clear or import" in shell.mistake("%memory history onn")
    assert "There is no file" in shell.mistake("%memory history import nowhere.sqlite")


@pytest.mark.parametrize("command", ["on", "off"])
def test_a_full_disk_leaves_the_settings_whole(shell, ip, home: Path, monkeypatch, command):
    """Where the settings cannot be written, those that were there stay, and nothing is left beside them."""
    file = home / "config" / "jupyter_memory_config.json"
    file.parent.mkdir()
    before = '{"JupyterMemory": {"limit": 7, "history": true}, "other": 1}'
    file.write_text(before)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ip.run_cell(f"%memory history {command} --always")

    assert file.read_text() == before and list(file.parent.iterdir()) == [file]


def test_the_settings_keep_their_mode_and_their_link(shell, ip, home: Path):
    """Who may read the file of settings does not change, and a link to another file stays a link."""
    kept, file = home / "dotfiles.json", home / "config" / "jupyter_memory_config.json"
    file.parent.mkdir()
    kept.write_text("{}")
    kept.chmod(0o640)
    file.symlink_to(kept)
    ran(ip, "%memory history on --always")

    assert file.is_symlink() and json.loads(kept.read_text()) == {"JupyterMemory": {"history": True}}
    assert kept.stat().st_mode & 0o777 == 0o640
