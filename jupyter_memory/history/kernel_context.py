"""Where a kernel runs its cells: the notebook, the cell with its tags, the environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import ExecutionInfo, InteractiveShell

if TYPE_CHECKING:
    from ipykernel.zmqshell import ZMQInteractiveShell

# The server of Jupyter names the notebook in the kernel's environment, VS Code in a variable of the kernel.
_OF_JUPYTER, _OF_VS_CODE = "JPY_SESSION_NAME", "__vsc_ipynb_file__"


class KernelContext:
    """What a shell knows of the place that its cells come from."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._kernel = _kernel_of(shell)

    @property
    def notebook(self) -> str:
        """Return what names the notebook, empty where nothing does; Jupyter names it once, as the kernel begins."""
        named = self._shell.user_ns.get(_OF_VS_CODE)
        return named if isinstance(named, str) else os.environ.get(_OF_JUPYTER, "")

    def cell_id(self, info: ExecutionInfo) -> str:
        """Return the id of a cell, empty where the front end sends none."""
        return info.cell_id if isinstance(info.cell_id, str) else ""

    def tags(self) -> tuple[str, ...]:
        """Return the tags of the cell that runs, where the front end sends them, as JupyterLab and Notebook do."""
        tags = self._metadata().get("tags")
        return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()

    def _metadata(self) -> Mapping[str, Any]:
        """Return what came with the request to run the cell: in JupyterLab the whole metadata of the cell."""
        request = {} if self._kernel is None else self._kernel.parent_header
        metadata = request.get("metadata") if isinstance(request, Mapping) else None
        return metadata if isinstance(metadata, Mapping) else {}


def _kernel_of(shell: InteractiveShell) -> ZMQInteractiveShell | None:
    if not shell.has_trait("kernel"):
        return None
    try:
        from ipykernel.zmqshell import ZMQInteractiveShell
    except ImportError:
        return None
    return shell if isinstance(shell, ZMQInteractiveShell) else None


class NotebookFiles:
    """The files of notebooks, which a kernel knows by the names that they had when it began.

    Jupyter writes a notebook in place, so its file stays the same (device and inode) when it is saved and renamed. A
    notebook that was moved to another folder is not looked for: its first name stays.
    """

    def __init__(self) -> None:
        # The files by the names that kernels give them, and the names now by all earlier ones.
        self._known: dict[str, tuple[int, int] | None] = {}
        self._names: dict[str, str] = {}

    def file_of(self, notebook: str) -> str:
        """Return the path of a notebook; empty where there is no such file, as for a console.

        The disk is asked once for each: it may be a slow one, and cells wait for the answer.
        """
        if notebook not in self._known:
            self._known[notebook] = _identity(notebook)
        return self.current(notebook) if self._known[notebook] is not None else ""

    def follow(self) -> None:
        """Look up the names that the notebooks have now; this asks the disk, so it is for a thread that may wait."""
        for notebook, known in list(self._known.items()):
            name = self.current(notebook)
            if known is None:
                continue
            if (now := _identity(name)) is not None:
                self._known[notebook] = now
            elif (renamed := _named_now(Path(name).parent, known)) is not None:
                earlier = [one for one, last in self._names.items() if last == name]
                self._names.update(dict.fromkeys((notebook, name, renamed, *earlier), renamed))

    def current(self, file: str) -> str:
        """Return the name that a notebook has now, by any that it had."""
        return self._names.get(file, file)


def _identity(file: str) -> tuple[int, int] | None:
    """Return what stays the same of a file when it is renamed; None where there is no file."""
    try:
        found = Path(file).stat() if file else None
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if found is not None and S_ISREG(found.st_mode) else None


def _named_now(folder: Path, known: tuple[int, int]) -> str | None:
    """Return the path of the notebook in a folder that is this file."""
    try:
        with os.scandir(folder) as entries:
            # The inode of an entry is known without asking for each.
            found = [entry.path for entry in entries if entry.name.endswith(".ipynb") and entry.inode() == known[1]]
    except OSError:
        return None
    return next((path for path in found if _identity(path) == known), None)


def environment() -> str:
    """Return the name of the environment that Python runs in; empty for that of the system.

    The folder of a virtual environment is often called .venv: then the name of its project comes first.
    """
    prefix = Path(sys.prefix)
    if (prefix / "conda-meta").is_dir():
        return prefix.name if prefix.parent.name == "envs" else "base"
    if sys.prefix == sys.base_prefix:
        return ""
    is_named = prefix.name.lstrip(".") not in ("venv", "env", "virtualenv")
    return prefix.name if is_named else f"{prefix.parent.name}/{prefix.name}"
