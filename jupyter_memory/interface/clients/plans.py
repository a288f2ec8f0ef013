"""What connecting a client, or ending that, changes in its files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_config_dir

from jupyter_memory.config import FILE_NAME
from jupyter_memory.errors import ClientConfigError
from jupyter_memory.interface.clients.clients import Client
from jupyter_memory.interface.clients.files import Change, backup_of, decoded, encoded, read
from jupyter_memory.interface.clients.places import Places
from jupyter_memory.interface.clients.shapes import NAME, JsonMember, Shape
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

    Raises:
        ClientConfigError: this Python does not know its own path.
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
        """Return whether the file turns it on, as far as that can be read."""
        return is_connected(self._shape, self.file)

    def turned_on(self) -> Change | None:
        """Return the change that turns it on, None where it is."""
        return connection(self._shape, self.file, True)

    def turned_off(self) -> Change | None:
        """Return the change that takes it out of the file, None where it is not there."""
        return disconnection(self._shape, self.file)

    @property
    def _shape(self) -> Shape:
        return JsonMember(("JupyterMemory",), self.name)


def config_file(client: Client, places: Places, project: Path | None) -> Path:
    """Return the file that is changed: the user's, or a project's.

    Raises:
        ClientConfigError: the client has no file for a project.
    """
    if project is None:
        return client.file(places)
    if not client.project_file:
        raise ClientConfigError(f"{client.title} has one configuration for all projects: leave out --project.")
    return project / client.project_file


def is_connected(shape: Shape, path: Path) -> bool:
    """Return whether a configuration names our server; one that cannot be read does not."""
    try:
        return shape.entry_of(decoded(read(path))) not in (None, False)
    except ClientConfigError:
        return False


def connection(shape: Shape, path: Path, entry: Any) -> Change | None:
    """Return the change that puts an entry into a configuration, None where it says so already.

    Raises:
        ClientConfigError: the file cannot be read, or changed safely.
    """
    before = read(path)
    after = _edited(path, before, lambda text: shape.with_entry(text, entry))
    if after == before:
        return None
    return Change(path, before, after, kept=_is_but_for_us(shape, path, before))


def disconnection(shape: Shape, path: Path) -> Change | None:
    """Return the change that takes our entry out of a configuration, None where there is none.

    Where nothing but the entry came since, the file becomes what it was, to the last byte.

    Raises:
        ClientConfigError: the file cannot be read, or changed safely.
    """
    before = read(path)
    after = _edited(path, before, shape.without_entry)
    if before is None or after == before:
        return None
    if _is_but_for_us(shape, path, before):
        return Change(path, before, read(backup_of(path)), restores=True)
    return Change(path, before, after)


def _is_but_for_us(shape: Shape, path: Path, now: bytes | None) -> bool:
    """Return whether the copy beside a file is what the file was before our entry came, and nothing else did."""
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
    """Return a configuration after an edit; whatever prevents that names the file."""
    try:
        return encoded(edit(decoded(before)), before)
    except ClientConfigError as error:
        reason = str(error)
    raise ClientConfigError(f"{path} was left as it is: {reason}. Mend it, then try again.")


def skill_text() -> str:
    """Return the skill that tells an agent when to search."""
    return (files(__package__) / "SKILL.md").read_text(encoding="utf-8")


def skill_file(folder: Path) -> Path:
    """Return where the skill goes in a folder of skills."""
    return folder / NAME / "SKILL.md"


def skills_folder(client: Client, places: Places, project: Path | None) -> Path | None:
    """Return the folder of a client's skills, None if it has none."""
    if project is not None:
        return project / client.project_skills if client.project_skills else None
    return None if client.skills is None else client.skills(places)


def skill_written(folder: Path) -> Change | None:
    """Return the change that writes the skill into a folder of skills, None where it is there."""
    path, after = skill_file(folder), skill_text().encode("utf-8")
    before = read(path)
    return None if before == after else Change(path, before, after)


def skill_removed(folder: Path) -> Change | None:
    """Return the change that removes the skill from a folder of skills, None where there is none."""
    path = skill_file(folder)
    before = read(path)
    if before is None:
        return None
    # A copy stays only of what somebody changed.
    return Change(path, before, None, kept=before == skill_text().encode("utf-8"), own_folder=True)
