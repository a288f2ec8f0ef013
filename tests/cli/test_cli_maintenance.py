"""Commands that look after the store, its settings and the clients of agents."""

import json
import re
import sys
import tomllib
from pathlib import Path

import client_files as texts
import pytest
from commands import Run, Terminal, configure, memories

from jupyter_memory import MemoryStore
from jupyter_memory.interface import CLIENTS
from jupyter_memory.search import PROFILES, profile_named


def test_status(week: Run, home: Path) -> None:
    said = week("status").out
    assert re.search(r"^of which +texts [\d.]+ kB, keyword index [\d.]+ kB, vectors ", said, re.MULTILINE)
    stats = json.loads(week("status", "--json").out)
    assert sum(stats["sizes"].values()) == stats["bytes"] and stats["budget"] is None
    configure(max_store_mb=0.1)
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
    for arguments in (["search", "λ"], ["doctor"], ["add", "λ"]):
        odd = run("--store", "caf\udce9/m.sqlite", *arguments)
        assert odd.code == 1 and re.search(r"caf\ufffd/m.sqlite is not a valid UTF-8 path\. Rename .*\.$", odd.err)


def test_backup_and_restore(week: Run, home: Path) -> None:
    """A backup becomes a store again, over another one when told, and never under a kernel that has it open."""
    copy = str(home / "copy.sqlite")
    week("backup", copy)
    with MemoryStore(home / "m.sqlite") as store:
        store.stats()
        refused = week("restore", "--overwrite", copy)
        assert (refused.code, refused.err.count("\n")) == (1, 1)
    week("forget", "--everything", "--yes")
    assert week("restore", "--overwrite", copy).code == 0
    assert memories(week) == 3


def test_export_and_import(week: Run, home: Path) -> None:
    folder = str(home / "out")
    assert week("export", folder).out.startswith("exported 3 memories, ")
    refused = week("export", folder)
    assert refused.code == 1 and "new or empty" in refused.err
    week("forget", "--everything", "--yes")
    assert week("import", folder).out == "imported 3 memories\n"
    assert week("import", "--update", folder).out == "imported 0 memories, 3 known already and kept\n"
    assert memories(week) == 3


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
    assert week("doctor").out.endswith("All is well.\n")
    (home / "m.sqlite").chmod(0o644)
    done = week("doctor")
    assert (done.code, done.err) == (1, "Error: 1 problem found.\n")
    assert "chmod 600" in done.out
    (home / "m.sqlite").write_text("just words, " * 200)
    damaged = week("status")
    assert (damaged.code, damaged.err.count("\n"), "m.sqlite" in damaged.err) == (1, 1, True)


