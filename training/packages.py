"""The packages that pairs come from: pinned in `packages.toml`, fetched by the registries' own clients, and checked."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


class WrongPackageError(Exception):
    """A file of a registry is not the one that was pinned."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package as pinned: ``file`` is its name in the registry, ``read_in`` where its licence was read."""

    name: str
    version: str
    file: str
    sha256: str
    licence: str
    read_in: str
    registry: Literal["pypi", "debian"]


def listed(path: Path) -> list[Package]:
    """Return the packages of a list, in its order."""
    return [Package(**one) for one in tomllib.loads(path.read_text(encoding="utf-8"))["package"]]


def fetched(package: Package, folder: Path) -> Path:
    """Return a wheel, or the folder of an unpacked Debian package; fetched where it is not there yet.

    Raises:
        WrongPackageError: the registry's file has another content.
        subprocess.CalledProcessError: the registry does not have it; its client has said why.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / package.file
    if not path.exists():
        subprocess.run(_command(package), cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    check(package, path)
    if package.registry == "pypi":
        return path
    unpacked = folder / package.name
    if not unpacked.exists():
        unfinished = folder / f"{package.name}.part"
        subprocess.run(["dpkg", "-x", path, unfinished], check=True)  # noqa: S603, S607
        unfinished.rename(unpacked)
    return unpacked


def check(package: Package, path: Path) -> None:
    """Raise an error unless a file is the pinned one."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != package.sha256:
        raise WrongPackageError(
            f"{path.name} has the sha256 {found}, and {package.sha256} was pinned. Remove {path} and try again; "
            "if the registry replaced it, read its licence anew and pin it in training/packages.toml."
        )


def _command(package: Package) -> list[str]:
    if package.registry == "debian":
        return ["apt-get", "download", "-q", f"{package.name}={package.version}"]
    wanted = f"{package.name}=={package.version}"
    # The pinned file, whatever machine and Python this is.
    tags = package.file.removesuffix(".whl").split("-")[-3:]
    platforms = [part for tag in tags[2].split(".") for part in ("--platform", tag)]
    return [
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", wanted,
        "--implementation", "py" if tags[0].startswith("py") else "cp", "--python-version", "3.11",
        "--abi", tags[1], *platforms, "--dest", ".",
    ]  # fmt: skip
