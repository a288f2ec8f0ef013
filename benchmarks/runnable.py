"""Whether inserted cells run: python benchmarks/runnable.py [--cells 60] [--notebooks FOLDER…] [--show]

Notebooks that run whole here are indexed: the samples, those that benchmarks/errors generates, and any of FOLDER. Of
their cells, some are drawn by a fixed seed. Each runs in a fresh shell: alone, as `store.runnable` gives it, and with
the cells that write files, use the network or run commands (`effects=True`).
"""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

os.environ["JUPYTER_CONFIG_DIR"] = os.environ["IPYTHONDIR"] = tempfile.mkdtemp()
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}

import nbformat
import pandas  # noqa: F401  loaded once, before the processes of the shells are forked
from IPython.core.interactiveshell import InteractiveShell
from measure import ROOT, parser_of, table

from jupyter_memory import MemoryStore

SEED, SECONDS = 37, 60


def error_of(job: tuple[Path, Sequence[str]]) -> str:
    """Return the error that ends these cells in a fresh shell in a copy of a folder; nothing if they run."""
    folder, cells = job
    os.chdir(shutil.copytree(folder, Path(tempfile.mkdtemp()) / folder.name))
    sys.path[:] = ["", *(entry for entry in sys.path if entry not in ("", str(ROOT / "benchmarks")))]
    signal.alarm(SECONDS)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        shell = InteractiveShell.instance()
        for cell in cells:
            result = shell.run_cell(cell, store_history=True)
            if error := result.error_before_exec or result.error_in_exec:
                return f"{type(error).__name__}: {error}"
    return ""


def errors_of(jobs: Iterable[tuple[Path, Sequence[str]]]) -> list[str]:
    """Return what ``error_of`` does for each, each in a process of its own; a process that dies is an error too."""
    found = []
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        waiting = [pool.apply_async(error_of, (job,)) for job in jobs]
        for one in waiting:
            try:
                found.append(one.get(SECONDS + 30))
            except multiprocessing.TimeoutError:
                found.append("TimeoutError")
    return found


def generated(folder: Path) -> None:
    """Write the notebooks of ordinary work that benchmarks/errors makes, without the cells that are meant to fail."""
    sys.path.insert(0, str(ROOT / "benchmarks" / "errors"))
    import build

    for number, one in enumerate(build.other_notebooks()):
        cells = [nbformat.v4.new_code_cell(cell.source) for cell in one.cells if not cell.error]
        place = folder / f"{number:03}" / f"{one.name}.ipynb"
        place.parent.mkdir(parents=True)
        nbformat.write(nbformat.v4.new_notebook(cells=cells), place)


def code_of(path: Path) -> list[str]:
    cells = json.loads(path.read_text(encoding="utf-8")).get("cells", ())
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def drawn(store: MemoryStore, running: Sequence[Path], count: int) -> Iterator[tuple[Path, str, str]]:
    """Yield notebooks, ids and sources of cells, no more than two of a notebook."""
    random, texts = Random(SEED), set[str]()
    some = [path for path in running for _ in range(2)]
    random.shuffle(some)
    for path in some:
        hits = store.browsed(limit=200, filters={"kind": "cell", "path": str(path)}).hits
        cells = [hit.memory for hit in hits if hit.memory.metadata.get("cell_type") == "code"]
        fresh = sorted((one.id, one.text) for one in cells if one.text not in texts)
        if fresh and count:
            memory_id, text = random.choice(sorted(fresh, key=lambda one: one[1]))
            texts.add(text)
            count -= 1
            yield path, memory_id, text.split("\n\nOut:\n", 1)[0]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--cells", type=int, default=60)
    parser.add_argument("--most", type=int, default=1_000, help="notebooks that are tried")
    parser.add_argument("--notebooks", type=Path, nargs="*", default=[])
    parser.add_argument("--show", action="store_true", help="print what does not run, with its error")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        base = Path(work) / "notebooks"
        for folder in (ROOT / "notebooks" / "samples", *options.notebooks):
            shutil.copytree(folder, base / folder.name)
        generated(base / "generated")
        tried = Random(SEED).sample(sorted(base.rglob("*.ipynb")), k=len(list(base.rglob("*.ipynb"))))[: options.most]
        ran = errors_of((path.parent, code_of(path)) for path in tried)
        running = [path for path, error in zip(tried, ran, strict=True) if not error]
        print(f"{len(running)} of {len(tried)} notebooks run whole here")
        with MemoryStore(Path(work) / "memory.sqlite", embedder=None) as store:
            for path in running:
                store.index(path, progress=False)
            cells = list(drawn(store, running, options.cells))
            sides = {
                "alone": [source for _, _, source in cells],
                "runnable": [store.runnable(id_).text for _, id_, _ in cells],
                "effects": [store.runnable(id_, effects=True).text for _, id_, _ in cells],
            }
        whole = [sum(map(len, code_of(path))) for path, _, _ in cells]
        rows = [("", "cells", "run", "share", "of the notebook's text")]
        for name, texts in sides.items():
            told = errors_of((path.parent, [text]) for (path, _, _), text in zip(cells, texts, strict=True))
            good = told.count("")
            share = sum(map(len, texts)) / max(1, sum(whole))
            rows.append((name, str(len(told)), str(good), f"{good / max(1, len(told)):.0%}", f"{share:.0%}"))
            for (path, _, _), text, error in zip(cells, texts, told, strict=True):
                if error and options.show and name != "alone":
                    print(f"--- {name}: {path.name}: {error}\n{text}\n")
        table(rows)


if __name__ == "__main__":
    main()
