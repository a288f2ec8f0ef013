"""Commands that look after the store and its settings: status, backup, restore, doctor, profile."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import Run

from jupyter_memory import MemoryStore
from jupyter_memory.search import PROFILES, covalence, profile_named


def configure(home: Path, text: str) -> None:
    """Write the file of settings."""
    (home / "config").mkdir(exist_ok=True)
    (home / "config" / "jupyter_memory_config.json").write_text(text)


def count(run: Run) -> int:
    """Return how many memories the store has."""
    return json.loads(run("status", "--json").out)["memories"]


def test_status(week: Run, home: Path) -> None:
    """`status` tells what the store holds, with the bytes by kind; close to a budget, every command says so."""
    said = week("status").out
    assert "3 (3 note)" in said and "max_store_mb" not in said
    assert re.search(r"^of which +texts [\d.]+ kB, keyword index [\d.]+ kB, vectors ", said, re.MULTILINE)
    stats = json.loads(week("status", "--json").out)
    assert (stats["memories"], stats["store"]) == (3, str(home / "m.sqlite"))
    assert sum(stats["sizes"].values()) == stats["bytes"] and stats["budget"] is None
    configure(home, '{"JupyterMemory": {"max_store_mb": 0.1}}')
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
        for said in (f"There is no store at {there}", "JUPYTER_MEMORY_PATH", "jupyter-memory index FOLDER"):
            assert said in done.err
        assert not there.exists()
    other = run("--store", str(home / "typo.sqlite"), "status")
    assert f"jupyter-memory --store {home}/typo.sqlite index FOLDER" in other.err
    assert not (home / "typo.sqlite").exists()


def test_backup_and_restore(week: Run, home: Path) -> None:
    """A backup becomes a store again, over another one only when told, and never under a kernel that has it open."""
    copy = str(home / "copy.sqlite")
    assert week("backup", copy).out == f"copied to {copy}\n"
    again = week("backup", copy)
    assert again.code == 1 and "exists already" in again.err
    with MemoryStore(home / "m.sqlite") as store:
        store.stats()
        refused = week("restore", "--overwrite", copy)
        assert (refused.code, refused.err.count("\n")) == (1, 1)
        assert store.stats()["memories"] == 3
    week("forget", "--everything", "--yes")
    refused = week("restore", copy)
    assert (refused.code, refused.err.count("\n")) == (1, 1)
    assert "--overwrite" in refused.err
    assert week("restore", "--overwrite", copy).code == 0
    assert count(week) == 3


def test_export_and_import(week: Run, home: Path) -> None:
    """An exported folder comes back into an emptied store, and a second time nothing is added."""
    folder = str(home / "out")
    assert week("export", folder).out.startswith("exported 3 memories, ")
    refused = week("export", folder)
    assert refused.code == 1 and "new or empty" in refused.err
    week("forget", "--everything", "--yes")
    assert week("import", folder).out == "imported 3 memories\n"
    assert week("import", "--update", folder).out == "imported 0 memories, 3 known already and kept\n"
    assert count(week) == 3


def test_copy(week: Run, home: Path) -> None:
    """A copy has what the store, or a space of it, has; typed again, it adds nothing; --update brings changes."""
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
    week("add", "A private price.", "--space", "private")
    copied = week("copy", "--space", "private", a, str(home / "d.sqlite"))
    assert copied.out == f"copied 1 memory to {home / 'd.sqlite'}\n"


def test_the_store_can_be_named(week: Run, home: Path) -> None:
    """`--store` wins over the environment, and its folder is made."""
    assert week("--store", str(home / "new" / "other.sqlite"), "add", "λ = 0.3").code == 0
    assert (home / "new" / "other.sqlite").exists()
    assert week("--store", str(home), "status").code == 2


def test_doctor(week: Run, home: Path) -> None:
    """A healthy store is well; one that others can read says what to do; a damaged one is named in a line."""
    assert week("doctor").out.endswith("All is well.\n")
    (home / "m.sqlite").chmod(0o644)
    done = week("doctor")
    assert (done.code, done.err) == (1, "Error: 1 problem found.\n")
    assert "chmod 600" in done.out
    (home / "m.sqlite").write_text("just words, " * 200)
    damaged = week("status")
    assert (damaged.code, damaged.err.count("\n"), "m.sqlite" in damaged.err) == (1, 1, True)


def test_settings_are_read(week: Run, home: Path) -> None:
    """The limit of the config file holds for the command line too; a broken file is one line, and the command done."""
    configure(home, '{"JupyterMemory": {"limit": 1}}')
    assert len(week("list").out.splitlines()) == 1
    configure(home, "{broken")
    done = week("list")
    assert (done.code, done.err.count("\n")) == (0, 1)
    assert "jupyter_memory_config.json cannot be read" in done.err


def test_profiles(run: Run, home: Path) -> None:
    """Every profile has a line, that of the settings a star; one is shown with its formula and each constant."""
    lines = run("profile", "list").out.splitlines()
    assert [line.removeprefix("*").split()[0] for line in lines] == list(PROFILES)
    assert lines[0].startswith("*  auto")
    assert "score = 0.9/(60 + vector_rank)" in run("profile", "show", "covalence").out
    shown = json.loads(run("profile", "show", "covalence", "--json").out)
    assert shown["formula"] == covalence.formula
    assert {"part": "column", "name": "title", "form": "", "constant": "weight", "value": 5.0} in shown["constants"]
    (home / "bad.toml").write_text('base = "auto"\n[fetch]\nfactr = 1\n', encoding="utf-8")
    wrong, bad = run("profile", "show", "covalenc"), run("profile", "show", str(home / "bad.toml"))
    assert wrong.code == 2 and "Did you mean 'covalence'?" in wrong.err
    assert bad.code == 1 and "bad.toml: fetch.factr is not known. Did you mean factor?" in bad.err


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_as_a_file_to_search_with(week: Run, home: Path, name: str) -> None:
    """`--toml` prints a file that a search takes, under a name of its own."""
    file = home / "mine.toml"
    file.write_text(week("profile", "show", name, "--toml").out, encoding="utf-8")
    assert profile_named(str(file)) == PROFILES[name].replace(name=f"my-{name}")
    [hit, *_] = json.loads(week("search", "Müller", "-p", str(file), "--json").out)["hits"]
    assert sum(one["contribution"] for one in hit["signals"].values()) == pytest.approx(hit["score"])
