"""The rows that an indexing run makes of the sample archive: read from the store's file by SQL of their own.

Ids, keys and the time of indexing differ from run to run; everything else is compared, texts and vectors by digest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import apsw
import goldens
import numpy as np
import pytest
from golden_rows import CHUNKS, MEMORIES, digest, rows

# Rare words are compared by digest only.
WORDS = "select term, doc, cnt, col from temp.words order by term, col"


@pytest.fixture
def file(samples) -> Iterator[apsw.Connection]:
    """The sample archive's store, read by a connection of the test."""
    with closing(apsw.Connection(str(samples.store.path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        yield connection


def test_memories(samples, file):
    """Every memory has the columns, tags and text that the golden file says, in the order in which they were read."""
    found: dict[str, Any] = {}
    for row in rows(file, MEMORIES):
        name = named(samples, file, row.pop("key"))
        found[name] = {**row, "text": digest(row["text"]), "metadata": json.loads(row["metadata"])}
    goldens.check("index/memories", {"order": list(found), "memories": without_repeats(found)})


def test_chunks(samples, file):
    """Every chunk begins and ends, is placed and named as the golden file says; so are its tokens."""
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
    """The keyword index holds the golden words, as often in each column."""
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
    """Files, folders, counters and the version of the schema are noted as the golden file says."""
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


def without_repeats(found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    empty = (None, "", 0, "[]", {})
    return {name: {key: of for key, of in row.items() if of not in empty} for name, row in found.items()}
