"""How many chunks a second go into a store on disk, with the static model, and where the time goes.

    python benchmarks/indexing.py [--texts 10000] [--data FOLDER] [--work FOLDER]

The same texts three times: plainly, as rows of a table with an FTS5 index over them and nothing else (the baseline);
through `MemoryStore.add_many`; and, written out as notebooks of 20 cells and as Python files, through
`MemoryStore.index`, as it is (with worker processes, whose stages are not seen here: what is waited for them is
"other") and alone, on one core and so without them. All write to disk in batches, each safe from a power cut. The
stages are: read (files taken apart), redact (secrets looked for), chunk (tokens counted, long texts cut), embed (tokens
to vectors), write (memories, words and vectors into the file), other; a thread samples which one the main thread is in.
They take turns, round by round; the numbers are medians of the rounds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import apsw
import nbformat
from corpus import Text, add_options, read_corpus

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import StaticEmbedder

_BATCH = 512
_CELLS = 20
# Where the code of each stage is, in the order in which they are looked for.
_FOLDERS = {
    "redact": ("ingest/redaction/",),
    "read": ("ingest/readers/", "ingest/reading"),
    "chunk": ("ingest/chunking", "text/outlines/", "embedders/tokenizer/"),
    "embed": ("embedders/",),
    "write": ("storage/",),
}
STAGES = ("read", "redact", "chunk", "embed", "write", "other")


class Sampler:
    """Looks every half millisecond at what the main thread is doing, and counts the samples of each stage."""

    def __init__(self) -> None:
        self.samples: Counter[str] = Counter()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, args=(threading.get_ident(),), daemon=True)

    def __enter__(self) -> Sampler:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._done.set()
        self._thread.join()

    def share(self, stage: str) -> float:
        """Return the share of the time that a stage took."""
        return self.samples[stage] / max(1, self.samples.total())

    def _watch(self, thread: int) -> None:
        while not self._done.wait(0.0005):
            self.samples[stage_of(sys._current_frames().get(thread))] += 1


def stage_of(frame: FrameType | None) -> str:
    """Return the stage of the innermost frame that belongs to one."""
    while frame is not None:
        room, _, path = frame.f_code.co_filename.partition("/jupyter_memory/")
        for stage, folders in _FOLDERS.items():
            if room and path.startswith(folders):
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
    for start in range(0, len(texts), _BATCH):
        with connection:
            rows = [(start + i, text.title, text.text) for i, text in enumerate(texts[start : start + _BATCH], start=1)]
            connection.executemany("insert into texts values (?, ?, ?)", rows)
            connection.executemany("insert into words (rowid, title, text) values (?, ?, ?)", rows)
    connection.close()
    return len(texts)


def add_many(path: Path, texts: list[Text]) -> int:
    """Remember the texts as notes."""
    with MemoryStore(path, embedder=StaticEmbedder()) as store:
        store.add_many(({"title": text.title, "text": text.text} for text in texts), progress=False)
        return int(store.stats()["chunks"])


def index(path: Path, folder: Path) -> int:
    """Index a folder."""
    with MemoryStore(path, embedder=StaticEmbedder()) as store:
        report = store.index(folder, progress=False)
        assert not report.failed, report
        return int(store.stats()["chunks"])


def alone(path: Path, folder: Path) -> int:
    """Index a folder on one core, and so without workers."""
    if not hasattr(os, "sched_setaffinity"):
        return 0  # macOS and Windows cannot be asked for this
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        return index(path, folder)
    finally:
        os.sched_setaffinity(0, cores)


def write_folder(folder: Path, texts: list[Text]) -> None:
    """Write half of the texts as cells of notebooks, a heading before each, and half as Python files of as many."""
    for number, start in enumerate(range(0, len(texts), _CELLS)):
        part = texts[start : start + _CELLS]
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    add_options(parser)
    options = parser.parse_args()
    texts = read_corpus(options.texts, 0, options.data, options.work, options.sources).texts
    StaticEmbedder().embed_query("the model is loaded before the clock starts")
    rates: dict[str, list[float]] = defaultdict(list)
    spent: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    options.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.work) as scratch:
        folder = Path(scratch) / "folder"
        folder.mkdir()
        write_folder(folder, texts)
        runs: dict[str, Callable[[Path], int]] = {
            "plain": lambda path: plain(path, texts),
            "add_many": lambda path: add_many(path, texts),
            "index": lambda path: index(path, folder),
            "alone": lambda path: alone(path, folder),
        }
        for number in range(options.rounds):
            for name, run in runs.items():
                with Sampler() as sampler:
                    begun = time.perf_counter()
                    chunks = run(Path(scratch) / f"{name}-{number}.sqlite")
                    total = time.perf_counter() - begun
                if not chunks:
                    continue
                rates[name].append(chunks / total)
                for stage in STAGES:
                    spent[name][stage].append(sampler.share(stage) * total / chunks * 1e6)
    report(rates, spent, statistics.mean(len(text.text) for text in texts))


def report(rates: dict[str, list[float]], spent: dict[str, dict[str, list[float]]], characters: float) -> None:
    """Print a row for each way in."""
    print(f"texts of {characters:.0f} characters on average; microseconds a chunk by stage")
    print(f"{'':9} {'chunks/s':>9} {'to plain':>9}  " + "".join(f"{stage:>8}" for stage in STAGES))
    base = statistics.median(rates["plain"])
    for name, found in rates.items():
        rate = statistics.median(found)
        line = f"{name:9} {rate:9,.0f} {rate / base:8.2f}x  "
        print(line + "".join(f"{statistics.median(spent[name][stage]):8.0f}" for stage in STAGES))


if __name__ == "__main__":
    main()
