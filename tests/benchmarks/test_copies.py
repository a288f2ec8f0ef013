"""A store that is multiplied on its server: as many memories as were asked for, with counts and indexes that fit."""

from __future__ import annotations

import sys
from pathlib import Path

import psycopg
import pytest
from hashing import Hashing

from jupyter_memory import MemoryStore

TEXTS = ("the invoice of March", "a forecast of prices", "prices were normalised by their yearly mean")


@pytest.fixture(scope="module")
def copies():
    """Import the script."""
    folder = str(Path(__file__).parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        import copies
    finally:
        sys.path.remove(folder)
    return copies


def test_a_multiplied_store_is_a_store(copies, postgres_server, postgres_address, capsys):
    """Every copy is found by its words, the counts are those of the chunks, and a memory can be added."""
    with MemoryStore(postgres_address.url, Hashing()) as store:
        store.add_many([{"text": text} for text in TEXTS])
    name = postgres_address.url.partition("?")[0].rpartition("/")[2]
    url = copies.multiplied(postgres_address.url, name, 3)
    assert copies.multiplied(postgres_address.url, name, 3) == url
    with MemoryStore(url, Hashing()) as store:
        assert (store.count(), store.stats()["chunks"]) == (9, 9)
        assert len(store.hits("prices normalised", limit=20, profile="auto").hits) >= 6
        assert not [problem for problem in store.doctor() if "keyword" in problem or "vector" in problem]
        store.add("the mean of the prices")
        assert store.count() == 10
    with psycopg.connect(url) as connection:
        [(distinct, longest)] = connection.execute(
            "select count(distinct embedding::text), max(vector_norm(embedding)) from jupyter_memory.vectors"
        ).fetchall()
        indexes = connection.execute("select count(*) from pg_indexes where schemaname = 'jupyter_memory'").fetchone()
    with psycopg.connect(postgres_address.url) as connection:
        before = connection.execute("select count(*) from pg_indexes where schemaname = 'jupyter_memory'").fetchone()
    assert (distinct, longest) == (10, pytest.approx(1, abs=1e-5))
    assert indexes == before
    assert "postings" in capsys.readouterr().out
    postgres_server.execute(f"drop database {name}_x3")
