"""Cells like the one that is being written: how often the panel has a line, how often it is right, how long it takes.

    python benchmarks/related.py [NOTEBOOKS] [--judged FOLDER] [--chunks 10000] [--questions 200] [--work FOLDER]

Precision: each cell of NOTEBOOKS with 30 characters or more is compared with all others, as the panel would if its own
notebook were allowed; cells under the same heading of the same notebook count as right. The weights were fitted on
every other notebook, in the order of their names; the figures are given for both halves. The baseline is the vector
retriever alone, with three cells shown whatever they are like. A heading is never part of what is asked.

Silence: what share of the cells get a line if their own notebook is left out, as in the panel; and of the texts of
other judged sets in --judged, which have nothing to do with these notebooks.

Time: a store of so many chunks, all cells of notebooks, is asked for what is like texts that it does not hold, through
`MemoryStore.related_to` and through the REST route of a Jupyter server. A search for the first line of a text is the
baseline. The target is 60 ms at p95. Without NOTEBOOKS, only this is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import tempfile
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import numpy as np
from corpus import add_options, read_corpus
from measure import TOKEN, compare, parser_of, served, table, turns

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.evaluation import arms
from jupyter_memory.types import Answer, Filters

SHOWN = 3
SHORTEST, SIBLINGS = 30, 3
CELLS = 50  # in each notebook of the store that is timed
HEADING = re.compile(r"^(#{1,6})\s+(.*)", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook: where it is, and the section that it stands in."""

    notebook: str
    location: str
    text: str
    section: tuple[str, ...]
    is_heading: bool


def cells_of(folder: Path) -> Iterator[Cell]:
    """Yield the cells of all notebooks of a folder."""
    for path in sorted(folder.glob("*.ipynb")):
        headings: list[str] = []
        for place, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            text = "".join(cell["source"])
            found = list(HEADING.finditer(text)) if cell["cell_type"] == "markdown" else []
            for heading in found:
                depth = len(heading[1])
                headings = [*headings[: depth - 1], *[""] * (depth - 1 - len(headings)), heading[2]]
            yield Cell(path.name, cell.get("id") or f"#{place}", text, (path.name, *headings), bool(found))


def quality(folder: Path, judged: Path | None, count: int) -> None:
    """Print how right the line is, and how silent."""
    cells = list(cells_of(folder))
    sections = {(cell.notebook, cell.location): cell.section for cell in cells}
    sizes = Counter(sections.values())
    with tempfile.TemporaryDirectory() as scratch, MemoryStore(f"{scratch}/m.sqlite", StaticEmbedder()) as store:
        store.index(folder, progress=False)
        memories = [hit.memory for hit in store.browsed(limit=10**9).hits]
        places = {one.id: (Path(one.source).name, one.location) for one in memories}
        sources = {Path(one.source).name: one.source for one in memories}
        known = set(places.values())
        asked = [
            cell
            for cell in cells
            if (cell.notebook, cell.location) in known
            and len(cell.text.strip()) >= SHORTEST
            and not cell.is_heading
            and sizes[cell.section] > SIBLINGS
        ]

        def right(cell: Cell, answer: Answer) -> list[bool]:
            found = [places[hit.memory.id] for hit in answer.hits]
            others = [place for place in found if place != (cell.notebook, cell.location)]
            return [sections.get(place) == cell.section for place in others[:SHOWN]]

        rows = [("", "cells", "with a line", f"precision@{SHOWN} of the line", "of the vector retriever")]
        fitted = set(sorted({cell.notebook for cell in asked})[::2])
        vector = arms(["vector"])["vector"]
        for name, half in (("fitted on", True), ("held out", False)):
            some = [cell for cell in asked if (cell.notebook in fitted) == half]
            lines = [right(cell, store.related_to(cell.text, limit=SHOWN + 1)) for cell in some]
            nearest = [right(cell, store.hits(cell.text, limit=SHOWN + 1, profile=vector, time=False)) for cell in some]
            shares = [
                f"{np.mean([one for line in lines for one in line] or 0):.3f}",
                f"{sum(map(sum, nearest)) / (SHOWN * max(1, len(some))):.3f}",
            ]
            rows.append((name, len(some), f"{np.mean([bool(line) for line in lines] or 0):.0%}", *shares))
        table(rows)

        drawn = random.Random(1).sample(asked, min(count, len(asked)))
        elsewhere = [store.related_to(one.text, filters=Filters(not_path=(sources[one.notebook],))) for one in drawn]
        rows = [("a line, with the own notebook left out, for", ""), ("these cells", share_of(elsewhere))]
        for path in sorted(judged.glob("*/corpus.jsonl")) if judged else []:
            texts = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
            texts = [text for text in texts if len(text) >= SHORTEST]
            drawn_texts = random.Random(1).sample(texts, min(count, len(texts)))
            rows.append((path.parent.name, share_of([store.related_to(text) for text in drawn_texts])))
        table(rows)


def share_of(answers: list[Answer]) -> str:
    """Return the share of answers that have hits."""
    return f"{np.mean([bool(answer.hits) for answer in answers]):.1%}"


def times(options: argparse.Namespace) -> None:
    """Print how long a text takes, in Python and through a server."""
    corpus = read_corpus(options, options.chunks + options.questions)
    texts = [text.text for text in corpus.texts]
    chunks, asked = texts[: options.chunks], texts[options.chunks :]
    with tempfile.TemporaryDirectory() as folder:
        home, root = Path(folder), Path(folder, "root")
        root.mkdir()
        for first in range(0, len(chunks), CELLS):
            cells = [nbformat.v4.new_code_cell(text) for text in chunks[first : first + CELLS]]
            nbformat.write(nbformat.v4.new_notebook(cells=cells), root / f"{first:06}.ipynb")
        path = home / "memory.sqlite"
        with MemoryStore(path, embedder=StaticEmbedder()) as store:
            store.index(root, progress=False)
            held = store.stats()["chunks"]
            elsewhere = Filters(kind=("cell",), not_path=(str(root / "000000.ipynb"),))
            with served(root, path, home) as address:

                def post(text: str) -> None:
                    body = json.dumps({"text": text, "path": "000000.ipynb"}).encode()
                    headers = {"Authorization": f"token {TOKEN}"}
                    request = urllib.request.Request(f"{address}/jupyter-memory/related-to", body, headers)
                    with urllib.request.urlopen(request) as answer:
                        json.load(answer)

                sides = {
                    "hits": lambda text: store.hits(text.splitlines()[0], filters=elsewhere),
                    "related_to": lambda text: store.related_to(text, filters=elsewhere),
                    "POST related-to": post,
                }
                spent = turns(sides, asked)
    print(f"{held:,} chunks, {len(asked)} texts, {os.cpu_count()} CPUs")
    compare(spent, "hits")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("notebooks", type=Path, nargs="?")
    parser.add_argument("--judged", type=Path, help="a folder of judged sets about something else")
    add_options(parser, chunks=10_000, questions=200)
    options = parser.parse_args()
    if options.notebooks:
        quality(options.notebooks, options.judged, options.questions)
    times(options)


if __name__ == "__main__":
    main()
