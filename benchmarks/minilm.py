"""all-MiniLM-L6-v2 on MLX: does it rank as published when our own store's vector retriever asks it?

    jupyter-memory model use minilm
    python benchmarks/minilm.py FOLDER... [--work FOLDER]

Each folder is a judged set, as `threshold.py` describes it. On SciFact the model's published nDCG@10 is .645 (MTEB).
A store is filled with the documents as notes, a long one in several chunks, and every question is asked of the vector
retriever alone; then once more of a copy that holds only the vector of each document's first chunk, which is as much as
this model reads (256 word pieces) where it is published. Stores are kept in ``--work``, for the next time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import open_embedder
from jupyter_memory.evaluation import arms, evaluate
from jupyter_memory.evaluation.results import Row
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex

PUBLISHED = {"scifact": 0.645}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    options.add_argument("--work", type=Path, help="where stores are kept; a temporary folder without it")
    chosen = options.parse_args()
    for folder in chosen.folders:
        measure(folder, chosen.work)


def measure(folder: Path, work: Path | None) -> None:
    """Print how well the vector retriever ranks a judged set, beside what was published."""
    with TemporaryDirectory() as scratch:
        beds, beginnings = work or Path(scratch) / "beds", Path(scratch) / "beginnings"
        report("every chunk", folder, lambda: evaluate(folder, arms(["vector"]), open_embedder("minilm"), work=beds))
        beginnings.mkdir()
        for path in beds.glob(f"{folder.name}-*.sqlite"):
            copy_without_later_chunks(path, beginnings / path.name)
        report(
            "first chunk", folder, lambda: evaluate(folder, arms(["vector"]), open_embedder("minilm"), work=beginnings)
        )


def copy_without_later_chunks(path: Path, copy: Path) -> None:
    """Copy a store, less the vectors of all but the first chunk of each memory."""
    with MemoryStore(path) as store:
        store.backup(copy)
    database = Database(copy)
    with database.write() as connection:
        later = connection.execute("select id from chunks where id not in (select min(id) from chunks group by memory)")
        VectorIndex().remove(connection, [row[0] for row in later.fetchall()])
    database.close()


def report(what: str, folder: Path, run: Callable[[], tuple[list[Row], list[str]]]) -> None:
    """Print what an evaluation finds, beside what was published."""
    begun = time.perf_counter()
    rows, notices = run()
    for notice in notices:
        print(notice)
    for row in rows:
        low, high = row.ci95["ndcg@10"]
        published = PUBLISHED.get(folder.name)
        beside = f", published {published:.3f}" if published else ""
        print(f"{row.set}, {what}: nDCG@10 {row.metrics['ndcg@10']:.3f} ({low:.3f} to {high:.3f}){beside}; ", end="")
        print(f"recall@10 {row.metrics['recall@10']:.3f}; {row.queries} questions, {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
