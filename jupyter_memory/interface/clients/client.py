"""The programs that can be connected, where they keep their settings, and what connecting one changes."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_config_dir

from jupyter_memory.config import FILE_NAME
from jupyter_memory.errors import ClientConfigError, JupyterMemoryError, MissingExtra
from jupyter_memory.interface.clients.config_files import ConfigChange, Entry, JsonEntry, Shape, Skill, TomlTable
from jupyter_memory.interface.options import BOUNDS
from jupyter_memory.text.paths import StorePath, absolute, make_private, store_at


@dataclass(frozen=True, slots=True)
class Places:
    """The home folder, the environment and the platform that decide where a file is."""

    home: Path = field(default_factory=Path.home)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    platform: str = sys.platform

    def at(self, written: str, packaged: str = "") -> Path:
        """Return the path that a row of the table writes; ``packaged`` is the pattern of a package of Windows."""
        folder, rest = self.home, written
        if written.startswith("{"):
            place, _, rest = written[1:].partition("}/")
            variable, _, default = place.partition("|")
            if variable != "application data":
                folder = self._named(variable, default)
            elif self.platform == "darwin":
                folder = self.home / "Library" / "Application Support"
            elif self.platform != "win32":
                folder = self._named("XDG_CONFIG_HOME", ".config")
            else:
                packages = self._named("LOCALAPPDATA", "AppData/Local") / "Packages"
                found = (one / "LocalCache" / "Roaming" for one in sorted(packages.glob(packaged))) if packaged else ()
                folder = next((one for one in found if one.is_dir()), self._named("APPDATA", "AppData/Roaming"))
        return folder / rest

    def _named(self, variable: str, default: str) -> Path:
        value = self.environment.get(variable, "")
        return Path(value) if value else self.home / default


@dataclass(frozen=True, slots=True)
class Client:
    """One client: a row of ``clients.toml``, which says what its columns are."""

    name: str
    title: str
    shape: Shape
    user_file: str
    project_file: str = ""
    packaged: str = ""
    extra: Mapping[str, str | list[str]] = field(default_factory=dict)
    skills: str = ""
    project_skills: str = ""
    program: str = ""
    package: str = ""
    mark: str = ""
    then: str = "Restart it."

    @classmethod
    def of(cls, row: dict[str, Any]) -> Client:
        form, file = row.pop("format", "json"), row.pop("file")
        keys, comments = tuple(row.pop("keys", ["mcpServers"])), row.pop("comments", False)
        shape = TomlTable() if form == "toml" else JsonEntry(keys, comments=comments, items=form == "json array")
        return cls(shape=shape, user_file=file, **row)

    def file(self, places: Places) -> Path:
        return places.at(self.user_file, self.packaged)

    def entry(self, command: str, arguments: list[str]) -> dict[str, Any]:
        return {"command": command, "args": arguments, **self.extra}

    def is_here(self, places: Places) -> bool:
        file = self.file(places)
        if file.exists() or (self.mark and (places.home / self.mark).exists()):
            return True
        if self.package:
            return find_spec(self.package) is not None
        own_folder = file.parent != places.home and file.parent.is_dir()
        return own_folder or bool(self.program and shutil.which(self.program))


CLIENTS = tuple(map(Client.of, tomllib.loads((files(__package__) / "clients.toml").read_text("utf-8"))["clients"]))


def full(path: str) -> str:
    """Return the path of a bound from the root; the address of something else is whole already."""
    return path if "://" in path else str(absolute(path))


def command_of(store: StorePath | None, values: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the program that serves the memory within the values of ``BOUNDS``; ``store`` is None for the default."""
    # This Python by its whole path, as a client may have another PATH; ``-P`` keeps it from importing the modules of
    # the client's project.
    if not sys.executable:
        raise ClientConfigError("This Python does not know where it is: run the command with its whole path.")
    chosen = [] if store is None else ["--store", str(store_at(store))]
    bounds = [option.flags[0] for option in BOUNDS if values[option.name] is True]
    bounds += [] if values["space"] is None else ["--space", values["space"]]
    bounds += [word for path in values["path"] for word in ("--path", full(path))]
    bounds += [word for name in values["in"] for word in ("--in", name)]
    return sys.executable, ["-P", "-m", "jupyter_memory", *chosen, "mcp", *bounds]


