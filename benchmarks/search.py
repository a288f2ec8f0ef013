"""Search against its peers: the naive pipeline most people would write first, and LanceDB's hybrid search.

    python benchmarks/search.py [--sizes 10000,100000] [--questions 200] [--data FOLDER] [--work FOLDER]

All hold the same chunks with the same vectors of 256 dimensions (the bundled static model's) and answer the same
questions, whose vectors are computed beforehand. They take turns, question by question, so that whatever else the
machine does meets them alike. A time is that of a whole call, from the question to ten memories with their texts:

- ours     `MemoryStore.hits` with the profile `covalence`
- naive    sqlite-vec's KNN over float vectors, FTS5 over any of the words, reciprocal rank fusion in Python
- LanceDB  hybrid search with its default vector index, its full-text index and RRFReranker (where it is installed)
- refined  the same with a `refine_factor` that brings its recall near to ours

Recall is the share of the true best 20 memories by cosine that the vector retriever finds. Memory is the most that a
fresh process held that opened the store and searched it 20 times, with pandas, MLX and the model loaded.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import sqlite_vec
from corpus import add_options, read_corpus

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.protocols import Vectors
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.types import Filters

LIMIT = 10
_FETCHED = 40  # by each retriever of the naive pipeline, as by ours
_TOP = 20
_WARM_UP = 30
# Of so many times the neighbours that are asked for, LanceDB reads the whole vectors.
_REFINED = 400
_WORD = re.compile(r"\w+")

Search = Callable[[str, Vectors], object]

SEARCHER = """
import json, resource, sys
from pathlib import Path
from jupyter_memory import MemoryStore
with MemoryStore(sys.argv[1]) as store:
    for question in json.loads(sys.argv[2]):
        assert len(store.search(question, profile="covalence")), question
status = Path("/proc/self/status")
if status.exists():  # ru_maxrss would count what the parent held when it forked
    print(next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1000)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000_000)
"""


class Prepared:
    """The static model, with the vectors of the questions at hand."""

    # As the model itself: its vectors are not written into the store's cache of questions.
    quick = StaticEmbedder.quick

    def __init__(self, questions: Sequence[str]) -> None:
        self._model = StaticEmbedder()
        self.vectors = dict(zip(questions, self._model.embed_documents(questions), strict=True))
        self.name, self.dimensions = self._model.name, self._model.dimensions
        self.fingerprint, self.threshold = self._model.fingerprint, self._model.threshold

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        return self._model.embed_documents(texts)

    def embed_query(self, text: str, /) -> Vectors:
        return self.vectors[text]


@dataclass(frozen=True)
class Chunks:
    """What our store holds, for the others to hold the same."""

    ids: np.ndarray
    memories: np.ndarray
    texts: list[tuple[str, str]]
    vectors: np.ndarray


def read_chunks(path: Path) -> Chunks:
    """Read the chunks and the vectors of a store."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    rows = connection.execute(
        """
        select chunks.id, chunks.memory, chunk_texts.title, chunk_texts.text, embedding
        from chunks join chunk_texts using (id) join vectors_1 on chunk = chunks.id order by chunks.id
        """
    ).fetchall()
    connection.close()
    ids, memories, titles, texts, blobs = zip(*rows, strict=True)
    vectors = np.frombuffer(b"".join(blobs), np.float32).reshape(len(rows), -1)
    return Chunks(np.array(ids), np.array(memories), list(zip(titles, texts, strict=True)), vectors)


def build_ours(path: Path, records: Sequence[dict[str, str]]) -> None:
    """Put the texts into a store of ours."""
    with MemoryStore(path, embedder=StaticEmbedder()) as store:
        store.add_many(records, progress=False)


def build_naive(path: Path, chunks: Chunks) -> None:
    """Put the chunks into a vec0 table and an FTS5 table."""
    connection = naive_connection(path)
    connection.execute(
        f"""
        create virtual table vectors using vec0(embedding float[{chunks.vectors.shape[1]}] distance_metric=cosine);
        create virtual table words using fts5(title, text, tokenize = 'porter unicode61');
        """
    )
    ids = chunks.ids.tolist()
    with connection:
        connection.executemany(
            "insert into words (rowid, title, text) values (?, ?, ?)",
            ((id_, *text) for id_, text in zip(ids, chunks.texts, strict=True)),
        )
        connection.executemany(
            "insert into vectors (rowid, embedding) values (?, ?)",
            ((id_, vector.tobytes()) for id_, vector in zip(ids, chunks.vectors, strict=True)),
        )
    connection.close()


