"""Commands that look after the store and its settings: status, backup, restore, doctor."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import Run

from jupyter_memory import MemoryStore


def test_status(week: Run, home: Path) -> None:
    """`status` tells people what the store holds, and with --json programs."""
    assert "3 (3 note)" in week("status").out
    stats = json.loads(week("status", "--json").out)
    assert (stats["memories"], stats["store"]) == (3, str(home / "m.sqlite"))


def test_status_says_what_the_bytes_are_for(week: Run, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """`status` names the bytes by kind; with a budget, how much of it is used. Close to it, every command says so."""
    said = week("status").out
    assert re.search(r"^of which +texts [\d.]+ kB, keyword index [\d.]+ kB, vectors ", said, re.MULTILINE)
    assert "max_store_mb" not in said
    stats = json.loads(week("status", "--json").out)
    assert sum(stats["sizes"].values()) == stats["bytes"] and stats["budget"] is None

    folder = home / "config"
    folder.mkdir()
    (folder / "jupyter_memory_config.json").write_text('{"JupyterMemory": {"max_store_mb": 0.1}}')
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(folder))
    told = week("status")
    assert re.search(r"^budget +\d{3}% of max_store_mb \(100\.0 kB\)$", told.out, re.MULTILINE)
    assert "max_store_mb" in told.err and "New texts are still stored" in told.err


def test_looking_makes_no_store(run: Run, home: Path) -> None:
    """A command that only looks says that the named store is not there and how to make it, and makes none."""
    there = home / "m.sqlite"
    for arguments in (
        ["search", "λ"], ["list"], ["status"], ["explain", "λ", "id"], ["pin", "id"], ["unpin", "id"],
        ["forget", "id"], ["forget", "--everything", "--yes"], ["backup", str(home / "copy.sqlite")], ["doctor"],
    ):  # fmt: skip
        done = run(*arguments)
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
        assert f"There is no store at {there}" in done.err
        assert "JUPYTER_MEMORY_PATH" in done.err
        assert "jupyter-memory index FOLDER" in done.err
        assert not there.exists()
    other = run("--store", str(home / "typo.sqlite"), "status")
    assert f"jupyter-memory --store {home}/typo.sqlite index FOLDER" in other.err
    assert not (home / "typo.sqlite").exists()


def test_backup_and_restore(week: Run, home: Path) -> None:
    """A backup becomes a store again, and only over another one when told."""
    assert week("backup", str(home / "copy.sqlite")).out == f"copied to {home}/copy.sqlite\n"
    assert week("backup", str(home / "copy.sqlite")).code == 1
    week("forget", "--everything", "--yes")
    refused = week("restore", str(home / "copy.sqlite"))
    assert (refused.code, refused.err.count("\n")) == (1, 1)
    assert "--overwrite" in refused.err
    assert week("restore", "--overwrite", str(home / "copy.sqlite")).code == 0
    assert json.loads(week("status", "--json").out)["memories"] == 3


def test_export_and_import(week: Run, home: Path) -> None:
    """An exported folder comes back into an emptied store, and a second time nothing is added."""
    folder = str(home / "out")
    assert week("export", folder).out.startswith("exported 3 memories, ")
    refused = week("export", folder)
    assert refused.code == 1 and "new or empty" in refused.err
    week("forget", "--everything", "--yes")
    assert week("import", folder).out == "imported 3 memories\n"
    assert week("import", "--update", folder).out == "imported 0 memories, 3 known already and kept\n"
    assert json.loads(week("status", "--json").out)["memories"] == 3


def test_copy(week: Run, home: Path) -> None:
    """A copy has what the store has; typed again, it adds nothing, and with --update it brings changes."""
    a, b = str(home / "m.sqlite"), str(home / "b.sqlite")
    assert week("copy", a, b).out.startswith(f"copied 3 memories to {b}")
    assert week("copy", a, b).out == f"copied 0 memories to {b}, 3 known already and kept\n"
    [pinned] = week("list", "--limit", "1").out.split()[:1]
    week("pin", pinned)
    assert "1 updated" in week("copy", "--update", a, b).out
    assert week("--store", b, "list").out == week("list").out
    refused = week("copy", str(home / "c.sqlite"), b)
    assert (refused.code, refused.err) == (1, f"Error: There is no store at {home / 'c.sqlite'}. Check the path.\n")
    assert not (home / "c.sqlite").exists()


def test_copy_of_a_space(week: Run, home: Path) -> None:
    """A space is copied alone."""
    week("add", "A private price.", "--space", "private")
    copied = week("copy", "--space", "private", str(home / "m.sqlite"), str(home / "b.sqlite"))
    assert copied.out == f"copied 1 memory to {home / 'b.sqlite'}\n"


def test_restore_over_an_open_store_is_refused(week: Run, home: Path) -> None:
    """A store that a kernel has open is not replaced under it."""
    week("backup", str(home / "copy.sqlite"))
    with MemoryStore(home / "m.sqlite") as store:
        store.stats()
        refused = week("restore", "--overwrite", str(home / "copy.sqlite"))
        assert (refused.code, refused.err.count("\n")) == (1, 1)
        assert store.stats()["memories"] == 3


def test_the_store_can_be_named(week: Run, home: Path) -> None:
    """`--store` wins over the environment, and its folder is made."""
    assert week("--store", str(home / "new" / "other.sqlite"), "add", "λ = 0.3").code == 0
    assert (home / "new" / "other.sqlite").exists()
    assert week("--store", str(home), "status").code == 2


def test_doctor(week: Run, home: Path) -> None:
    """A healthy store is well; one that others can read fails with what to do."""
    assert week("doctor").out.endswith("All is well.\n")
    (home / "m.sqlite").chmod(0o644)
    done = week("doctor")
    assert done.code == 1
    assert "chmod 600" in done.out
    assert done.err == "Error: 1 problem found.\n"


def test_a_damaged_store_is_one_line(run: Run, home: Path) -> None:
    """A file that is no store fails with its name."""
    (home / "m.sqlite").write_text("just words, " * 200)
    done = run("status")

    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "m.sqlite" in done.err


def test_a_broken_config_file_is_reported_and_survived(week: Run, home: Path) -> None:
    """A broken config file is one line on stderr; the command is done."""
    (home / "config").mkdir(exist_ok=True)
    (home / "config" / "jupyter_memory_config.json").write_text("{broken")
    done = week("list")

    assert done.code == 0
    assert "jupyter_memory_config.json cannot be read" in done.err
    assert done.err.count("\n") == 1


def test_settings_are_read(week: Run, home: Path) -> None:
    """The limit of the config file holds for the command line too."""
    (home / "config").mkdir(exist_ok=True)
    (home / "config" / "jupyter_memory_config.json").write_text('{"JupyterMemory": {"limit": 1}}')

    assert len(week("list").out.splitlines()) == 1