def setting(name: str, value: Any = True) -> Entry:
    """Return a setting of ours, on unless it has another value, in the file that every Jupyter of this person reads."""
    return Entry(JsonEntry(("JupyterMemory",), name), Path(jupyter_config_dir()) / f"{FILE_NAME}.json", value)


def keep_setting(name: str, value: Any = True) -> Path:
    """Write a setting of ours into its file, if it has another value there, and return the file."""
    entry = setting(name, value)
    if (change := entry.added()) is not None:
        make_private(change.path.parent)
        change.apply()
    return entry.file


@dataclass(frozen=True, slots=True)
class Target:
    """What can be connected, by ``edits``: a client, with its skill; the tools inside Jupyter; a skill by itself.

    ``caution`` is shown before the question, ``done`` and ``removed`` afterwards; then it ``reads`` the memory.
    """

    name: str
    title: str
    edits: Sequence[Entry | Skill]
    is_here: Callable[[], bool]
    done: str
    removed: str
    caution: str = ""
    reads: bool = True

    @property
    def file(self) -> Path:
        return self._edits[0].file

    @property
    def is_connected(self) -> bool:
        """Return whether it has our entry, or our skill if that is all it gets."""
        return self._edits[0].is_there

    def changes(self, *, remove: bool = False) -> list[ConfigChange]:
        """Return the changes that connect it, or that end the connection."""
        made = (edit.removed() if remove else edit.added() for edit in self._edits)
        return [change for change in made if change is not None]

    @property
    def _edits(self) -> Sequence[Entry | Skill]:
        if not self.edits:
            raise ClientConfigError(f"{self.title} has one configuration for all projects: leave out --project.")
        return self.edits

    @classmethod
    def of_client(
        cls, client: Client, places: Places, project: Path | None, command: tuple[str, list[str]], with_skill: bool
    ) -> Target:
        """Return a client, for one project or all of them; its skill is removed with the entry in any case."""
        file: Path | None
        if project is None:
            file, folder = client.file(places), places.at(client.skills) if client.skills else None
        else:
            file = project / client.project_file if client.project_file else None
            folder = project / client.project_skills if client.project_skills else None
        edits: list[Entry | Skill] = [] if file is None else [Entry(client.shape, file, client.entry(*command))]
        if edits and folder is not None:
            edits.append(Skill(folder, with_skill))
        no_folder = f"{client.title} has no folder of skills: write the skill with --skill-to FOLDER."
        return cls(
            client.name,
            client.title,
            edits,
            is_here=lambda: file is not None and client.is_here(places),
            done=f"connected. {client.then}",
            removed="no longer connected. If it runs, it keeps its server until it is restarted.",
            caution=no_folder if with_skill and folder is None else "",
        )

    @classmethod
    def of_jupyter(cls) -> Target:
        """Return the tools that jupyter-server-mcp offers inside Jupyter: a setting of ours."""
        entry = setting("jupyter_mcp")
        return cls(
            "jupyter",
            "Agents in Jupyter",
            [entry],
            is_here=lambda: find_spec("jupyter_server_mcp") is not None or entry.is_there,
            done="on. Start Jupyter anew.",
            removed="off, at once.",
            caution="Where jupyter-server-mcp is installed, Jupyter then offers the tools that read the memory on a "
            "port, 3001 by default. That asks for no password: every program on this machine can read the memory "
            "through it.",
        )

    @classmethod
    def of_skill(cls, folder: Path) -> Target:
        """Return the skill by itself; nothing is connected by it."""
        return cls(
            "",
            "The skill",
            [Skill(folder)],
            is_here=folder.is_dir,
            done="written. Agents that read this folder find it in a new session.",
            removed="removed.",
            reads=False,
        )


def check_sdk() -> None:
    """Raise an error if the package ``mcp`` is missing, or not of the version that the server of agents needs."""
    try:
        found = version("mcp")
    except PackageNotFoundError:
        raise MissingExtra("jupyter-memory mcp", "mcp") from None
    if found.partition(".")[0] != "2":
        raise JupyterMemoryError(
            f"jupyter-memory mcp needs version 2 of the package mcp, and {found} is installed. "
            "Install jupyter-memory into an environment of its own: pip install 'jupyter-memory[mcp]'"
        )
