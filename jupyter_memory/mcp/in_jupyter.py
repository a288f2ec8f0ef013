"""The tools that read, for agents inside Jupyter: plain functions that jupyter-server-mcp finds by an entry point.

Its discovery is on by default and its port has no token. So there is nothing to find until the person has set
``jupyter_mcp``, and what is offered then only reads. The functions know no SDK: 0.3 and 0.4 bring different ones.
"""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from jupyter_memory.config import JupyterMemory, load_config
from jupyter_memory.mcp.bound import Bound, ToolError

if TYPE_CHECKING:
    from jupyter_memory.mcp.tools import Tools


def tools() -> list[str]:
    """Return the functions below as jupyter-server-mcp loads them, none while the setting is off."""
    functions = (memory_search, memory_get, memory_related, memory_fix, memory_status)
    return [f"{__name__}:{function.__name__}" for function in functions] if _settings().jupyter_mcp else []


async def memory_search(
    query: str | None = None,
    filters: dict[str, Any] | None = None,
    about_tags: list[str] | None = None,
    mode: Literal["scan", "full"] = "scan",
    limit: int = 10,
    max_tokens: int = 2_000,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Search the user's notebooks, notes and files by meaning and exact words. Use it first for whatever the user may
    have done, decided or noted before.

    filters: kind (note, file, cell), tag, path, lang, tier, since, until, as_of (stored by then); about_tags only count
    in favour. mode "full" gives whole texts while they fit. max_tokens bounds the answer; cursor is `next` of an
    answer, for more.
    """
    return await _answer("memory_search", locals())


async def memory_get(
    ids: list[str], around: str | None = None, offset: int = 0, max_tokens: int = 2_000
) -> dict[str, Any]:
    """Read memories by id, whole or the part around some words, when a snippet is not enough.

    offset is `next_offset` of an answer.
    """
    return await _answer("memory_get", locals())


async def memory_related(id: str, limit: int = 5, max_tokens: int = 2_000, cursor: str | None = None) -> dict[str, Any]:
    """Find memories like one, to see more on the topic of a good hit."""
    return await _answer("memory_related", locals())


async def memory_fix(traceback: str, limit: int = 3, max_tokens: int = 2_000) -> dict[str, Any]:
    """Tell how an error like one was fixed before, as diffs, for a traceback."""
    return await _answer("memory_fix", locals())


async def memory_status() -> dict[str, Any]:
    """Tell what the memory holds and allows, to choose filters or when a search finds nothing."""
    return await _answer("memory_status", {})


async def _answer(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    def answer() -> dict[str, Any]:
        # Switching it off counts at once, though the functions stay listed until Jupyter is started anew.
        if not _settings().jupyter_mcp:
            raise ToolError("This memory is closed to agents in Jupyter: `jupyter-memory connect jupyter` opens it.")
        found = _tools().call(name, arguments, "jupyter")
        if isinstance(found, str):
            raise ToolError(found)
        return found.values()

    return await asyncio.to_thread(answer)


@cache
def _tools() -> Tools:
    from jupyter_memory.interface.running import StoreProvider
    from jupyter_memory.mcp.tools import Tools

    settings = _settings()
    return Tools(StoreProvider(settings), Bound(space=settings.space, writing=False))


def _settings() -> JupyterMemory:
    # What is wrong with the settings is shown to the person, not to an agent.
    return load_config(on_problem=lambda problem: None)
