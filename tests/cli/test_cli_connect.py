"""Connecting clients of agents in a terminal: what is listed, shown, asked and written."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import client_files as texts
import pytest
from commands import Run, Terminal

from jupyter_memory.interface import CLIENTS


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
    """Return our entry in a configuration."""
    return json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["jupyter-memory"]


def state(folder: Path) -> dict[Path, bytes]:
    """Return all files below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_clients_that_are_here_are_listed(machine: Path, run: Run) -> None:
    """With their files; where nobody can be asked, and in a dry run that shows all changes, nothing is written."""
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
    """Claude Code and Copilot read the same file of a project: connecting one after the other changes nothing back."""
    both = ["claude-code", "copilot", "--project", str(machine), "--yes"]
    assert run("connect", *both).code == 0
    written = (machine / ".mcp.json").read_bytes()
    assert run("connect", *both).out.count("nothing to change") == 2
    assert (machine / ".mcp.json").read_bytes() == written


def test_removing_gives_every_file_back(machine: Path, run: Run) -> None:
    """After --remove, the home holds what it held before, to the last byte, skills included."""
    before, names = state(machine), [client.name for client in CLIENTS]
    assert run("connect", *names, "--skill", "--yes").code == 0
    assert len(state(machine)) > len(before) + len(names)
    assert run("connect", *names, "--skill", "--yes").out.count("nothing to change") == len(names)
    removed = run("connect", "--remove", "--yes")
    assert removed.code == 0, removed.err
    assert state(machine) == before


def test_the_skill_alone(machine: Path, run: Run) -> None:
    """The skill goes into any folder of skills that is named, and comes out of it again."""
    folder = machine / "team" / "skills"
    assert run("connect", "--skill-to", str(folder), "--yes").code == 0
    written = (folder / "jupyter-memory" / "SKILL.md").read_text(encoding="utf-8")
    assert written.startswith("---\nname: jupyter-memory\n")
    assert run("connect", "--skill-to", str(folder), "--remove", "--yes").code == 0
    assert list(folder.iterdir()) == []


def test_a_broken_file_holds_up_no_other(machine: Path, run: Run) -> None:
    """The client whose file is broken is named in the error; the others are connected."""
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