def test_doctor_names_a_clash_of_packages(week: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package may have brought an older SDK for agents than the one that `mcp` needs."""
    metadata = tmp_path / "older" / "mcp-1.9.0.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text("Metadata-Version: 2.1\nName: mcp\nVersion: 1.9.0\n")
    monkeypatch.syspath_prepend(str(metadata.parents[1]))
    done = week("doctor")
    assert done.code == 1 and "needs version 2 of the package mcp, and 1.9.0 is installed" in done.out


def test_settings_are_read(week: Run, home: Path) -> None:
    """The limit of the config file holds for the command line too; a broken file is one line, and the command done."""
    file = configure(limit=1)
    assert len(week("list").out.splitlines()) == 1
    file.write_text("{broken")
    done = week("list")
    assert (done.code, done.err.count("\n")) == (0, 1)
    assert "jupyter_memory_config.json cannot be read" in done.err


def test_a_profile_as_a_file_to_search_with(week: Run, home: Path) -> None:
    """`--toml` prints a file that a search takes, under a name of its own."""
    file = home / "mine.toml"
    file.write_text(week("profile", "show", "vault", "--toml").out, encoding="utf-8")
    assert profile_named(str(file)) == PROFILES["vault"].replace(name="my-vault")
    [hit, *_] = json.loads(week("search", "Müller", "-p", str(file), "--json").out)["hits"]
    assert sum(one["contribution"] for one in hit["signals"].values()) == pytest.approx(hit["score"])


@pytest.fixture
def machine(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a home with Cursor, which has a server, and Codex, whose configuration is not written yet."""
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", str(home / "bin"))
    (home / ".codex").mkdir()
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text(texts.PLAIN, encoding="utf-8")
    return home


def entry(file: Path) -> dict[str, object]:
    return json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["jupyter-memory"]


def state(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_clients_that_are_here_are_listed(machine: Path, run: Run) -> None:
    before = state(machine)
    done = run("connect")
    assert done.code == 0 and "jupyter-memory connect cursor codex" in done.err
    assert [line.split()[0] for line in done.out.splitlines()] == ["client", "cursor", "codex"]
    assert str(machine / ".cursor" / "mcp.json") in done.out
    dry = run("connect", "--dry-run", "--skill")
    assert dry.code == 0 and "name: jupyter-memory" in dry.out
    assert dry.out.count("nothing was written (--dry-run)") == 2
    assert state(machine) == before


def test_each_is_asked_about(machine: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a terminal, the change of each file is shown; a no leaves one out, and the next is asked about."""
    monkeypatch.setattr("sys.stdin", Terminal("n\ny\n"))
    done = run("connect")
    assert done.code == 0 and "Codex: connected." in done.out
    assert '+    "jupyter-memory": {' in done.out and "ghp_" not in done.out
    assert "may leave this machine" in done.err
    assert (machine / ".cursor" / "mcp.json").read_text(encoding="utf-8") == texts.PLAIN
    written = tomllib.loads((machine / ".codex" / "config.toml").read_text(encoding="utf-8"))
    assert written["mcp_servers"]["jupyter-memory"]["command"] == sys.executable

    monkeypatch.setattr("sys.stdin", Terminal("n\ny\n"))
    assert run("connect", "--skill").code == 0
    assert (machine / ".agents" / "skills" / "jupyter-memory" / "SKILL.md").is_file()
    assert not (machine / ".cursor" / "skills").exists()


def test_options_reach_the_entry(machine: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store, the bounds and the project that were typed are in the entry, with this Python by its whole path."""
    (machine / "notes").mkdir()
    monkeypatch.chdir(machine)
    done = run(
        "--store", str(machine / "other.sqlite"), "connect", "claude-code", "--yes", "--project", str(machine),
        "--read-only", "--space", "work", "--path", "~/notes", "--path", "notes", "--history",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "what you ran is among it" in done.err
    notes = ["--path", str(machine / "notes")]
    bounds = ["--read-only", "--history", "--space", "work", *notes, *notes]
    serve = ["-P", "-m", "jupyter_memory"]
    assert entry(machine / ".mcp.json") == {
        "type": "stdio",
        "command": sys.executable,
        "args": [*serve, "--store", str(machine / "other.sqlite"), "mcp", *bounds],
    }

    monkeypatch.delenv("JUPYTER_MEMORY_PATH")
    assert run("connect", "gemini", "--forget-any", "--yes").code == 0
    assert entry(machine / ".gemini" / "settings.json")["args"] == [*serve, "mcp", "--forget-any"]


def test_two_clients_of_one_file_agree(machine: Path, run: Run) -> None:
    both = ["claude-code", "copilot", "--project", str(machine), "--yes"]
    assert run("connect", *both).code == 0
    written = (machine / ".mcp.json").read_bytes()
    assert run("connect", *both).out.count("nothing to change") == 2
    assert (machine / ".mcp.json").read_bytes() == written


def test_removing_gives_every_file_back(machine: Path, run: Run) -> None:
    before, names, folder = state(machine), [client.name for client in CLIENTS], machine / "team" / "skills"
    assert run("connect", *names, "--skill", "--yes").code == 0
    assert len(state(machine)) > len(before) + len(names)
    assert run("connect", *names, "--skill", "--yes").out.count("nothing to change") == len(names)
    removed = run("connect", "--remove", "--yes")
    assert removed.code == 0, removed.err
    assert state(machine) == before
    assert run("connect", "--skill-to", str(folder), "--yes").code == 0
    assert state(machine).keys() - before.keys() == {folder / "jupyter-memory" / "SKILL.md"}
    assert run("connect", "--skill-to", str(folder), "--remove", "--yes").code == 0
    assert state(machine) == before


def test_a_broken_file_holds_up_no_other(machine: Path, run: Run) -> None:
    (machine / ".cursor" / "mcp.json").write_text('{"mcpServers": ')
    done = run("connect", "cursor", "codex", "--yes")
    assert done.code == 1
    assert "mcp.json was left as it is: it is not valid JSON" in done.err and "Mend it, then try again" in done.err
    assert (machine / ".cursor" / "mcp.json").read_text() == '{"mcpServers": '
    assert "Codex: connected." in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["emacs"], "There is no client 'emacs'. There are: claude-code, claude-desktop,"),
        (["--yes"], "With --yes, name the clients"),
        (["cursor"], "There is nobody to ask, so nothing was written. Add --yes"),
        (["jupyter", "--read-only"], "jupyter is a setting"),
        (["jupyter", "--skill"], "jupyter is a setting"),
        (["codex", "--path", "/no/such/folder"], "there is no file or folder '/no/such/folder'"),
        (["cursor", "--project", "nowhere"], "does not exist"),
        (["claude-code", "--yes", "--space", ""], "would not start"),
        (["claude-code", "--yes", "--path", " "], "would not start"),
    ],
)
def test_wrong_usage_writes_nothing(machine: Path, run: Run, words: list[str], said: str) -> None:
    """A name that is none, a yes to all, a question to nobody, and what no server would start with are refused."""
    before = state(machine)
    done = run("connect", *words)
    assert done.code == 2 and said in done.err
    assert state(machine) == before


def test_the_setting_for_jupyter(machine: Path, run: Run) -> None:
    """`connect jupyter` writes the setting beside those that are there, says what it opens, and takes it away again."""
    file = machine / "config" / "jupyter_memory_config.json"
    file.parent.mkdir()
    file.write_text('{"JupyterMemory": {"limit": 5}}')
    done = run("connect", "jupyter", "--yes")
    assert done.code == 0
    assert "asks for no password" in done.err
    assert json.loads(file.read_text()) == {"JupyterMemory": {"limit": 5, "jupyter_mcp": True}}
    assert run("connect", "jupyter", "--remove", "--yes").code == 0
    assert file.read_text() == '{"JupyterMemory": {"limit": 5}}'
