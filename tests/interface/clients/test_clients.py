"""Where each client keeps its configuration on each platform, and what an entry looks like there."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_memory import ClientConfigError
from jupyter_memory.interface import CLIENTS, Places
from jupyter_memory.interface.clients.client import client_of
from jupyter_memory.interface.clients.plans import config_file, skills_folder

HOME = Path("/home/ada")
FILES = {
    "linux": {
        "claude-code": ".claude.json",
        "claude-desktop": ".config/Claude/claude_desktop_config.json",
        "vscode": ".config/Code/User/mcp.json",
        "copilot": ".copilot/mcp-config.json",
        "cursor": ".cursor/mcp.json",
        "codex": ".codex/config.toml",
        "gemini": ".gemini/settings.json",
        "jupyter-ai": ".jupyter/mcp_settings.json",
    },
    "darwin": {
        "claude-code": ".claude.json",
        "claude-desktop": "Library/Application Support/Claude/claude_desktop_config.json",
        "vscode": "Library/Application Support/Code/User/mcp.json",
        "cursor": ".cursor/mcp.json",
    },
    "win32": {
        "claude-code": ".claude.json",
        "claude-desktop": "AppData/Roaming/Claude/claude_desktop_config.json",
        "vscode": "AppData/Roaming/Code/User/mcp.json",
        "codex": ".codex/config.toml",
    },
}


@pytest.mark.parametrize(
    ("platform", "name"), [(platform, name) for platform, files in FILES.items() for name in files]
)
def test_where_the_file_is(platform: str, name: str) -> None:
    """Each client's file is where its documentation says."""
    client = client_of(name)

    assert client is not None
    assert client.file(Places(HOME, {}, platform)) == HOME / FILES[platform][name]


@pytest.mark.parametrize(
    ("name", "variable", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("copilot", "COPILOT_HOME", "mcp-config.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("vscode", "XDG_CONFIG_HOME", "Code/User/mcp.json"),
    ],
)
def test_a_variable_moves_the_file(name: str, variable: str, file: str) -> None:
    """The variables that move a client's folder are followed."""
    client = client_of(name)

    assert client is not None
    assert client.file(Places(HOME, {variable: "/elsewhere"}, "linux")) == Path("/elsewhere") / file


def test_claude_desktop_from_a_package_reads_another_file(tmp_path: Path) -> None:
    """On Windows, the packaged application has a folder of its own; a leftover of the package is not one."""
    places = Places(tmp_path, {"LOCALAPPDATA": str(tmp_path / "Local")}, "win32")
    packaged = tmp_path / "Local" / "Packages" / "Claude_pzs8sxrjxfjjc" / "LocalCache" / "Roaming"
    desktop = client_of("claude-desktop")
    assert desktop is not None
    packaged.parent.mkdir(parents=True)
    assert desktop.file(places).is_relative_to(tmp_path / "AppData")

    packaged.mkdir()
    assert desktop.file(places) == packaged / "Claude" / "claude_desktop_config.json"


def test_entries_as_each_client_wants_them() -> None:
    """What a client asks for beside the command is in its entry."""
    entries = {client.name: client.entry("/py", ["mcp"]) for client in CLIENTS}

    assert {name for name, entry in entries.items() if entry.get("type") == "stdio"} == {
        "claude-code",
        "vscode",
        "copilot",
        "cursor",
    }
    assert entries["copilot"] == {"type": "stdio", "command": "/py", "args": ["mcp"], "tools": ["*"]}
    assert entries["jupyter-ai"] == {"command": "/py", "args": ["mcp"], "env": []}
    assert entries["codex"] == {"command": "/py", "args": ["mcp"]}


def test_a_client_is_found_by_its_file_its_folder_or_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home without any client has none; what a client leaves there shows it."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    places = Places(tmp_path, {}, "linux")
    assert [client.name for client in CLIENTS if client.is_here(places)] == []

    for folder in (".jupyter", ".claude", ".cursor", "bin"):
        (tmp_path / folder).mkdir()
    (tmp_path / "bin" / "codex").touch(0o755)
    assert [client.name for client in CLIENTS if client.is_here(places)] == ["claude-code", "cursor", "codex"]


def test_a_project_has_files_of_its_own(tmp_path: Path) -> None:
    """Where a client reads a project's file, that is named; where it has none, the error says so."""
    places = Places(HOME, {}, "linux")
    files = {client.name: client.project_file for client in CLIENTS if client.project_file}

    assert files == {
        "claude-code": ".mcp.json",
        "vscode": ".vscode/mcp.json",
        "copilot": ".mcp.json",
        "cursor": ".cursor/mcp.json",
        "codex": ".codex/config.toml",
        "gemini": ".gemini/settings.json",
        "jupyter-ai": ".jupyter/mcp_settings.json",
    }
    for client in CLIENTS:
        if client.project_file:
            assert config_file(client, places, tmp_path) == tmp_path / client.project_file
        else:
            with pytest.raises(ClientConfigError, match="leave out --project"):
                config_file(client, places, tmp_path)


def test_where_skills_go() -> None:
    """The folders of skills, for the user and for a project."""
    places = Places(HOME, {}, "linux")
    folders = {client.name: skills_folder(client, places, None) for client in CLIENTS}

    assert {name: str(folder.relative_to(HOME)) for name, folder in folders.items() if folder} == {
        "claude-code": ".claude/skills",
        "vscode": ".copilot/skills",
        "copilot": ".copilot/skills",
        "cursor": ".cursor/skills",
        "codex": ".agents/skills",
        "gemini": ".gemini/skills",
    }
    claude = client_of("claude-code")
    assert claude is not None
    assert skills_folder(claude, places, Path("/work")) == Path("/work/.claude/skills")
