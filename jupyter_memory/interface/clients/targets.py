"""What can be connected: a client with its skill, the tools inside Jupyter, or a folder of skills alone."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Protocol

from jupyter_memory.interface.clients import plans
from jupyter_memory.interface.clients.clients import Client
from jupyter_memory.interface.clients.files import Change
from jupyter_memory.interface.clients.places import Places

_SETTING = plans.Setting("jupyter_mcp")


class Target(Protocol):
    """Something that can be connected.

    ``connection`` and ``removal`` raise ``ClientConfigError`` where a file cannot be read, or changed safely.
    """

    @property
    def name(self) -> str:
        """Return what is typed for it."""
        ...

    @property
    def title(self) -> str:
        """Return what it is called."""
        ...

    @property
    def file(self) -> Path:
        """Return the file that is changed."""
        ...

    @property
    def reads(self) -> bool:
        """Return whether it can read the memory afterwards."""
        ...

    @property
    def caution(self) -> str:
        """Return what is told before the question."""
        ...

    @property
    def done(self) -> str:
        """Return what is told after it was connected."""
        ...

    @property
    def removed(self) -> str:
        """Return what is told after that was ended."""
        ...

    def is_here(self) -> bool:
        """Return whether it seems to be installed."""
        ...

    def is_connected(self) -> bool:
        """Return whether it is connected, as far as its file can be read."""
        ...

    def connection(self) -> list[Change]:
        """Return the changes that connect it, none where it is connected."""
        ...

    def removal(self) -> list[Change]:
        """Return the changes that end that, none where it is not connected."""
        ...


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
        """Return the name by which the client is typed."""
        return self.client.name

    @property
    def title(self) -> str:
        """Return the name of the client."""
        return self.client.title

    @property
    def file(self) -> Path:
        """Return its configuration: the user's, or the project's."""
        return plans.config_file(self.client, self.places, self.project)

    @property
    def caution(self) -> str:
        """Return that there is no folder for the skill that was asked for."""
        if not self.with_skill or self._skills() is not None:
            return ""
        return f"{self.title} has no folder of skills: write the skill with --skill-to FOLDER."

    @property
    def done(self) -> str:
        """Return what to do for the change to count."""
        return f"connected. {self.client.then}"

    @property
    def removed(self) -> str:
        """Return what to do for the removal to count."""
        return "no longer connected. If it runs, it keeps its server until it is restarted."

    def is_here(self) -> bool:
        """Return whether it seems to be installed, and has a file of the kind that is asked for."""
        return self.client.is_here(self.places) and (self.project is None or bool(self.client.project_file))

    def is_connected(self) -> bool:
        """Return whether its configuration names our server."""
        return plans.is_connected(self.client.shape, self.file)

    def connection(self) -> list[Change]:
        """Return the changes of its configuration, and of its skill if that is asked for."""
        skills = self._skills()
        entry = plans.connection(self.client.shape, self.file, self.client.entry(*self.command))
        skill = plans.skill_written(skills) if self.with_skill and skills is not None else None
        return [change for change in (entry, skill) if change is not None]

    def removal(self) -> list[Change]:
        """Return the changes that take out the entry and the skill."""
        skills = self._skills()
        entry = plans.disconnection(self.client.shape, self.file)
        skill = None if skills is None else plans.skill_removed(skills)
        return [change for change in (entry, skill) if change is not None]

    def _skills(self) -> Path | None:
        return plans.skills_folder(self.client, self.places, self.project)


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
        """Return our own file of settings."""
        return _SETTING.file

    def is_here(self) -> bool:
        """Return whether there is something to offer the tools, or they are on."""
        return find_spec("jupyter_server_mcp") is not None or self.is_connected()

    def is_connected(self) -> bool:
        """Return whether the setting is in the file, and on."""
        return _SETTING.is_on

    def connection(self) -> list[Change]:
        """Return the change that switches it on."""
        change = _SETTING.turned_on()
        return [] if change is None else [change]

    def removal(self) -> list[Change]:
        """Return the change that takes the setting away."""
        change = _SETTING.turned_off()
        return [] if change is None else [change]


@dataclass(frozen=True, slots=True)
class SkillTarget:
    """A folder of skills that somebody named; nothing is connected by it."""

    folder: Path
    name: ClassVar[str] = ""
    title: ClassVar[str] = "The skill"
    reads: ClassVar[bool] = False
    caution: ClassVar[str] = ""
    done: ClassVar[str] = "written. Agents that read this folder find it in a new session."
    removed: ClassVar[str] = "removed."

    @property
    def file(self) -> Path:
        """Return the file of the skill."""
        return plans.skill_file(self.folder)

    def is_here(self) -> bool:
        """Return whether the folder is there."""
        return self.folder.is_dir()

    def is_connected(self) -> bool:
        """Return whether the skill is in it."""
        return self.file.exists()

    def connection(self) -> list[Change]:
        """Return the change that writes the skill."""
        change = plans.skill_written(self.folder)
        return [] if change is None else [change]

    def removal(self) -> list[Change]:
        """Return the change that removes it."""
        change = plans.skill_removed(self.folder)
        return [] if change is None else [change]
