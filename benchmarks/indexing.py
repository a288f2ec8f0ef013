"""How many chunks a second go into a store on disk, with the static model, and where the time goes.

    python benchmarks/indexing.py [--texts 10000] [--rounds 3] [--data FOLDER] [--work FOLDER]

The same texts four times: plainly, as rows of a table with an FTS5 index over them and nothing else (the baseline);
through `MemoryStore.add_many`; and, written out as notebooks of 20 cells and as Python files, through
`MemoryStore.index`, as it is (with worker processes if it is worth it, whose stages are not seen here) and on one core,
which it does alone. All write to disk in batches, each safe from a power cut. They take turns, round by round; the
numbers are medians of the rounds.

The stages are those of this process, by the file of ours that runs when a clock strikes, 500 times a second: read
(files taken apart), redact (secrets looked for), chunk (tokens counted, long texts cut), embed (tokens to vectors),
write (memories, words and vectors into the file), workers (waited for), other.
"""

from __future__ import annotations

import os
import signal
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import apsw
import nbformat
from corpus import Text, add_options, read_corpus
from measure import ROOT, parser_of, table

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import StaticEmbedder

BATCH = 512
CELLS = 20
TICK = 0.002
# The stage of a file is that of the first of these that its path below the package begins with.
STAGES = {
    "ingest/redaction": "redact",
    "ingest/chunking": "chunk",
    "ingest/workers": "workers",
    "ingest/read": "read",
    "embedders/tokenizer": "chunk",
    "embedders": "embed",
    "storage": "write",
}
COLUMNS = ("read", "redact", "chunk", "embed", "write", "workers", "other")


@contextmanager
def stages() -> Iterator[dict[str, float]]:
    """Yield the seconds by stage of what runs meanwhile in the main thread."""
    seconds: dict[str, float] = defaultdict(float)
    package = f"{ROOT / 'jupyter_memory'}{os.sep}"
    last = time.perf_counter()

    def strike(_: int, frame: FrameType | None) -> None:
        nonlocal last
        stage = None
        while frame is not None and stage is None:
            path = frame.f_code.co_filename
            if path.startswith(package):
                place = path.removeprefix(package)
                stage = next((found for start, found in STAGES.items() if place.startswith(start)), None)
            frame = frame.f_back
        now = time.perf_counter()
        seconds[stage or "other"] += now - last
        last = now

    before = signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
    try:
        yield seconds
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def plain(path: Path, texts: list[Text]) -> int:
    """Write the texts into a table with a full-text index: the least that any search by words needs."""
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    connection.execute(
        """
        create table texts (id integer primary key, title text, text text);
        create virtual table words using fts5(
            title, text, content = 'texts', content_rowid = 'id', tokenize = 'porter unicode61'
        );
        """
    )
    for start in range(0, len(texts), BATCH):
        with connection:
            rows = [(start + i, text.title, text.text) for i, text in enumerate(texts[start : start + BATCH], start=1)]
            connection.executemany("insert into texts values (?, ?, ?)", rows)
            connection.executemany("insert into words (rowid, title, text) values (?, ?, ?)", rows)
    connection.close()
    return len(texts)


def stored(path: Path, fill: Callable[[MemoryStore], object]) -> int:
    """Fill a store with the static model, and return how many chunks it has."""
    with MemoryStore(path, embedder=StaticEmbedder()) as store:
        fill(store)
        return int(store.stats()["chunks"])


def on_one_core(path: Path, folder: Path) -> int:
    """Index a folder with one core, which workers are not worth."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        return stored(path, lambda store: store.index(folder, progress=False))
    finally:
        os.sched_setaffinity(0, cores)


def write_folder(folder: Path, texts: list[Text]) -> None:
    """Write half of the texts as cells of notebooks, a heading before each, and half as Python files of as many."""
    folder.mkdir()
    for number, start in enumerate(range(0, len(texts), CELLS)):
        part = texts[start : start + CELLS]
        if number % 2:
            source = "\n\n\n".join(text.text for text in part)
            (folder / f"module_{number}.py").write_text(source, encoding="utf-8")
            continue
        cells = []
        for text in part:
            cells.append(nbformat.v4.new_markdown_cell(f"## {text.title}"))
            cells.append(nbformat.v4.new_code_cell(text.text))
        nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"notebook_{number}.ipynb")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    add_options(parser)
    options = parser.parse_args()
    corpus = read_corpus(options, options.texts)
    StaticEmbedder().embed_query("the model is loaded before the clock starts")
    rates: dict[str, list[float]] = defaultdict(list)
    spent: dict[tuple[str, str], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(dir=options.work) as scratch:
        folder = Path(scratch) / "folder"
        write_folder(folder, corpus.texts)
        runs: dict[str, Callable[[Path], int]] = {
            "plain": lambda path: plain(path, corpus.texts),
            "add_many": lambda path: stored(path, lambda store: store.add_many(corpus.records, progress=False)),
            "index": lambda path: stored(path, lambda store: store.index(folder, progress=False)),
        }
        if hasattr(os, "sched_setaffinity"):
            runs["one core"] = lambda path: on_one_core(path, folder)
        for number in range(options.rounds):
            for name, run in runs.items():
                with stages() as seconds:
                    begun = time.perf_counter()
                    chunks = run(Path(scratch) / f"{name}-{number}.sqlite")
                    rates[name].append(chunks / (time.perf_counter() - begun))
                for stage in COLUMNS:
                    spent[name, stage].append(seconds[stage] / chunks * 1e6)
    characters = statistics.mean(len(text.text) for text in corpus.texts)
    print(f"texts of {characters:.0f} characters on average; microseconds a chunk by stage")
    base = statistics.median(rates["plain"])
    rows = [("", "chunks/s", "to plain", *COLUMNS)]
    for name, found in rates.items():
        rate = statistics.median(found)
        columns = (f"{statistics.median(spent[name, stage]):.0f}" for stage in COLUMNS)
        rows.append((name, f"{rate:,.0f}", f"{rate / base:.2f}x", *columns))
    table(rows)


if __name__ == "__main__":
    main()
