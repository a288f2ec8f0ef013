"""The rows that an indexing run makes, read from the store's file by SQL of their own, and what is found among many.

Ids, keys and the time of indexing differ from run to run; everything else is compared, texts and vectors by digest. In
the small store of the samples every chunk is looked at; among some thousands of chunks the finders have to choose.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import apsw
import golden_beds
import goldens
import numpy as np
import pytest
from goldens import CHUNKS, MEMORIES, digest, rows

# Rare words are compared by digest only.
WORDS = "select term, doc, cnt, col from temp.words order by term, col"


@pytest.fixture
def file(samples) -> Iterator[apsw.Connection]:
    with closing(apsw.Connection(str(samples.store.path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        yield connection


def test_memories(samples, file):
    found: dict[str, Any] = {}
    for row in rows(file, MEMORIES):
        name = named(samples, file, row.pop("key"))
        found[name] = {**row, "text": digest(row["text"]), "metadata": json.loads(row["metadata"])}
    empty = (None, "", 0, "[]", {})
    told = {name: {key: of for key, of in row.items() if of not in empty} for name, row in found.items()}
    goldens.check("index/memories", {"order": list(found), "memories": told})


def test_chunks(samples, file):
    found: dict[str, list[Any]] = {}
    for row in rows(file, CHUNKS):
        of_memory, ident = found.setdefault(named(samples, file, row["memory"]), []), row["ident"]
        of_memory.append(
            {
                **{name: row[name] for name in ("start", "stop", "line", "is_whole", "context")},
                "ident": ident if len(ident) <= 80 else f"{ident[:60]}… {digest(ident)}",
                "row": digest(f"{row['title']}\0{row['text']}\0{row['tags']}"),
                "tokens": digest(row["tokens"]),
            }
        )
    goldens.check("index/chunks", found)


def test_words(file):
    file.execute("create virtual table temp.words using fts5vocab(main, keyword, col)")
    found = [list(row.values()) for row in rows(file, WORDS)]
    frequent = [row for row in found if row[1] >= 20]
    goldens.check("index/words", {"count": len(found), "all": digest(json.dumps(found)), "frequent": frequent})


@goldens.exact
def test_vectors(file):
    """Every chunk has the golden vector and the golden code; so have the model and its trust the golden numbers."""
    (model,) = rows(file, "select * from models")
    number = model.pop("id")
    embedded = file.execute(f"select chunk, embedding from vectors_{number} order by chunk").fetchall()
    vectors = np.stack([np.frombuffer(blob, np.float32) for _, blob in embedded])
    codes = file.execute(f"select * from codes_{number} order by 1").fetchall()
    found = {
        "model": model,
        "trust": rows(file, "select chunks, value from trust"),
        "shape": list(vectors.shape),
        "sums": [round(float(one), 3) for one in vectors.astype(np.float64).sum(axis=0)],
        "vectors": digest(np.round(vectors, 5).tobytes()),
        "codes": digest(b"".join(part for row in codes for part in row if isinstance(part, bytes))),
    }
    goldens.check("index/vectors", found)


def test_files_and_folders(samples, file):
    found = {
        "version": file.pragma("user_version"),
        "tables": [
            row["name"] for row in rows(file, "select name from sqlite_master where sql not null order by name")
        ],
        "files": rows(file, "select path, space, mtime_ns, size, content_hash from files order by path"),
        "folders": rows(file, "select path, space, watched from folders order by path"),
        "counters": rows(file, "select * from counters where name = 'removals'"),
    }
    goldens.check("index/files", json.loads(samples.plain(json.dumps(found))))


def test_unchanged_files_are_skipped(samples):
    """Indexed again, nothing is written: the report has the golden counts, and every memory keeps its id."""
    report = samples.store.index(samples.folder, progress=False)
    assert {hit.memory.id for hit in samples.store.browsed(limit=10_000).hits} == set(samples.names)
    goldens.check("index/report", re.sub(r"in \d+\.\d s", "in 0.0 s", repr(report)))


def named(bed: Any, connection: apsw.Connection, key: int) -> str:
    return bed.names[connection.execute("select id from memories where key = ?", (key,)).get]


# -- among many chunks ------------------------------------------------------------------------------------------------

PROFILES = ("auto", "covalence", "vault", "trovella", "memini", "memini-rrf")
QUESTIONS = (
    "which meters are frozen at night", "the prices of the day-ahead auction in SE4", "item_12_3",
    "item_200_5 and the forecast of demand", '"main fuse" readings', "tag:tag3 dashboard is slow",
    "what did we decide in July 2026", "forcast of the hourly demnad", "page 17", "how long do customers stay with us",
)  # fmt: skip


@pytest.mark.parametrize("profile", PROFILES)
def test_answers_among_many(many, profile):
    found = {}
    for query in QUESTIONS:
        answer = many.store.hits(query, limit=5, profile=profile, now=many.now)
        hits = {
            many.names[hit.memory.id]: {
                "score": hit.score,
                "strength": _number(hit.strength),
                "where": [hit.location, hit.kw_rank, hit.sem_rank, _number(hit.bm25), _number(hit.cosine)],
                "adds": [seen.contribution for seen in hit.signals.values()],
            }
            for hit in answer.hits[:5]
        }
        found[query] = {"counts": dict(answer.counts), "verdict": answer.verdict, "hits": hits}
    goldens.check(f"answers/many.{profile}", found)


@goldens.exact
def test_pool_among_many(many):
    found = {}
    for query in QUESTIONS[:3]:
        trace = many.store.trace(query, limit=3, now=many.now)
        found[query] = {
            name: [[many.names[one.memory_id], one.score] for one in getattr(trace, name)[:30]]
            for name in ("keyword", "vector", "fused")
        }
    goldens.check("answers/many.lists", found)


@goldens.exact
def test_rows_of_many(many):
    goldens.check("index/many", digests(many))


def test_rows_prepared_by_others(many, tmp_path):
    """Where processes of their own prepare the files, the rows are the same, and the vectors but for their last bits.

    How many texts are multiplied at once decides the last bits of a float.
    """
    helped = golden_beds.many(tmp_path)
    with closing(helped.store):
        found, golden = digests(helped), digests(many)
        assert {name: of for name, of in found.items() if name != "vectors"} == {
            name: of for name, of in golden.items() if name != "vectors"
        }
        assert np.abs(vectors(helped) - vectors(many)).max() < 1e-6


def _number(value):
    return None if value != value else value


def digests(bed):
    with closing(apsw.Connection(str(bed.store.path), flags=apsw.SQLITE_OPEN_READONLY)) as file:
        memories, chunks = rows(file, MEMORIES), rows(file, CHUNKS)
        for row in chunks:
            row["tokens"] = digest(row["tokens"])
        trust = rows(file, "select chunks, value from trust")
    return {
        "memories": [len(memories), digest(json.dumps(memories))],
        "chunks": [len(chunks), digest(json.dumps(chunks))],
        "vectors": digest(vectors(bed).tobytes()),
        "trust": trust,
    }


def vectors(bed):
    with closing(apsw.Connection(str(bed.store.path), flags=apsw.SQLITE_OPEN_READONLY)) as file:
        blobs = file.execute("select embedding from vectors_1 order by chunk").fetchall()
    return np.stack([np.frombuffer(blob, np.float32) for (blob,) in blobs])
