"""Cells like the one that is being written: how often the panel has a line, how often it is right, how long it takes.

    python benchmarks/related.py [NOTEBOOKS] [--judged FOLDER] [--chunks 10000] [--questions 200] [--work FOLDER]

Precision: each cell of NOTEBOOKS with 30 characters or more is compared with all others, as the panel would if its own
notebook were allowed; cells under the same heading of the same notebook count as right. The weights were fitted on
every other notebook, in the order of their names; the figures are given for both halves. The ways to rank are compared
by precision@3 with three cells shown whatever they are like. A heading is never part of what is asked.

Silence: what share of the cells get a line if their own notebook is left out, as in the panel; and of the texts of
other judged sets in --judged, which have nothing to do with these notebooks.

Time: a store of so many chunks, all cells of notebooks, is asked for what is like texts that it does not hold, once
through `MemoryStore.related_to` and once through the REST route of a Jupyter server. A search for the first line of a
text is the baseline. The target is 60 ms at p95. Without NOTEBOOKS, only this is measured.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from corpus import WORK
from related_times import times

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import StaticEmbedder, checked
from jupyter_memory.search import parse
from jupyter_memory.search.confidence.likeness import likenesses, only_alike
from jupyter_memory.search.confidence.strength import strengths
from jupyter_memory.search.fusion import Ranked
from jupyter_memory.search.pipeline import Result, search
from jupyter_memory.search.profiles import alike
from jupyter_memory.search.query.more_like_this import of_text
from jupyter_memory.search.retrieval import vector_query
from jupyter_memory.search.sample import Samples
from jupyter_memory.text import STOP_WORDS
from jupyter_memory.types import Filters, Memory

SHOWN = 3
_SHORTEST, _SIBLINGS = 30, 3
_POOL = 20
_HEADING = re.compile(r"^(#{1,6})\s+(.*)", re.MULTILINE)

Section = tuple[str, tuple[str, ...]]
Score = Callable[[Ranked], float]


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook: where it is, and the section that it stands in."""

    notebook: str
    location: str
    text: str
    section: Section
    is_heading: bool


@dataclass(frozen=True)
class Found:
    """What was found for a cell: by each way to rank whether the first are right, and what the line would show."""

    first: dict[str, list[bool]]
    line: list[bool]


def cells_of(folder: Path) -> Iterator[Cell]:
    """Yield the cells of all notebooks of a folder."""
    for path in sorted(folder.glob("*.ipynb")):
        headings: list[str] = []
        for place, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            text = "".join(cell["source"])
            found = list(_HEADING.finditer(text)) if cell["cell_type"] == "markdown" else []
            for heading in found:
                depth = len(heading[1])
                headings = [*headings[: depth - 1], *[""] * (depth - 1 - len(headings)), heading[2]]
            section = path.name, tuple(headings)
            yield Cell(path.name, cell.get("id") or f"#{place}", text, section, bool(found))


class Notebooks:
    """A store of the notebooks of a folder, and the section of each of its memories."""

    def __init__(self, folder: Path, path: Path) -> None:
        self.cells = list(cells_of(folder))
        self._sections = {(cell.notebook, cell.location): cell.section for cell in self.cells}
        self._embedder, self._samples = StaticEmbedder(), Samples()
        self.store = MemoryStore(path, embedder=self._embedder)
        self.store.index(folder, progress=False)
        self._storage = self.store._storage
        hits = self.store.browsed(limit=len(self.cells)).hits
        self._memories = {_place(hit.memory): hit.memory for hit in hits}

    def asked(self) -> list[Cell]:
        """Return the cells that are asked for: long enough, no heading, and with enough others in their sections."""
        sizes = Counter(self._sections.values())
        return [
            cell
            for cell in self.cells
            if (cell.notebook, cell.location) in self._memories
            and len(cell.text.strip()) >= _SHORTEST
            and not cell.is_heading
            and sizes[cell.section] > _SIBLINGS
        ]

    def like(self, cell: Cell) -> Found:
        """Return what is found for a cell if it alone is left out."""
        memory = self._memories[cell.notebook, cell.location]
        base = parse("*", now=datetime.now(UTC), limit=_POOL)
        vector = checked.document(self._embedder, cell.text)
        with self._storage.searching(alike.columns, STOP_WORDS), self._storage.snapshot() as snapshot:
            about = of_text(snapshot, cell.text, base, vector)
            asked = vector_query(snapshot, vector, self._embedder, self._embedder.threshold)
            key = snapshot.key_of(memory.id)
            result = search(about.query, alike, snapshot, self._samples, asked, exclude=key)
            first = {
                name: self._right(cell, sorted(result.ranked, key=way, reverse=True))
                for name, way in ways(result).items()
            }
            return Found(first, self._right(cell, only_alike(result).ranked))

    def elsewhere(self, text: str, notebook: str = "") -> bool:
        """Return whether the panel would have a line for a text, its own notebook left out."""
        sources = {one.source for place, one in self._memories.items() if place[0] == notebook}
        return bool(self.store.related_to(text, filters=Filters(not_path=tuple(sources))).hits)

    def _right(self, cell: Cell, ranked: Sequence[Ranked]) -> list[bool]:
        return [self._sections[_place(one.candidate.memory)] == cell.section for one in ranked[:SHOWN]]


