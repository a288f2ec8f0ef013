"""The commands that start another door of the package, which a terminal alone has: mcp."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType

from jupyter_memory.errors import JupyterMemoryError, MissingExtra
from jupyter_memory.interface.commands.command import Call, Command
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.interface.options import Option

# Doors do not import each other: like `python -m`, a command names the module that it starts.
_MCP = "jupyter_memory.mcp.command"


def mcp(front: Front, call: Call) -> None:
    """Serve the memory to an agent over standard input and output (MCP); the agent's configuration names this command.

    What an agent reads may leave this machine, with what it sends to its model. It sees no history and may store notes,
    unless options say otherwise.
    """
    _refuse_another_sdk()
    import_module(_MCP).run(front.settings, **call.values)


def _refuse_another_sdk() -> None:
    """Raise where the SDK is missing, or one whose version 1 another package here asks for."""
    try:
        found = version("mcp")
    except PackageNotFoundError:
        raise MissingExtra("jupyter-memory mcp", "mcp") from None
    if found.partition(".")[0] != "2":
        raise JupyterMemoryError(
            f"jupyter-memory mcp needs version 2 of the package mcp, and {found} is installed. "
            "Install jupyter-memory into an environment of its own: pip install 'jupyter-memory[mcp]'"
        )


_OPTIONS = (
    Option(("--read-only",), "do not let the agent store or forget anything"),
    Option(("--space",), "the agent sees only this space, and stores its notes there", "SPACE"),
    Option(("--path",), "the agent sees only this file, or what lies below this folder", "PATH", many=True),
    Option(("--history",), "let the agent see what was run, too"),
    Option(("--forget-any",), "let the agent forget anything that it sees, not only its own notes"),
)
SERVING: Mapping[str, Command[Front]] = MappingProxyType({"mcp": Command("mcp", mcp, options=_OPTIONS)})
