"""Builds the panel for JupyterLab from labextension/ with Node, where the built one is older than its sources."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("labextension/src", "labextension/style", "schema", "package.json", "tsconfig.json", "yarn.lock")
BUILT = ROOT / "jupyter_memory/labextension/package.json"
INSTALLED = ROOT / "node_modules/.yarn-state.yml"
NEEDS = (
    "the panel for JupyterLab is built with Node 20.19 or newer, {found}: install it (https://nodejs.org, "
    "`brew install node` or `apt-get install nodejs`) and do this again."
)


def build(_target: str = "wheel", _version: str = "standard", **_options: str) -> None:
    """Build the panel if it is older than its sources: what hatch calls for a wheel and `make` before it runs."""
    if _older(BUILT, _sources()):
        check_node()
        _build()
    # Beside the built files: from elsewhere it would come twice where an environment links to them.
    shutil.copy(ROOT / "install.json", BUILT.parent)


def _build() -> None:
    if _older(INSTALLED, [ROOT / "package.json", ROOT / "yarn.lock"]):
        _jlpm("install", "--immutable")
        INSTALLED.touch()
    _jlpm("build:prod")
    BUILT.touch()  # a build that changes nothing leaves its files as they are


def check_node() -> None:
    """Raise SystemExit with one line where Node is not there or too old."""
    node = shutil.which("node")
    if node is None:
        raise SystemExit(NEEDS.format(found="and there is none on the PATH"))
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    if tuple(int(part) for part in said.lstrip("v").split(".")[:2]) < (20, 19):
        raise SystemExit(NEEDS.format(found=f"and this one is {said}"))


def link() -> None:
    """Let the JupyterLab of this environment read the built panel where it is, not a copy of it."""
    place = Path(sys.prefix) / "share/jupyter/labextensions/jupyter-memory"
    if place.is_symlink():
        return
    if place.exists():
        shutil.rmtree(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(BUILT.parent)


def _sources() -> Iterator[Path]:
    for name in SOURCES:
        path = ROOT / name
        files = path.rglob("*") if path.is_dir() else [path]
        yield from (file for file in files if file.is_file() and "__tests__" not in file.parts)


def _older(made: Path, sources: Iterator[Path] | list[Path]) -> bool:
    return not made.exists() or any(file.stat().st_mtime > made.stat().st_mtime for file in sources)


def _jlpm(*arguments: str) -> None:
    beside = Path(sys.executable).parent
    command = shutil.which("jlpm", path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}")
    if command is None:
        raise SystemExit("jlpm is missing, which builds the panel: pip install 'jupyter-builder>=1.2'")
    # Its scripts look for jupyter-builder on the PATH, which an environment that is not activated is not on.
    there = {**os.environ, "PATH": f"{Path(command).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    subprocess.run([command, *arguments], cwd=ROOT, env=there, check=True, timeout=3_600)


if __name__ == "__main__":
    if "--check" in sys.argv:
        if _older(BUILT, _sources()):
            check_node()
    else:
        build()
        link()
