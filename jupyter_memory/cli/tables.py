"""Hits as plain text for a terminal."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from jupyter_memory.text.dates import age
from jupyter_memory.text.display import Entry, Paint, columns, fit, fit_end, listing, percent, unpainted, width
from jupyter_memory.text.identifiers import without_file
from jupyter_memory.text.paths import is_at_or_below
from jupyter_memory.types import Answer, Hit

_DOT = " · "
_INDENT = 4


def results(answer: Answer, cells: int, paint: Paint = unpainted) -> str:
    """Return the hits of a search in lines of at most so many cells; ``paint`` colours a text."""
    now = datetime.now(UTC)
    return listing([_entry(hit, cells, now) for hit in answer.hits], cells, paint)


def table(answer: Answer, cells: int) -> str:
    """Return memories, one per line: id, day, kind, tier, title."""
    rows = [(hit.memory.id, _day(hit), hit.memory.kind, hit.memory.tier, hit.title) for hit in answer.hits]
    return "\n".join(fit_line(line, cells) for line in columns(rows).splitlines())


def scan(answer: Answer, cells: int) -> str:
    """Return hits, one per line: rank, id, strength, the length of the text in tokens, title."""
    rows = [
        (
            f"{hit.rank:>2}",
            hit.memory.id,
            f"{percent(hit.strength) or format(hit.score, '.4f'):>4}",
            f"{hit.memory.token_estimate} tokens",
            hit.title,
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


def _entry(hit: Hit, cells: int, now: datetime) -> Entry:
    memory = hit.memory
    snippet, marks = hit.plain_snippet()
    facts = (percent(hit.strength), age(memory.event_at, now))
    title = without_file(hit.title, memory.source)
    return Entry(str(hit.rank), title, snippet, marks, hit.badges, facts, _about(hit, cells))


def _about(hit: Hit, cells: int) -> str:
    """Return what identifies a hit: id, day, path with its place, tags."""
    memory, room = hit.memory, cells - _INDENT
    about = [memory.id, _day(hit), *([fit(", ".join(memory.tags), cells // 3)] if memory.tags else [])]
    if hit.freshness in ("changed", "gone"):
        about.append(f"file {hit.freshness}")
    if memory.source:
        left = room - sum(width(part) + len(_DOT) for part in about)
        about.insert(2, fit_end(_short(memory.source) + (f":{hit.location}" if hit.location else ""), left))
    return _DOT.join(about)


def _day(hit: Hit) -> str:
    """Return the local day on which it happened."""
    return hit.memory.event_at.astimezone().date().isoformat()


def _short(path: str) -> str:
    home = str(Path("~").expanduser())
    return "~" + path[len(home) :] if path != home and is_at_or_below(path, home) else path
