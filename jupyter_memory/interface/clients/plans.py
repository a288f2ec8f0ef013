"""What connecting a program changes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from jupyter_core.paths import jupyter_config_dir

from jupyter_memory.config import FILE_NAME
from jupyter_memory.errors import ClientConfigError
from jupyter_memory.interface.clients.client import Client, Places
from jupyter_memory.interface.clients.config_files import (
    NAME,
    ConfigChange,
    JsonMember,
    Shape,
    backup_of,
    decoded,
    encoded,
    read,
)
from jupyter_memory.text.paths import StorePath, absolute, store_at


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a client may do: options of the server that its entry starts."""

    read_only: bool = False
    space: str | None = None
    paths: tuple[str, ...] = ()
    history: bool = False
    forget_any: bool = False

    def options(self) -> list[str]:
        """Return the options as the command takes them."""
        switches = [("--read-only", self.read_only), ("--history", self.history), ("--forget-any", self.forget_any)]
        named = [("--space", self.space)] if self.space is not None else []
        named += [("--path", full(path)) for path in self.paths]
        return [*(name for name, on in switches if on), *(word for pair in named for word in pair)]


def full(path: str) -> str:
    """Return the path of a bound from the root; the address of something else is whole already."""
    return path if "://" in path else str(absolute(path))