def _place(memory: Memory) -> tuple[str, str]:
    return Path(memory.source).name, memory.location


def ways(result: Result) -> dict[str, Score]:
    """Return the ways to rank, each as the score of a candidate."""
    keys = [one.candidate.key for one in result.ranked]
    believed = dict(zip(keys, strengths(result.scored.context, result.ranked), strict=True))
    likely = dict(zip(keys, (one.value for one in likenesses(result.ranked)), strict=True))
    rankings = result.scored.rankings
    return {
        "vector alone": lambda one: -1.0 if one.candidate.cosine is None else one.candidate.cosine,
        "MaxSim": lambda one: rankings["max_sim"].scores.get(one.candidate.key, -1.0),
        "keyword": lambda one: rankings["keyword"].scores.get(one.candidate.key, -1.0),
        "strength": lambda one: believed[one.candidate.key],
        "fused": lambda one: one.score,
        "likeness": lambda one: likely[one.candidate.key],
    }


def report(found: Sequence[Found], half: str) -> None:
    """Print how right each way to rank is, and how right and how frequent the line."""
    print(f"\n{half}: {len(found):,} cells")
    for name in found[0].first:
        print(f"  precision@{SHOWN} {name:13} {np.mean([sum(one.first[name]) / SHOWN for one in found]):.3f}")
    lines = [one.line for one in found if one.line]
    right = np.mean([right for line in lines for right in line])
    print(
        f"  the line: for {len(lines) / len(found):.0%} of the cells, {np.mean([*map(len, lines)]):.1f} each, ", end=""
    )
    print(f"precision@{SHOWN} {right:.3f}")


def quality(folder: Path, judged: Path | None, count: int) -> None:
    """Print how right the line is, and how silent."""
    with tempfile.TemporaryDirectory() as scratch:
        notebooks = Notebooks(folder, Path(scratch, "memory.sqlite"))
        cells = notebooks.asked()
        fitted = set(sorted({cell.notebook for cell in cells})[::2])
        report([notebooks.like(cell) for cell in cells if cell.notebook in fitted], "fitted on")
        report([notebooks.like(cell) for cell in cells if cell.notebook not in fitted], "held out")
        silence(notebooks, cells, judged, count)
        notebooks.store.close()


def silence(notebooks: Notebooks, cells: Sequence[Cell], judged: Path | None, count: int) -> None:
    """Print how often there is a line for cells if their own notebook is left out, and for other texts."""
    print("\nA line is shown, with the cell's own notebook left out, for")
    asked = random.Random(1).sample(cells, min(count, len(cells)))
    print(f"  {np.mean([notebooks.elsewhere(cell.text, cell.notebook) for cell in asked]):5.1%} of these cells")
    for path in sorted(judged.glob("*/corpus.jsonl")) if judged else []:
        texts = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
        texts = [text for text in texts if len(text) >= _SHORTEST]
        share = np.mean([notebooks.elsewhere(text) for text in random.Random(1).sample(texts, min(count, len(texts)))])
        print(f"  {share:5.1%} of the texts of {path.parent.name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", type=Path, nargs="?")
    parser.add_argument("--judged", type=Path, help="a folder of judged sets about something else")
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--work", type=Path, default=WORK, help="where the corpus is kept (%(default)s)")
    options = parser.parse_args()
    if options.notebooks:
        quality(options.notebooks, options.judged, options.questions)
    times(options.chunks, options.questions, options.work)


if __name__ == "__main__":
    main()
