"""Where a kernel runs its cells: the notebook, the cell with its tags, the environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
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
        """Return what names the notebook, empty where nothing does; it keeps its first name when it is renamed."""
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


@cache
def file_of(notebook: str) -> str:
    """Return the path of a notebook; empty where there is no such file, as for a console."""
    return notebook if notebook and Path(notebook).is_file() else ""


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