def naive_connection(path: Path) -> apsw.Connection:
    """Open a database with sqlite-vec."""
    connection = apsw.Connection(str(path))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    return connection


def naive_search(connection: apsw.Connection) -> Search:
    """Return the naive pipeline: two searches, one fusion, the texts of the best."""

    def search(question: str, vector: Vectors) -> object:
        near = connection.execute(
            "select rowid from vectors where embedding match ? and k = ? order by distance",
            (vector.tobytes(), _FETCHED),
        ).fetchall()
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(question.lower()))
        matching = connection.execute(
            "select rowid from words where words match ? order by rank limit ?", (words, _FETCHED)
        ).fetchall()
        scores: dict[int, float] = {}
        for found in (near, matching):
            for rank, (row,) in enumerate(found, start=1):
                scores[row] = scores.get(row, 0.0) + 1 / (60 + rank)
        best = sorted(scores, key=lambda row: -scores[row])[:LIMIT]
        texts = {
            row: text
            for row, *text in connection.execute(
                f"select rowid, title, text from words where rowid in ({','.join(map(str, best))})"
            )
        }
        return [(row, scores[row], *texts[row]) for row in best]

    return search


def build_lance(path: Path, chunks: Chunks) -> None:
    """Put the chunks into a LanceDB table with its default vector index and its full-text index."""
    import lancedb
    import pyarrow
    from lancedb.index import FTS, IvfPq

    width = chunks.vectors.shape[1]
    vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(chunks.vectors.reshape(-1)), width)
    columns = {
        "id": chunks.ids,
        "title": [title for title, _ in chunks.texts],
        "text": [f"{title}\n{text}" for title, text in chunks.texts],
        "vector": vectors,
    }
    table = lancedb.connect(path).create_table("chunks", pyarrow.table(columns))
    table.create_index("vector", config=IvfPq(distance_type="cosine"))
    table.create_index("text", config=FTS())
    table.wait_for_index(["vector_idx", "text_idx"])


def lance_search(path: Path, refined: int | None = None) -> tuple[Search, Callable[[Vectors], list[int]]]:
    """Return LanceDB's hybrid search, and its vector retriever alone; ``refined`` is its ``refine_factor``."""
    import lancedb
    from lancedb.rerankers import RRFReranker

    table, reranker = lancedb.connect(path).open_table("chunks"), RRFReranker()

    def finer(asked: Any) -> Any:
        return asked.refine_factor(refined) if refined else asked

    def search(question: str, vector: Vectors) -> object:
        asked = finer(table.search(query_type="hybrid").vector(vector).text(question))
        return asked.rerank(reranker).limit(LIMIT).to_list()

    def nearest(vector: Vectors) -> list[int]:
        found = finer(table.search(vector, vector_column_name="vector").distance_type("cosine").limit(_TOP))
        return [row["id"] for row in found.select(["id", "_distance"]).to_list()]

    return search, nearest


def has_lance() -> bool:
    """Return whether LanceDB is installed; say so where it is not."""
    try:
        import lancedb  # noqa: F401
    except ImportError:
        print("LanceDB is left out: it is not installed (pip install -r benchmarks/requirements.txt).")
        return False
    return True


