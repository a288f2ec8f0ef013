"""How fast memories are stored, against SQLite alone, and where the time goes.

    python benchmarks/indexing.py [--texts 20000] [--notebooks 100] [--data FOLDER] [--work FOLDER]

- plain    the baseline: the same texts into a table and an FTS5 index, 500 a transaction, no vectors, same durability
- add_many `MemoryStore.add_many` into a new file with the bundled static model
- index    `MemoryStore.index` of a folder of notebooks made of the same texts, one a cell

All write to a file on disk with a write-ahead log and a full sync at each commit. The stages are those of the last run,
measured by wrapping the functions that do the work.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import nbformat
from corpus import Corpus, add_options, read_corpus

from jupyter_memory import MemoryStore, filing, prepare
from jupyter_memory.ingest import indexer
from jupyter_memory.storage.library import Library

STAGES: tuple[tuple[str, Any, str], ...] = (
    ("read, redact", indexer, "read_file"),
    ("chunk", prepare, "with_chunks"),
    ("chunk, embed", filing, "prepare"),
    ("write", Library, "replace_files"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--notebooks", type=int, default=100)
    add_options(parser)
    options = parser.parse_args()
    corpus = read_corpus(options.texts, 0, options.data, options.work)
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        write_notebooks(corpus, folder / "notebooks", options.notebooks)
        warm_up(folder / "warm.sqlite")
        rates = {"plain": plain(corpus, folder / "plain.sqlite"), "add_many": add_many(corpus, folder / "many.sqlite")}
        with stages() as spent:
            rates["index"] = index(folder / "notebooks", folder / "index.sqlite")
    print(f"{len(corpus.texts):,} texts of {sum(len(t.text) for t in corpus.texts) / len(corpus.texts):.0f} characters")
    print("           chunks/s  of plain")
    for name, rate in rates.items():
        print(f"{name:<9} {rate:>9,.0f}  {rate / rates['plain']:>8.2f}")
    total = spent.pop("all")
    print("\nindex, share of its time")
    for name, seconds in spent.items():
        print(f"  {name:<13} {seconds / total:>5.0%}")


def plain(corpus: Corpus, path: Path) -> float:
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    connection.execute("create table texts (id integer primary key, title text, text text)")
    connection.execute("create virtual table words using fts5(title, text, tokenize='porter unicode61')")
    begun = time.perf_counter()
    rows = [(number, text.title, text.text) for number, text in enumerate(corpus.texts, start=1)]
    for start in range(0, len(rows), 500):
        with connection:
            connection.executemany("insert into texts values (?, ?, ?)", rows[start : start + 500])
            connection.executemany("insert into words (rowid, title, text) values (?, ?, ?)", rows[start : start + 500])
    return len(rows) / (time.perf_counter() - begun)


def add_many(corpus: Corpus, path: Path) -> float:
    return rate(path, lambda store: store.add_many(corpus.records, progress=False))


def index(folder: Path, path: Path) -> float:
    return rate(path, lambda store: store.index(folder, progress=False))


def rate(path: Path, fill: Callable[[MemoryStore], object]) -> float:
    with MemoryStore(path) as store:
        begun = time.perf_counter()
        fill(store)
        return float(store.stats()["chunks"] / (time.perf_counter() - begun))


def write_notebooks(corpus: Corpus, folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        cells = [nbformat.v4.new_code_cell(text.text) for text in corpus.texts[number::count]]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"{number:03}.ipynb")


def warm_up(path: Path) -> None:
    """Load the model before the clock runs: its share of a first run says nothing about a rate."""
    with MemoryStore(path) as store:
        store.add("prices are net of tax")
        store.search("prices")


@contextmanager
def stages() -> Iterator[dict[str, float]]:
    """Add up the seconds that each stage takes."""
    spent: dict[str, float] = defaultdict(float)
    kept = [(owner, name, getattr(owner, name)) for _, owner, name in STAGES]
    for label, owner, name in STAGES:
        setattr(owner, name, timed(getattr(owner, name), label, spent))
    begun = time.perf_counter()
    try:
        yield spent
    finally:
        spent["all"] = time.perf_counter() - begun
        spent["embed"] = spent.pop("chunk, embed") - spent["chunk"]
        for owner, name, function in kept:
            setattr(owner, name, function)


def timed(function: Callable[..., Any], label: str, spent: dict[str, float]) -> Callable[..., Any]:
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        begun = time.perf_counter()
        try:
            return function(*arguments, **keywords)
        finally:
            spent[label] += time.perf_counter() - begun

    return wrapper


if __name__ == "__main__":
    main()
