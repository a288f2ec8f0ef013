"""A store of many times as many chunks, made on a PostgreSQL server from one that is there.

Loading a million memories from here would take hours. Each copy has ids of its own, chunks of other sizes, and vectors
that are turned towards those of other texts, so no two chunks are equal.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.conninfo import make_conninfo

# Between the numbers of two copies.
_APART = 100_000_000
_SETTINGS = """
    set search_path = jupyter_memory, public;
    set synchronous_commit = off;
    set work_mem = '512MB';
    set maintenance_work_mem = '2GB';
    set session_replication_role = replica
"""
_COUNTS = """
    create temp table summed as select space, term, columns, sum(chunks) as chunks from frequencies group by 1, 2, 3;
    create temp table sums as
        select space, sum(changes) as changes, sum(chunks) as chunks, sum(words) as words from totals group by 1;
    truncate frequencies, totals;
    insert into frequencies (space, term, columns, chunks)
        select space, term, columns, chunks * {times} from summed where chunks <> 0;
    insert into totals (space, changes, chunks, words)
        select space, changes, chunks * {times}, words * {times} + chunks * {times} * ({times} - 1) / 2 from sums
"""
_COPIED = """
    insert into {table} ({columns}) select {values} from {source}, generate_series(1, {times} - 1) as copy
"""
_KEYED = {
    "postings": {"chunk": "chunk + copy * {apart}", "size": "size + copy"},
    "memories": {
        "key": "key + copy * {apart}",
        "id": "left(id, 8) || '-' || copy || right(id, 12)",
        "identity": "decode(md5(id || copy), 'hex')",
        "content_hash": "md5(content_hash || copy)",
    },
    "texts": {"memory": "memory + copy * {apart}"},
    "chunks": {"id": "id + copy * {apart}", "memory": "memory + copy * {apart}", "words": "words + copy"},
    "chunk_tokens": {"chunk": "chunk + copy * {apart}"},
    "definitions": {"memory": "memory + copy * {apart}"},
}
_VECTORS = """
    create temp table numbered as select row_number() over (order by chunk) - 1 as number, * from vectors;
    create index on numbered (number);
    insert into vectors (space, model, chunk, embedding)
        select one.space, one.model, one.chunk + copy * {apart},
            l2_normalize(one.embedding + one.embedding + other.embedding)
        from numbered as one
        cross join generate_series(1, {times} - 1) as copy
        join numbered as other
            on other.number = (one.number * 7919 + copy * 10007) % (select count(*) from numbered)
"""


def multiplied(url: str, name: str, times: int) -> str:
    """Return the URL of a database with ``times`` the chunks of another one; it is kept for the next time."""
    new = f"{name}_x{times}"
    there = make_conninfo(url, dbname=new)
    with psycopg.connect(url, autocommit=True) as connection:
        if connection.execute("select 1 from pg_database where datname = %s", (new,)).fetchone():
            return url.replace(f"/{name}", f"/{new}", 1)
    with psycopg.connect(make_conninfo(url, dbname="postgres"), autocommit=True) as connection:
        connection.execute(f"create database {new} template {name}")
    with psycopg.connect(there, autocommit=True) as connection:
        connection.execute(_SETTINGS)
        for table, changed in _KEYED.items():
            with _without_indexes(connection, table):
                _copy(connection, table, changed, times)
        with _without_indexes(connection, "vectors"):
            _timed(connection, "vectors", _VECTORS.format(times=times, apart=_APART))
        _timed(connection, "frequencies", _COUNTS.format(times=times))
        connection.execute("select setval('numbers', %s)", (_APART * times,))
        _timed(connection, "vacuum", "vacuum analyze")
    return url.replace(f"/{name}", f"/{new}", 1)


def _copy(connection: psycopg.Connection, table: str, changed: dict[str, str], times: int) -> None:
    listed = connection.execute(
        "select attname from pg_attribute where attrelid = %s::regclass and attnum > 0 and not attisdropped",
        (table,),
    ).fetchall()
    columns = [row[0] for row in listed]
    values = ", ".join(changed.get(column, column).format(apart=_APART) for column in columns)
    sql = _COPIED.format(table=table, columns=", ".join(columns), values=values, source=table, times=times)
    _timed(connection, table, sql)


@contextmanager
def _without_indexes(connection: psycopg.Connection, table: str) -> Iterator[None]:
    """Fill a table without its indexes, which are made at the end, in a fraction of the time."""
    constraints = connection.execute(
        "select conname, pg_get_constraintdef(oid) from pg_constraint "
        "where conrelid = %s::regclass and contype in ('p', 'u')",
        (table,),
    ).fetchall()
    names = {name for name, _ in constraints}
    indexes = connection.execute(
        "select indexname, indexdef from pg_indexes where schemaname = 'jupyter_memory' and tablename = %s", (table,)
    ).fetchall()
    is_large = table in ("postings", "vectors")
    if is_large:
        for name, _ in constraints:
            connection.execute(f"alter table {table} drop constraint {name}")
        for name, _ in indexes:
            if name not in names:
                connection.execute(f"drop index {name}")
    yield
    if is_large:
        for name, definition in constraints:
            _timed(connection, name, f"alter table {table} add constraint {name} {definition}")
        for name, definition in indexes:
            if name not in names:
                _timed(connection, name, definition)


def _timed(connection: psycopg.Connection, what: str, sql: str) -> None:
    begun = time.perf_counter()
    connection.execute(sql.encode())
    print(f"  {what}: {time.perf_counter() - begun:.0f} s", flush=True)
