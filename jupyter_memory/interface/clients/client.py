"""The programs that can be connected, and where they keep their settings."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jupyter_memory.interface.clients.config_files import JsonItem, JsonMember, Shape, TomlTable


@dataclass(frozen=True, slots=True)
class Places:
    """The home folder, the environment and the platform that decide where a file is."""

    home: Path = field(default_factory=Path.home)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    platform: str = sys.platform

    def at(self, written: str, packaged: str = "") -> Path:
        """Return the path that a row of the table writes; ``packaged`` is the pattern of a package of Windows.

        >>> Places(Path("/home/ada"), {}, "linux").at("{CODEX_HOME|.codex}/config.toml").as_posix()
        '/home/ada/.codex/config.toml'
        """
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
    kind: str = ""
    extra: Mapping[str, list[str]] = field(default_factory=dict)
    skills: str = ""
    project_skills: str = ""
    program: str = ""
    package: str = ""
    mark: str = ""
    then: str = "Restart it."

    def file(self, places: Places) -> Path:
        """Return its configuration for the user."""
        return places.at(self.user_file, self.packaged)

    def entry(self, command: str, arguments: list[str]) -> dict[str, Any]:
        """Return what its configuration says about the server of this command."""
        kind = {"type": self.kind} if self.kind else {}
        return {**kind, "command": command, "args": arguments, **self.extra}

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


def _read() -> tuple[Client, ...]:
    shapes: dict[str, type[Shape]] = {"json": JsonMember, "json array": JsonItem, "toml": TomlTable}
    clients = []
    for row in tomllib.loads((files(__package__) / "clients.toml").read_text(encoding="utf-8"))["clients"]:
        form = {name: row.pop(name) for name in ("keys", "comments") if name in row}
        if "keys" in form:
            form["keys"] = tuple(form["keys"])
        shape = shapes[row.pop("format", "json")](**form)
        clients.append(Client(shape=shape, user_file=row.pop("file"), **row))
    return tuple(clients)


CLIENTS: tuple[Client, ...] = _read()
