"""Thirty checks of the answers over a small corpus of our own: ten categories, three checks each."""

from __future__ import annotations

import os
import shutil
import tomllib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_memory.config import JupyterMemory
from jupyter_memory.search.profiles import Profile
from jupyter_memory.store.store import MemoryStore
from jupyter_memory.text.display import columns
from jupyter_memory.types.protocols import Embedder

CORPUS = Path(__file__).parent / "bench_corpus"
# Ages are counted from here, so that a score does not change with the calendar.
NOW = datetime(2026, 6, 5, 17, 0, tzinfo=UTC)
DEPTH = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one check with one profile; ``failed`` says what did not hold, and is empty if everything did."""

    profile: str
    check: Check
    failed: str
    found: tuple[str, ...]


def bench(
    profiles: Mapping[str, Profile], embedder: str | Embedder = "static", asked: Sequence[Check] | None = None
) -> list[Outcome]:
    """Return the outcome of every check, or of those in ``asked``, for every profile, over a store with the corpus."""
    if asked is None:
        asked = [Check(**given) for given in _toml("checks.toml")["check"]]
    with TemporaryDirectory(prefix="jupyter-memory-bench-") as scratch:
        # Resolved: sources are stored without the link where the temporary folder is one.
        folder = Path(scratch).resolve() / "radhaus"
        shutil.copytree(CORPUS / "files", folder, ignore=shutil.ignore_patterns("__pycache__"))
        for name, day in _toml("dates.toml").items():
            seconds = _noon(day).timestamp()
            os.utime(folder / name, (seconds, seconds))
        notes = _toml("notes.toml")["note"]
        for note in notes:
            note["event_at"] = _noon(note.pop("date"))
        # Default settings, so that scores can be compared between machines.
        with MemoryStore(folder.parent / "bench.sqlite", embedder, settings=JupyterMemory()) as store:
            store.index(folder, progress=False)
            store.add_many(notes, progress=False)
            outcomes = []
            for label, profile in profiles.items():
                for check in asked:
                    filters = {**check.filters, "path": [str(folder / one) for one in check.filters.get("path", ())]}
                    answer = store.hits(check.query, limit=DEPTH, profile=profile, now=NOW, filters=filters)
                    memories = [hit.memory for hit in answer.hits]
                    names = dict.fromkeys(
                        Path(one.source).relative_to(folder).as_posix()
                        if Path(one.source).is_relative_to(folder)
                        else one.title
                        for one in memories
                    )
                    failed = check.judge(list(names), {one.space for one in memories})
                    outcomes.append(Outcome(label, check, failed, tuple(names)))
            return outcomes


def scores(outcomes: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    """Return how many checks held, and how many there were, by profile."""
    held: dict[str, list[bool]] = defaultdict(list)
    for one in outcomes:
        held[one.profile].append(not one.failed)
    return {profile: (sum(those), len(those)) for profile, those in held.items()}


def table(outcomes: Sequence[Outcome]) -> str:
    """Return one line per category with the checks that held, then what failed, then one line per profile."""
    profiles = list(scores(outcomes))
    rows = [("category", *profiles)]
    for category in dict.fromkeys(one.check.category for one in outcomes):
        of = [one for one in outcomes if one.check.category == category]
        counted = scores(of)
        rows.append((category, *("{}/{}".format(*counted[profile]) for profile in profiles)))
    lines = [columns(rows), ""]
    lines += [f"{one.profile}: “{one.check.query}”: {one.failed} ({one.check.why})" for one in outcomes if one.failed]
    return "\n".join([*lines, *(f"{name} {held}/{total}" for name, (held, total) in scores(outcomes).items())])


def _noon(day: date) -> datetime:
    return datetime.combine(day, time(12), UTC)


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((CORPUS / name).read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Check:
    """A query and what must hold of its answer; every claim that is given must hold.

    ``first`` is the first hit; ``among`` are all within the first ``within``; of ``above`` the one is found and the
    other not before it; ``absent`` are nowhere; ``space`` is that of every hit. ``why`` says what makes it hard.
    """

    category: str
    query: str
    why: str
    filters: Mapping[str, Any] = field(default_factory=dict)
    first: str = ""
    among: Sequence[str] = ()
    within: int = 0
    above: Sequence[str] = ()
    absent: Sequence[str] = ()
    space: str = ""

    def judge(self, names: Sequence[str], spaces: Collection[str] = ()) -> str:
        """Return what does not hold of the names found, best first; empty where all holds."""
        failing = []
        if self.first and list(names[:1]) != [self.first]:
            failing.append(f"{self.first} is not first but {_place(names, self.first)}")
        for name in self.among:
            if name not in names[: self.within]:
                failing.append(f"{name} is not among the first {self.within} but {_place(names, name)}")
        if self.above:
            upper, lower = self.above
            if upper not in names:
                failing.append(f"{upper} is not found")
            elif lower in names and names.index(lower) < names.index(upper):
                failing.append(f"{lower} is before {upper}")
        failing += [f"{name} is found" for name in self.absent if name in names]
        if self.space and (others := set(spaces) - {self.space}):
            failing.append(f"hits of the space {sorted(others)[0]!r} are found")
        return "; ".join(failing)


def _place(names: Sequence[str], name: str) -> str:
    if name not in names:
        return "not found"
    place = names.index(name) + 1
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place, "th")  # answers have ten hits
    return f"{place}{ending}"
