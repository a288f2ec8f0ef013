"""The manifest of a fetched model: where its files came from, what they were, and how they were converted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

FILE_NAME = "manifest.json"
WEIGHTS = "model.safetensors"

# Parts of a file that tell it from another: 256 pages spread over it.
_PAGES = 256
_PAGE = 4_096


@dataclass(frozen=True, slots=True)
class Manifest:
    """The origin of a model's files.

    ``identity`` names the weights as they were published: it is the ``weights_identity`` of the source, and so the
    same for the files as they came and for what is kept here. ``kept`` is that of the weights that lie beside the
    manifest. ``source`` and ``files`` map file names to the sha256 of what came and of what is kept; ``repository`` and
    ``revision`` are empty for a folder that was given.
    """

    name: str
    identity: str
    kept: str
    recipe: str
    repository: str = ""
    revision: str = ""
    source: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write it into a folder."""
        (folder / FILE_NAME).write_text(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read(folder: Path) -> Manifest | None:
    """Return the manifest of a folder, None where there is none that can be read."""
    try:
        return Manifest(**json.loads((folder / FILE_NAME).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def identity(folder: Path) -> str:
    """Return 12 digits for the weights of a folder as they were published, empty where there are no weights.

    What was made of them here (half precision, one file of several) has the identity of what it was made of, as long as
    nobody has changed it since.
    """
    here = weights_identity(folder)
    said = read(folder)
    return said.identity if said is not None and here and said.kept == here else here


def sha256_of(file: Path) -> str:
    """Return the sha256 of a file in hexadecimal digits."""
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
