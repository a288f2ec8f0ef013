"""Search against its peers: the naive pipeline most people would write first, and LanceDB's hybrid search.

    python benchmarks/search.py [--sizes 10000,100000] [--questions 200] [--data FOLDER] [--work FOLDER]

All hold the same chunks with the same vectors of 256 dimensions (the bundled static model's) and answer the same
questions, whose vectors are computed beforehand. They take turns, question by question, so that whatever else the
machine does meets them alike. A time is that of a whole call, from the question to ten memories with their texts:

- covalence, auto  `MemoryStore.hits` with this profile; `auto` is the default
- naive    sqlite-vec's KNN over float vectors, FTS5 over any of the words, reciprocal rank fusion in Python
- LanceDB  hybrid search with its default vector index, its full-text index and RRFReranker (where it is installed)
- refined  the same with a `refine_factor` that brings its recall near to ours

Recall is the share of the true best 20 memories by cosine that the vector retriever finds. Then a fresh process says
how long its first search took, with the store's opening, and how much memory it held at most after 20 searches, with
pandas, MLX and the model loaded. Last, ten memories are added and forgotten again, with a search after each change.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import apsw
import numpy as np
import sqlite_vec
from corpus import Prepared, add_options, made, read_corpus
from measure import compare, output_of, parser_of, timed, turns, warm

from jupyter_memory import MemoryStore
from jupyter_memory.evaluation import arms

LIMIT = 10
TOP = 20
FETCHED = 40  # by each retriever of the naive pipeline, as by ours
REFINED = 400  # of so many times the neighbours that are asked for, LanceDB reads the whole vectors

Search = Callable[[str], object]

SEARCHER = """
import json, resource, sys
from pathlib import Path
from time import perf_counter
from jupyter_memory import MemoryStore
from jupyter_memory.embedders import StaticEmbedder
embedder, questions = StaticEmbedder(), json.loads(sys.argv[2])
embedder.embed_query("warm")
begun = perf_counter()
with MemoryStore(sys.argv[1], embedder=embedder) as store:
    store.hits(questions[0])
    first = perf_counter() - begun
    for question in questions:
        assert len(store.search(question)), question
status = Path("/proc/self/status")
if status.exists():  # ru_maxrss would count what the parent held when it forked
    held = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1000
else:
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000_000
print(f"first search in a fresh process: {first * 1000:.0f} ms\\nmemory of a searching process: {held:.0f} MB")
"""


@dataclass(frozen=True)
class Chunks:
    """What our store holds, for the others to hold the same; ``memories`` are ids."""

    ids: list[int]
    memories: np.ndarray
    texts: list[tuple[str, str]]
    vectors: np.ndarray

    def share_found(self, memories: list[str], vector: np.ndarray) -> float:
        """Return the share of the true best memories by cosine that these are; of equals any will do."""
        cosines = self.vectors @ vector
        best: dict[str, float] = {}
        for row in np.argsort(-cosines)[: TOP * 20].tolist():
            best.setdefault(self.memories[row], float(cosines[row]))
        floor = sorted(best.values(), reverse=True)[TOP - 1] - 1e-6
        return sum(best.get(one, -1.0) >= floor for one in memories) / TOP


def read_chunks(path: Path) -> Chunks:
    """Return the chunks and the vectors of a store."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    rows = connection.execute(
        """
        select chunks.id, memories.id, chunk_texts.title, chunk_texts.text, embedding
        from chunks join chunk_texts using (id) join vectors_1 on chunk = chunks.id
        join memories on memories.key = chunks.memory order by chunks.id
        """
    ).fetchall()
    connection.close()
    ids, memories, titles, texts, blobs = zip(*rows, strict=True)
    vectors = np.frombuffer(b"".join(blobs), np.float32).reshape(len(rows), -1)
    return Chunks(list(ids), np.array(memories), list(zip(titles, texts, strict=True)), vectors)


def naive(path: Path, chunks: Chunks, vectors: dict[str, np.ndarray]) -> Search:
    """Return the naive pipeline over a file: two searches, one fusion, the texts of the best."""

    def opened(at: Path) -> apsw.Connection:
        connection = apsw.Connection(str(at))
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        return connection

    def build(part: Path) -> None:
        filled = opened(part)
        filled.execute(
            f"""
            create virtual table vectors using vec0(embedding float[{chunks.vectors.shape[1]}] distance_metric=cosine);
            create virtual table words using fts5(title, text, tokenize = 'porter unicode61');
            """
        )
        texts = ((id_, *text) for id_, text in zip(chunks.ids, chunks.texts, strict=True))
        blobs = ((id_, vector.tobytes()) for id_, vector in zip(chunks.ids, chunks.vectors, strict=True))
        with filled:
            filled.executemany("insert into words (rowid, title, text) values (?, ?, ?)", texts)
            filled.executemany("insert into vectors (rowid, embedding) values (?, ?)", blobs)
        filled.close()

    connection = opened(made(path, build))

    def search(question: str) -> object:
        near = connection.execute(
            "select rowid from vectors where embedding match ? and k = ? order by distance",
            (vectors[question].tobytes(), FETCHED),
        ).fetchall()
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question.lower()))
        matching = connection.execute(
            "select rowid from words where words match ? order by rank limit ?", (words, FETCHED)
        ).fetchall()
        scores: dict[int, float] = {}
        for found in (near, matching):
            for rank, (row,) in enumerate(found, start=1):
                scores[row] = scores.get(row, 0.0) + 1 / (60 + rank)
        best = sorted(scores, key=lambda row: -scores[row])[:LIMIT]
        listed = ",".join(map(str, best))
        told = connection.execute(f"select rowid, title, text from words where rowid in ({listed})")
        texts = {row: text for row, *text in told}
        return [(row, scores[row], *texts[row]) for row in best]

    return search


