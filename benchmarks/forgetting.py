"""How long forgetting takes, against rewriting the whole file with VACUUM, in one run on the same store.

    python benchmarks/forgetting.py [--chunks 100000] [--rounds 5] [--work FOLDER]

The store is made through the real writer, of made-up texts of 60 words with random vectors of 256 values, so building
it takes no model. Every round forgets one memory, then ten, and then rewrites the file, which is the least that an
approach without a scrub in place has to do. Meanwhile another process adds notes and searches; the longest time that
one of each took is printed as well.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import numpy as np

from jupyter_memory import MemoryStore
from jupyter_memory.ingest.chunking import with_chunks
from jupyter_memory.protocols import Vectors
from jupyter_memory.storage import Prepared, open_storage
from jupyter_memory.types import Draft

_BATCH = 2_000
_WORDS = 60
_DIMENSIONS = 256


class RandomVectors:
    """An embedder whose vectors say nothing."""

    name, dimensions, threshold, fingerprint = "random", _DIMENSIONS, 0.2, f"random/{_DIMENSIONS}"

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)

    def embed_documents(self, texts: Any, /) -> Vectors:
        """Return a vector for each text."""
        vectors = self._random.standard_normal((len(texts), _DIMENSIONS), np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def embed_query(self, text: str, /) -> Vectors:
        """Return one vector."""
        return self.embed_documents([text])[0]


def drafts(count: int) -> Iterator[Draft]:
    """Yield made-up texts: words as frequent as those of a language, and some that only one text has."""
    rng = np.random.default_rng(1)
    for number in range(count):
        words = " ".join(f"w{rank}" for rank in np.minimum(rng.zipf(1.2, _WORDS), 200_000))
        yield Draft(text=f"{words} only{number}here", title=f"Note {number}", tags=(f"t{number % 500}",))


def build(path: Path, chunks: int) -> None:
    """Make the store."""
    storage, embedder = open_storage(path, busy_seconds=30), RandomVectors()
    batch: list[Draft] = []
    for draft in drafts(chunks):
        batch.append(draft)
        if len(batch) == _BATCH:
            write(storage.writer, batch, embedder)
            batch = []
    if batch:
        write(storage.writer, batch, embedder)
    storage.close()


def write(writer: Any, batch: list[Draft], embedder: RandomVectors) -> None:
    """Store some texts of one chunk each."""
    prepared = [Prepared(draft, embedder.embed_documents(["x"])) for draft in with_chunks(batch)]
    writer.add(prepared, embedder)


def work_on(path: Path, begun: Event, done: Event, answers: multiprocessing.Queue[tuple[str, float]]) -> None:
    """Add and search until told to stop; tell the longest time of each."""
    longest = {"add": 0.0, "search": 0.0}
    with MemoryStore(path, embedder=RandomVectors()) as store:
        store.hits("w10 w20")
        begun.set()
        while not done.is_set():
            number = random.randrange(10**9)
            for name, work in (
                ("add", lambda: store.add(f"a note {number}")),  # noqa: B023  called at once
                ("search", lambda: store.hits(f"w{number % 1000} w{number % 777}")),  # noqa: B023
            ):
                longest[name] = max(longest[name], timed(work))
            time.sleep(0.02)
    for entry in longest.items():
        answers.put(entry)


def timed(work: Callable[[], object]) -> float:
    """Return how many seconds something takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main() -> None:
    """Build the store, forget, rewrite, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", type=Path, help="keep the store in this folder, and use the one that is there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        path = (options.work or Path(temporary)) / f"forgetting-{options.chunks}.sqlite"
        if not path.exists():
            print(f"built in {timed(lambda: build(path, options.chunks)):.0f} s")
        measure(path, options.rounds)


def measure(path: Path, rounds: int) -> None:
    """Print what forgetting takes beside rewriting."""
    spawn = multiprocessing.get_context("spawn")
    begun, done, answers = spawn.Event(), spawn.Event(), spawn.Queue()
    with MemoryStore(path, embedder=RandomVectors()) as store:
        connection = store._storage.database.connection
        ids = [row[0] for row in connection.execute("select id from memories where title like 'Note %'")]
        random.Random(2).shuffle(ids)
        print(f"{len(ids)} chunks, {path.stat().st_size / 1e6:.0f} MB")
        one = [timed(lambda: store.forget(ids.pop())) for _ in range(rounds)]
        ten = [timed(lambda: store.forget([ids.pop() for _ in range(10)])) for _ in range(rounds)]
        beside = spawn.Process(target=work_on, args=(path, begun, done, answers))
        beside.start()
        begun.wait(120)
        crowded = [timed(lambda: store.forget(ids.pop())) for _ in range(rounds)]
        done.set()
        longest = dict(answers.get(timeout=120) for _ in range(2))
        beside.join()
        rewritten = [timed(lambda: connection.execute("vacuum")) for _ in range(min(rounds, 2))]
    base = statistics.median(rewritten)
    print(f"rewriting the file: {base:.2f} s")
    for name, seconds in (("one", one), ("ten", ten), ("one, beside adds and searches", crowded)):
        middle = statistics.median(seconds)
        print(f"forgetting {name}: {middle:.3f} s (longest {max(seconds):.3f}), {middle / base:.3f}x of rewriting")
    print(f"meanwhile the longest add took {longest['add']:.2f} s, the longest search {longest['search']:.2f} s")


if __name__ == "__main__":
    main()
