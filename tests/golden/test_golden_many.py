"""A store of some thousands of chunks: its rows, whoever prepared them, and the answers of every profile.

In a small store every chunk is looked at; in this one the finders have to choose.
"""

import json
from contextlib import closing

import apsw
import golden_beds
import goldens
import numpy as np
import pytest
from golden_rows import CHUNKS, MEMORIES, digest, rows

PROFILES = ("auto", "covalence", "vault", "trovella", "memini", "memini-rrf")
QUESTIONS = (
    "which meters are frozen at night",
    "the prices of the day-ahead auction in SE4",
    "item_12_3",
    "item_200_5 and the forecast of demand",
    '"main fuse" readings',
    "tag:tag3 dashboard is slow",
    "what did we decide in July 2026",
    "forcast of the hourly demnad",
    "page 17",
    "how long do customers stay with us",
)


@pytest.mark.parametrize("profile", PROFILES)
def test_answers_among_many(many, profile):
    """Order, scores, contributions and counts of each answer are the golden ones."""
    found = {}
    for query in QUESTIONS:
        answer = many.store.hits(query, limit=5, profile=profile, now=many.now)
        hits = {
            many.names[hit.memory.id]: {
                "score": hit.score,
                "strength": number(hit.strength),
                "where": [hit.location, hit.kw_rank, hit.sem_rank, number(hit.bm25), number(hit.cosine)],
                "adds": [seen.contribution for seen in hit.signals.values()],
            }
            for hit in answer.hits[:5]
        }
        found[query] = {"counts": dict(answer.counts), "verdict": answer.verdict, "hits": hits}
    goldens.check(f"answers/many.{profile}", found)


@goldens.exact
def test_pool_among_many(many):
    """All that the finders bring, in order, is the golden pool."""
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
    """The rows of a large folder are the golden ones."""
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


def number(value):
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