def made(path: Path, build: Callable[[Path], object]) -> Path:
    """Return a path that ``build`` has filled, now or in an earlier run."""
    if not path.exists():
        part = path.with_name("part-" + path.name)
        for left in part.parent.glob(part.name + "*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        begun = time.perf_counter()
        build(part)
        part.rename(path)
        print(f"built {path.name} in {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return path


def times(systems: dict[str, Search], questions: Sequence[tuple[str, Vectors]]) -> dict[str, np.ndarray]:
    """Return the milliseconds of every question by system; the first questions warm up and do not count."""
    taken: dict[str, list[float]] = {name: [] for name in systems}
    turns = list(systems.items())
    for question, vector in questions:
        for name, search in turns:
            begun = time.perf_counter()
            search(question, vector)
            taken[name].append((time.perf_counter() - begun) * 1000)
        turns.append(turns.pop(0))
    return {name: np.array(spent[_WARM_UP:]) for name, spent in taken.items()}


def report(taken: dict[str, np.ndarray]) -> None:
    """Print the quantiles and how they compare."""
    ours = taken["ours"]
    print(f"{'':9} {'p50 ms':>8} {'p95 ms':>8}   ours / it: {'p50':>6} {'p95':>6}   faster for")
    for name, spent in taken.items():
        p50, p95 = np.quantile(spent, (0.5, 0.95))
        line = f"{name:9} {p50:8.1f} {p95:8.1f}"
        if name != "ours":
            line += f"   {'':10} {np.median(ours) / p50:6.2f} {np.quantile(ours, 0.95) / p95:6.2f}"
            line += f"   {np.mean(ours < spent):6.0%} of the questions"
        print(line)


def recall(path: Path, chunks: Chunks, vectors: Sequence[Vectors]) -> float:
    """Return the share of the true best memories that our vector retriever finds; of equals any will do."""
    database, index = Database(path), VectorIndex()
    shares = []
    with database.read() as connection:
        model = index.active(connection)
        assert model is not None
        for vector in vectors:
            floor = least_of_best(chunks, vector)
            found = index.search(connection, model, vector, Filters(), _TOP)
            shares.append(sum(one.score >= floor for one in found) / _TOP)
    database.close()
    return float(np.mean(shares))


def least_of_best(chunks: Chunks, vector: Vectors) -> float:
    """Return the cosine of the last of the true best memories, less what rounding may take."""
    best: dict[int, float] = {}
    cosines = chunks.vectors @ vector
    for row in np.argsort(-cosines)[: _TOP * 20].tolist():
        best.setdefault(int(chunks.memories[row]), float(cosines[row]))
    return sorted(best.values(), reverse=True)[_TOP - 1] - 1e-6


def resident(path: Path, questions: Sequence[str]) -> float:
    """Return the megabytes that a fresh process needs to search."""
    program = [sys.executable, "-c", SEARCHER, str(path), json.dumps(list(questions)[:20])]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return float(done.stdout)


def run(size: int, options: argparse.Namespace, with_lance: bool) -> None:
    """Build, search and report at one size."""
    corpus = read_corpus(size, options.questions + _WARM_UP, options.data, options.work)
    name = f"{size}-{'judged' if options.data else 'code'}"
    ours = made(options.work / f"ours-{name}.sqlite", lambda path: build_ours(path, list(corpus.records)))
    chunks = read_chunks(ours)
    naive = made(options.work / f"naive-{name}.sqlite", lambda path: build_naive(path, chunks))
    prepared = Prepared(corpus.questions)
    store, connection = MemoryStore(ours, embedder=prepared), naive_connection(naive)
    systems: dict[str, Search] = {
        "ours": lambda question, _: store.hits(question, limit=LIMIT, profile="covalence"),
        "naive": naive_search(connection),
    }
    if with_lance:
        lance = made(options.work / f"lance-{name}", lambda path: build_lance(path, chunks))
        nearest = {}
        systems["LanceDB"], nearest["LanceDB"] = lance_search(lance)
        systems["refined"], nearest["refined"] = lance_search(lance, _REFINED)
    print(f"\n{len(chunks.ids):,} chunks, {len(corpus.questions) - _WARM_UP} questions, {os.cpu_count()} CPUs")
    report(times(systems, list(prepared.vectors.items())))
    vectors = list(prepared.vectors.values())
    print(f"recall@{_TOP} of the vector retriever: ours {recall(ours, chunks, vectors):.4f}", end="")
    if with_lance:
        floors = [least_of_best(chunks, vector) for vector in vectors]
        row = {int(id_): place for place, id_ in enumerate(chunks.ids)}
        for name, neighbours in nearest.items():
            found = [
                np.mean([chunks.vectors[row[id_]] @ vector >= floor for id_ in neighbours(vector)])
                for vector, floor in zip(vectors, floors, strict=True)
            ]
            print(f", {name} {np.mean(found):.4f}", end="")
    print(f"\nmemory of a searching process: {resident(ours, corpus.questions):.0f} MB")
    store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000", help="chunks, as 10000,100000")
    parser.add_argument("--questions", type=int, default=200)
    add_options(parser)
    options = parser.parse_args()
    with_lance = has_lance()
    for size in map(int, options.sizes.split(",")):
        run(size, options, with_lance)


if __name__ == "__main__":
    main()
