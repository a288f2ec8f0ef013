"""Hits as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from jupyter_memory.text.layout import columns, fit, fit_end, one_line, pad, visible, width
from jupyter_memory.text.paths import is_at_or_below
from jupyter_memory.types import Answer, Hit

_DOT = " · "


def results(answer: Answer, cells: int) -> str:
    """Return the hits of a search in lines of at most so many cells: three each, more for code."""
    return "\n\n".join("\n".join(_lines(hit, cells)) for hit in answer.hits)


def table(answer: Answer, cells: int) -> str:
    """Return memories, one per line: id, day, kind, tier, title."""
    rows = [
        (hit.memory.id, _day(hit), hit.memory.kind, hit.memory.tier, hit.title or one_line(hit.snippet))
        for hit in answer.hits
    ]
    return "\n".join(fit_line(line, cells) for line in columns(rows).splitlines())


def scan(answer: Answer, cells: int) -> str:
    """Return hits, one per line: id, score, the length of the text in tokens, title."""
    rows = [
        (
            hit.memory.id,
            f"{hit.score:.4f}",
            f"{len(hit.memory.text) // 4} tokens",
            hit.title or one_line(hit.snippet),
        )
        for hit in answer.hits
    ]
    return "\n".join(fit_line(line, cells) for line in columns(rows).splitlines())


def fit_line(line: str, cells: int) -> str:
    """Return a line of columns cut to so many cells, its inner spaces kept."""
    if width(line) <= cells:
        return line
    while width(line) > cells - 1:
        line = line[:-1]
    return line.rstrip() + "…"


def _lines(hit: Hit, cells: int) -> Iterator[str]:
    memory, indent = hit.memory, "    "
    found = f"{hit.badges}  {hit.score:.4f}"
    room = cells - len(indent) - len(found) - 2
    title = pad(fit(hit.title or hit.snippet, room), room)
    yield f"{hit.rank:>2}  {title}  {found}"
    if memory.title or "\n" in hit.snippet:
        yield from _said(hit.snippet, indent, cells)
    about = [memory.id, _day(hit), *([fit(", ".join(memory.tags), cells // 3)] if memory.tags else [])]
    if memory.source:
        room = cells - len(indent) - sum(width(part) + len(_DOT) for part in about)
        about.insert(2, fit_end(_short(memory.source) + (f":{hit.location}" if hit.location else ""), room))
    if hit.freshness in ("changed", "gone"):
        about.append(f"file {hit.freshness}")
    yield indent + _DOT.join(about)


def _said(snippet: str, indent: str, cells: int) -> Iterator[str]:
    """Return a snippet in lines of a terminal: prose in one line, code line by line."""
    if "\n" not in snippet:
        yield indent + fit(snippet, cells - len(indent))
        return
    # The sign for omitted text goes to the left of the first line, so that code keeps its shape.
    margin = indent[:-1] + "…" if snippet.startswith("…") else indent
    for line in snippet.removeprefix("…").split("\n"):
        yield fit_line(margin + visible(line.expandtabs(4)), cells)
        margin = indent


def _day(hit: Hit) -> str:
    """Return the local day on which it happened."""
    return hit.memory.event_at.astimezone().date().isoformat()


def _short(path: str) -> str:
    home = str(Path("~").expanduser())
    return "~" + path[len(home) :] if path != home and is_at_or_below(path, home) else path
