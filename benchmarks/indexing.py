"""How many chunks a second go into a store on disk, with the static model, and where the time goes.

    python benchmarks/indexing.py [--texts 10000] [--rounds 3] [--data FOLDER] [--work FOLDER]

The same texts three times: plainly, as rows of a table with an FTS5 index over them and nothing else (the baseline);
through `MemoryStore.add_many`; and, written out as notebooks of 20 cells and as Python files, through
`MemoryStore.index`, as it is (with worker processes, whose stages are not seen here: what is waited for them is
"other") and alone, on one core and so without them. All write to disk in batches, each safe from a power cut. The
stages are: read (files taken apart), redact (secrets looked for), chunk (tokens counted, long texts cut), embed (tokens
to vectors), write (memories, words and vectors into the file), other; a thread samples which one the main thread is in.
They take turns, round by round; the numbers are medians of the rounds.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import apsw
import nbformat
import numpy as np
from corpus import Text, add_options, read_corpus
from measure import parser_of, table, turns

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import StaticEmbedder

BATCH = 512
CELLS = 20
# Where the code of each stage is, in the order in which they are looked for.
PLACES = {
    "redact": ("ingest/redaction",),
    "read": ("ingest/read",),
    "chunk": ("ingest/preparation", "text/outlines", "embedders/base"),
    "embed": ("embedders/",),
    "write": ("storage/",),
}
STAGES = ("read", "redact", "chunk", "embed", "write", "other")


@contextmanager
def sampled() -> Iterator[Counter[str]]:
    """Look every half millisecond at what this thread is doing, and count the samples of each stage."""
    samples: Counter[str] = Counter()
    done, here = threading.Event(), threading.get_ident()

    def watch() -> None:
        while not done.wait(0.0005):
            samples[stage_of(sys._current_frames().get(here))] += 1

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join()


def stage_of(frame: FrameType | None) -> str:
    """Return the stage of the innermost frame that belongs to one."""
    while frame is not None:
        room, _, path = frame.f_code.co_filename.rpartition("/jupyter_memory/")
        for stage, places in PLACES.items():
            if room and path.startswith(places):
                return stage
        frame = frame.f_back
    return "other"


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


def ours(path: Path, write: Callable[[MemoryStore], object]) -> int:
    """Let a new store be written to, and return how many chunks it holds."""
    with MemoryStore(path, embedder=StaticEmbedder()) as store:
        write(store)
        return int(store.stats()["chunks"])


def index(store: MemoryStore, folder: Path) -> None:
    """Index a folder; no file may fail."""
    report = store.index(folder, progress=False)
    assert not report.failed, report


@contextmanager
def one_core() -> Iterator[None]:
    """Let this process have one core, so that it starts no workers."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
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
    add_options(parser, texts=10_000, rounds=3)
    options = parser.parse_args()
    corpus = read_corpus(options, options.texts)
    StaticEmbedder().embed_query("the model is loaded before the clock starts")
    noted: dict[str, list[tuple[int, Counter[str]]]] = defaultdict(list)
    with tempfile.TemporaryDirectory(dir=options.work) as scratch:
        folder = Path(scratch, "folder")
        write_folder(folder, corpus.texts)

        def alone(path: Path) -> int:
            with one_core():
                return ours(path, lambda store: index(store, folder))

        ways: dict[str, Callable[[Path], int]] = {
            "plain": lambda path: plain(path, corpus.texts),
            "add_many": lambda path: ours(path, lambda store: store.add_many(corpus.records, progress=False)),
            "index": lambda path: ours(path, lambda store: index(store, folder)),
        }
        if hasattr(os, "sched_setaffinity"):  # macOS and Windows cannot be asked for this
            ways["alone"] = alone

        def run(name: str, number: int) -> None:
            with sampled() as samples:
                chunks = ways[name](Path(scratch, f"{name}-{number}.sqlite"))
            noted[name].append((chunks, samples))

        sides = {name: lambda number, name=name: run(name, number) for name in ways}
        spent = turns(sides, range(options.rounds))
    characters = np.mean([len(text.text) for text in corpus.texts])
    print(f"texts of {characters:.0f} characters; microseconds a chunk by stage")
    rows = [("", "chunks/s", "to plain", *STAGES)]
    each = {name: np.array(taken) / [chunks for chunks, _ in noted[name]] for name, taken in spent.items()}
    for name, seconds in each.items():
        shares = [[samples[stage] / max(1, samples.total()) for stage in STAGES] for _, samples in noted[name]]
        stages = np.median(np.array(shares) * seconds[:, None], axis=0) * 1e6
        median, base = np.median(seconds), np.median(each["plain"])
        rows.append((name, f"{1 / median:,.0f}", f"{base / median:.2f}x", *(f"{stage:.0f}" for stage in stages)))
    table(rows)


if __name__ == "__main__":
    main()