def lance(path: Path, chunks: Chunks, vectors: dict[str, np.ndarray], refined: int | None) -> tuple[Search, Search]:
    """Return LanceDB's hybrid search, and its vector retriever alone; ``refined`` is its ``refine_factor``."""
    import lancedb
    import pyarrow
    from lancedb.index import FTS, IvfPq
    from lancedb.rerankers import RRFReranker

    def build(part: Path) -> None:
        values = pyarrow.array(chunks.vectors.reshape(-1))
        columns = {
            "memory": chunks.memories,
            "title": [title for title, _ in chunks.texts],
            "text": [f"{title}\n{text}" for title, text in chunks.texts],
            "vector": pyarrow.FixedSizeListArray.from_arrays(values, chunks.vectors.shape[1]),
        }
        filled = lancedb.connect(part).create_table("chunks", pyarrow.table(columns))
        filled.create_index("vector", config=IvfPq(distance_type="cosine"))
        filled.create_index("text", config=FTS())
        filled.wait_for_index(["vector_idx", "text_idx"])

    table, reranker = lancedb.connect(made(path, build)).open_table("chunks"), RRFReranker()

    def hybrid(question: str) -> object:
        asked = table.search(query_type="hybrid").vector(vectors[question]).text(question)
        return (asked.refine_factor(refined) if refined else asked).rerank(reranker).limit(LIMIT).to_list()

    def nearest(question: str) -> list[str]:
        asked = table.search(vectors[question], vector_column_name="vector").distance_type("cosine").limit(TOP)
        found = (asked.refine_factor(refined) if refined else asked).select(["memory", "_distance"]).to_list()
        return [row["memory"] for row in found]

    return hybrid, nearest


def nearest_of(store: MemoryStore) -> Callable[[str], list[str]]:
    """Return what names the best memories that the vector retriever of a store finds alone."""
    profile = arms(["vector"])["vector"]

    def nearest(question: str) -> list[str]:
        hits = store.hits(question, limit=TOP, profile=profile, time=False).hits
        return [hit.memory.id for hit in hits if hit.sem_rank is not None]

    return nearest


def run(size: int, options: argparse.Namespace, with_lance: bool) -> None:
    """Build, search and print the figures at one size."""
    corpus = read_corpus(options, size, options.questions)
    path = corpus.store()
    chunks, prepared = read_chunks(path), Prepared(corpus.questions)
    store, every = MemoryStore(path, prepared), MemoryStore(path, Prepared(corpus.questions, threshold=-1.0))
    sides: dict[str, Search] = {
        "covalence": lambda question: store.hits(question, limit=LIMIT, profile="covalence"),
        "auto": lambda question: store.hits(question, limit=LIMIT),
        "naive": naive(corpus.work / f"naive-{corpus.name}.sqlite", chunks, prepared.vectors),
    }
    retrievers: dict[str, Search] = {"ours": nearest_of(every)}
    for name, refined in (("LanceDB", None), ("refined", REFINED)) if with_lance else ():
        lance_path = corpus.work / f"lance-{corpus.name}"
        sides[name], retrievers[name] = lance(lance_path, chunks, prepared.vectors, refined)
    spent = turns(sides, corpus.questions)
    asked = len(warm(spent["covalence"]))
    print(f"\n{len(chunks.ids):,} chunks, {asked} questions, {os.cpu_count()} CPUs")
    compare(spent, "LanceDB" if with_lance else "naive")
    shares = {
        name: np.mean([chunks.share_found(find(question), prepared.vectors[question]) for question in corpus.questions])
        for name, find in retrievers.items()
    }
    print(f"recall@{TOP} of vectors: {', '.join(f'{name} {share:.4f}' for name, share in shares.items())}")
    print(output_of([sys.executable, "-c", SEARCHER, path, json.dumps(corpus.questions[:20])]))
    kept: list[str] = []
    for name, change in (
        ("add", lambda question: kept.append(store.add(f"{question} again").id)),
        ("forget", lambda _: store.forget(kept.pop(), now=True)),
    ):
        asked_again = corpus.questions[:10]
        pairs = [(timed(lambda: change(one)), timed(lambda: sides["auto"](one))) for one in asked_again]  # noqa: B023
        alone, after = np.median(pairs, axis=0) * 1000
        print(f"{name} {alone:.1f} ms, the search after it {after:.1f} ms")
    store.close()
    every.close()


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", default="10000,100000", help="texts, as 10000,100000")
    add_options(parser, questions=200)
    options = parser.parse_args()
    with_lance = find_spec("lancedb") is not None
    if not with_lance:
        print("LanceDB is left out; to compare with it: pip install -r benchmarks/requirements.txt")
    for size in map(int, options.sizes.split(",")):
        run(size, options, with_lance)


if __name__ == "__main__":
    main()
