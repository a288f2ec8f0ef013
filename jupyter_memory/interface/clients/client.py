"""The programs that can be connected, and where they keep their settings."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jupyter_memory.interface.clients.config_files import JsonItem, JsonMember, Shape, TomlTable

# Where programs keep their configuration on macOS, Linux and Windows.


@dataclass(frozen=True, slots=True)
class Places:
    """The home folder, the environment and the platform that decide where a file is."""

    home: Path = field(default_factory=Path.home)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    platform: str = sys.platform

    def named(self, variable: str, default: str) -> Path:
        """Return the folder that a variable names, else one below the home folder."""
        value = self.environment.get(variable, "")
        return Path(value) if value else self.home / default

    @property
    def application_data(self) -> Path:
        """Return the folder in which applications with windows keep their data."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.named("APPDATA", "AppData/Roaming")
        return self.named("XDG_CONFIG_HOME", ".config")

    def packaged(self, pattern: str) -> Path | None:
        """Return the folder that Windows shows an application from a package (MSIX) in place of APPDATA, if any."""
        if self.platform != "win32":
            return None
        packages = self.named("LOCALAPPDATA", "AppData/Local") / "Packages"
        found = (folder / "LocalCache" / "Roaming" for folder in sorted(packages.glob(pattern)))
        return next((folder for folder in found if folder.is_dir()), None)


# The sources, as of November 2026, are named beside each row.


@dataclass(frozen=True, slots=True)
class Client:
    """One client: ``file`` is its configuration for the user, ``project_file`` the one inside a project's folder.

    ``kind`` (what entries call their type) and ``extra`` are what they have besides the command and its arguments.
    ``skills`` and ``project_skills`` are its folders of skills. A ``program``, a ``package`` of this Python or a
    ``mark`` in the home folder shows that it is installed. ``then`` is what to do for a change to count.
    """

    name: str
    title: str
    shape: Shape
    file: Callable[[Places], Path]
    project_file: str = ""
    kind: str = ""
    extra: tuple[tuple[str, list[str]], ...] = ()
    skills: Callable[[Places], Path] | None = None
    project_skills: str = ""
    program: str = ""
    package: str = ""
    mark: str = ""
    then: str = "Restart it."

    def entry(self, command: str, arguments: list[str]) -> dict[str, Any]:
        """Return what its configuration says about the server of this command."""
        kind = {"type": self.kind} if self.kind else {}
        return {**kind, "command": command, "args": arguments, **dict(self.extra)}

    def is_here(self, places: Places) -> bool:
        """Return whether it seems to be installed."""
        file = self.file(places)
        if file.exists() or (self.mark and (places.home / self.mark).exists()):
            return True
        if self.package:
            return find_spec(self.package) is not None
        # A folder that is there for this client alone.
        own_folder = file.parent != places.home and file.parent.is_dir()
        return own_folder or bool(self.program and shutil.which(self.program))


def _claude_code(places: Places) -> Path:
    # https://code.claude.com/docs/en/mcp: user scope is in ~/.claude.json (not in settings.json), project scope in
    # .mcp.json; CLAUDE_CONFIG_DIR moves the former: https://github.com/anthropics/claude-code/issues/42217.
    return places.named("CLAUDE_CONFIG_DIR", ".") / ".claude.json"


def _claude_desktop(places: Places) -> Path:
    # https://modelcontextprotocol.io/docs/develop/connect-local-servers. On Windows, the packaged application reads
    # from its own folder: https://github.com/anthropics/claude-code/issues/26073.
    folder = places.packaged("Claude_*") or places.application_data
    return folder / "Claude" / "claude_desktop_config.json"


CLIENTS: tuple[Client, ...] = (
    Client(
        "claude-code",
        "Claude Code",
        JsonMember(),
        _claude_code,
        ".mcp.json",
        "stdio",
        # https://code.claude.com/docs/en/skills
        skills=lambda places: places.named("CLAUDE_CONFIG_DIR", ".claude") / "skills",
        project_skills=".claude/skills",
        program="claude",
        mark=".claude",
        then="Start a new session; /mcp lists its servers.",
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        JsonMember(),
        _claude_desktop,
        then="Quit it, and start it again.",
    ),
    Client(
        # https://code.visualstudio.com/docs/agents/reference/mcp-configuration: "servers", with comments allowed.
        "vscode",
        "VS Code with Copilot",
        JsonMember(("servers",), comments=True),
        lambda places: places.application_data / "Code" / "User" / "mcp.json",
        ".vscode/mcp.json",
        "stdio",
        # https://docs.github.com/en/copilot/concepts/agents/about-agent-skills
        skills=lambda places: places.named("COPILOT_HOME", ".copilot") / "skills",
        project_skills=".github/skills",
        program="code",
        then="It asks whether you trust the server when it starts it.",
    ),
    Client(
        # https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-command-reference: COPILOT_HOME, and
        # `tools`, without which no tool is offered. "local" and "stdio" are the same to it; a project's file is that of
        # Claude Code, which knows "stdio" alone.
        "copilot",
        "Copilot CLI",
        JsonMember(),
        lambda places: places.named("COPILOT_HOME", ".copilot") / "mcp-config.json",
        ".mcp.json",
        "stdio",
        (("tools", ["*"]),),
        skills=lambda places: places.named("COPILOT_HOME", ".copilot") / "skills",
        project_skills=".github/skills",
        program="copilot",
    ),
    Client(
        # https://cursor.com/docs/mcp and https://cursor.com/docs/skills; Cursor reads comments, as VS Code does.
        "cursor",
        "Cursor",
        JsonMember(comments=True),
        lambda places: places.home / ".cursor" / "mcp.json",
        ".cursor/mcp.json",
        "stdio",
        skills=lambda places: places.home / ".cursor" / "skills",
        project_skills=".cursor/skills",
        program="cursor",
    ),
    Client(
        # https://developers.openai.com/codex/mcp and https://developers.openai.com/codex/skills
        "codex",
        "Codex",
        TomlTable(),
        lambda places: places.named("CODEX_HOME", ".codex") / "config.toml",
        ".codex/config.toml",
        skills=lambda places: places.home / ".agents" / "skills",
        project_skills=".agents/skills",
        program="codex",
        then="Start a new session; it reads a project's file in trusted projects only.",
    ),
    Client(
        # https://geminicli.com/docs/reference/configuration and https://geminicli.com/docs/cli/using-agent-skills
        "gemini",
        "Gemini CLI",
        JsonMember(comments=True),
        lambda places: places.named("GEMINI_CLI_HOME", ".") / ".gemini" / "settings.json",
        ".gemini/settings.json",
        skills=lambda places: places.named("GEMINI_CLI_HOME", ".") / ".gemini" / "skills",
        project_skills=".gemini/skills",
        program="gemini",
    ),
    Client(
        # jupyter_ai_persona_manager 0.2: mcp_server_models.py, and get_mcp_settings, which looks from the folder of the
        # chat upwards, as far as the server's folder.
        "jupyter-ai",
        "Jupyter AI 3",
        JsonItem(),
        lambda places: places.home / ".jupyter" / "mcp_settings.json",
        ".jupyter/mcp_settings.json",
        extra=(("env", []),),
        package="jupyter_ai_persona_manager",
        then="Start a new chat in the folder that has .jupyter, or below it.",
    ),
)


def client_of(name: str) -> Client | None:
    """Return the client of a name."""
    return next((client for client in CLIENTS if client.name == name), None)
