"""What all hits of a page have in common, told once: a page is mostly of one folder, one day and one language."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_memory.mcp.answers.results import FoundMemory, Shared

_FIELDS = ("path", "title", "context", "date", "kind", "lang", "badges")
# A shorter folder costs more than it saves.
_SHORTEST_FOLDER = 8


def apart(hits: Sequence[FoundMemory]) -> tuple[Shared | None, list[FoundMemory]]:
    """Return what several hits have in common, None if there is nothing, and the hits without it."""
    if len(hits) < 2:
        return None, list(hits)
    values = [vars(hit) for hit in hits]
    common = {name: values[0][name] for name in _FIELDS if values[0][name] is not None}
    common = {name: value for name, value in common.items() if all(one[name] == value for one in values)}
    without = dict.fromkeys(common)
    rest = [hit.model_copy(update=without) for hit in hits]
    if folder := _folder([hit.path for hit in rest if hit.path is not None]):
        common["folder"] = folder
        rest = [hit if hit.path is None else hit.model_copy(update={"path": hit.path[len(folder) :]}) for hit in rest]
    return Shared.model_validate(common) if common else None, rest


def _folder(paths: Sequence[str]) -> str:
    """Return the folder that several paths begin with, up to its last separator; empty if it is short.

    >>> _folder(["/projects/week/a.ipynb", "/projects/notes.md"]), _folder(["/a.md", "/b.md"])
    ('/projects/', '')
    """
    if len(paths) < 2:
        return ""
    first, last = min(paths), max(paths)
    pairs = enumerate(zip(first, last, strict=False))
    same = next((place for place, (one, other) in pairs if one != other), len(first))
    folder = first[: max(first.rfind("/", 0, same), first.rfind("\\", 0, same)) + 1]
    # A path that reads like instructions stands within borders, which are not to be taken apart.
    return "" if len(folder) < _SHORTEST_FOLDER or folder.startswith("<stored-") else folder