def command_of(store: StorePath | None, bounds: Bounds) -> tuple[str, list[str]]:
    """Return the program that serves the memory, and its arguments; ``store`` is None for the default one.

    It is this Python by its whole path: what starts it may have another PATH, or none. ``-P`` keeps Python from
    importing modules of the folder in which it is started, which is the client's project.
    """
    if not sys.executable:
        raise ClientConfigError("This Python does not know where it is: run the command with its whole path.")
    chosen = [] if store is None else ["--store", str(store_at(store))]
    return sys.executable, ["-P", "-m", "jupyter_memory", *chosen, "mcp", *bounds.options()]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of ours that is on or off, in the file that every Jupyter of this person reads."""

    name: str

    @property
    def file(self) -> Path:
        """Return the file of settings that is written."""
        return Path(jupyter_config_dir()) / f"{FILE_NAME}.json"

    @property
    def is_on(self) -> bool:
        """Return whether the file turns it on; one that cannot be read does not."""
        return is_connected(self._shape, self.file)

    def turned_on(self) -> ConfigChange | None:
        """Return the change that turns it on, None where it is."""
        return connection(self._shape, self.file, True)

    def turned_off(self) -> ConfigChange | None:
        """Return the change that takes it out of the file, None where it is not there."""
        return _disconnection(self._shape, self.file)

    @property
    def _shape(self) -> Shape:
        return JsonMember(("JupyterMemory",), self.name)


def is_connected(shape: Shape, path: Path) -> bool:
    """Return whether a configuration names our server; one that cannot be read does not."""
    try:
        return shape.entry_of(decoded(read(path))) not in (None, False)
    except ClientConfigError:
        return False


def connection(shape: Shape, path: Path, entry: Any) -> ConfigChange | None:
    """Return the change that puts an entry into a configuration, None where it says so already."""
    before = read(path)
    after = _edited(path, before, lambda text: shape.with_entry(text, entry))
    if after == before:
        return None
    return ConfigChange(path, before, after, kept=_is_but_for_us(shape, path, before))


def _disconnection(shape: Shape, path: Path) -> ConfigChange | None:
    # Where nothing but the entry came since, the file becomes what it was, to the last byte.
    before = read(path)
    after = _edited(path, before, shape.without_entry)
    if before is None or after == before:
        return None
    if _is_but_for_us(shape, path, before):
        return ConfigChange(path, before, read(backup_of(path)), restores=True)
    return ConfigChange(path, before, after)


def _is_but_for_us(shape: Shape, path: Path, now: bytes | None) -> bool:
    if now is None:
        return False
    copy = read(backup_of(path))
    try:
        entry = shape.entry_of(decoded(now))
        alone = entry is not None and shape.entry_of(decoded(copy)) is None
        return alone and encoded(shape.with_entry(decoded(copy), entry), copy) == now
    except ClientConfigError:
        return False


def _edited(path: Path, before: bytes | None, edit: Callable[[str], str]) -> bytes:
    try:
        return encoded(edit(decoded(before)), before)
    except ClientConfigError as error:
        reason = str(error)
    raise ClientConfigError(f"{path} was left as it is: {reason}. Mend it, then try again.")


def _skill_text() -> str:
    return (files(__package__) / "SKILL.md").read_text(encoding="utf-8")


def _skill_file(folder: Path) -> Path:
    return folder / NAME / "SKILL.md"


def _skill_written(folder: Path) -> ConfigChange | None:
    path, after = _skill_file(folder), _skill_text().encode("utf-8")
    before = read(path)
    return None if before == after else ConfigChange(path, before, after)


def _skill_removed(folder: Path) -> ConfigChange | None:
    path = _skill_file(folder)
    before = read(path)
    if before is None:
        return None
    # A copy stays only of a changed skill.
    return ConfigChange(path, before, None, kept=before == _skill_text().encode("utf-8"), own_folder=True)


_SETTING = Setting("jupyter_mcp")


# The three kinds of target have the same names: what is typed (`name`) and shown for one (`title`, `caution` before the
# question, `done` and `removed` afterwards), the `file` that is changed, and whether it can read the memory afterwards
# (`reads`). `connection` and `removal` return changes, none if there is nothing to do, and raise `ClientConfigError`
# if a file cannot be read, or changed safely.


@dataclass(frozen=True, slots=True)
class ClientTarget:
    """A client, with the command of its entry; its skill is written ``with_skill`` alone, and removed in any case."""

    client: Client
    places: Places
    project: Path | None
    command: tuple[str, list[str]]
    with_skill: bool
    reads: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return self.client.name

    @property
    def title(self) -> str:
        return self.client.title

    @property
    def file(self) -> Path:
        if self.project is None:
            return self.client.file(self.places)
        if not self.client.project_file:
            raise ClientConfigError(f"{self.title} has one configuration for all projects: leave out --project.")
        return self.project / self.client.project_file

    @property
    def caution(self) -> str:
        if not self.with_skill or self._skills() is not None:
            return ""
        return f"{self.title} has no folder of skills: write the skill with --skill-to FOLDER."

    @property
    def done(self) -> str:
        return f"connected. {self.client.then}"

    @property
    def removed(self) -> str:
        return "no longer connected. If it runs, it keeps its server until it is restarted."

    def is_here(self) -> bool:
        return self.client.is_here(self.places) and (self.project is None or bool(self.client.project_file))

    def is_connected(self) -> bool:
        return is_connected(self.client.shape, self.file)

    def connection(self) -> list[ConfigChange]:
        skills = self._skills()
        entry = connection(self.client.shape, self.file, self.client.entry(*self.command))
        skill = _skill_written(skills) if self.with_skill and skills is not None else None
        return list(filter(None, [entry, skill]))

    def removal(self) -> list[ConfigChange]:
        skills = self._skills()
        entry = _disconnection(self.client.shape, self.file)
        skill = None if skills is None else _skill_removed(skills)
        return list(filter(None, [entry, skill]))

    def _skills(self) -> Path | None:
        if self.project is not None:
            return self.project / self.client.project_skills if self.client.project_skills else None
        return self.places.at(self.client.skills) if self.client.skills else None


@dataclass(frozen=True, slots=True)
class JupyterTarget:
    """The tools that jupyter-server-mcp offers inside Jupyter: a setting of ours."""

    name: ClassVar[str] = "jupyter"
    title: ClassVar[str] = "Agents in Jupyter"
    reads: ClassVar[bool] = True
    caution: ClassVar[str] = (
        "Where jupyter-server-mcp is installed, Jupyter then offers the tools that read the memory on a port, 3001 by "
        "default. That asks for no password: every program on this machine can read the memory through it."
    )
    done: ClassVar[str] = "on. Start Jupyter anew."
    removed: ClassVar[str] = "off, at once."

    @property
    def file(self) -> Path:
        return _SETTING.file

    def is_here(self) -> bool:
        return find_spec("jupyter_server_mcp") is not None or self.is_connected()

    def is_connected(self) -> bool:
        return _SETTING.is_on

    def connection(self) -> list[ConfigChange]:
        return list(filter(None, [_SETTING.turned_on()]))

    def removal(self) -> list[ConfigChange]:
        return list(filter(None, [_SETTING.turned_off()]))


@dataclass(frozen=True, slots=True)
class SkillTarget:
    """A folder of skills by itself; nothing is connected by it."""

    folder: Path
    name: ClassVar[str] = ""
    title: ClassVar[str] = "The skill"
    reads: ClassVar[bool] = False
    caution: ClassVar[str] = ""
    done: ClassVar[str] = "written. Agents that read this folder find it in a new session."
    removed: ClassVar[str] = "removed."

    @property
    def file(self) -> Path:
        return _skill_file(self.folder)

    def is_here(self) -> bool:
        return self.folder.is_dir()

    def is_connected(self) -> bool:
        return self.file.exists()

    def connection(self) -> list[ConfigChange]:
        return list(filter(None, [_skill_written(self.folder)]))

    def removal(self) -> list[ConfigChange]:
        return list(filter(None, [_skill_removed(self.folder)]))


Target = ClientTarget | JupyterTarget | SkillTarget
