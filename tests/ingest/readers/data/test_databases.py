"""Claims about SQLite and DuckDB files."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_memory import InputError, MemoryStore
from jupyter_memory.ingest import Document

Read = Callable[[Path], Document]


def database(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


@pytest.mark.parametrize("name", ["a.sqlite", "a.db"])
def test_each_table_and_view_is_told(tmp_path: Path, read: Read, name: str) -> None:
    """With the types that were declared, and its rows; without defaults, checks, values, and inner tables."""
    path = database(
        tmp_path / name,
        "create table customers(customer_id integer primary key, churn_date text default 'never', "
        "plan text check (plan in ('gold', 'silver')), fee decimal(10, 2))",
        "insert into customers values (4711, '2026-03-02', 'gold', 3.25)",
        "create view gone as select customer_id from customers",
        "create virtual table words using fts5(body)",
        "insert into words values ('confidential')",
    )

    found = read(path)

    assert [(part.location, part.text) for part in found.parts] == [
        (
            "table customers",
            "SQLite table customers: 1 row, 4 columns\ncustomer_id (customer id): integer\n"
            "churn_date (churn date): text\nplan: text\nfee: decimal(10, 2)",
        ),
        ("view gone", "SQLite view gone: 1 column\ncustomer_id (customer id): integer"),
    ]
    assert not any(value in repr(found) for value in ("4711", "never", "gold", "silver", "3.25", "confidential"))


def test_our_own_stores_are_left_out(tmp_path: Path, read: Read) -> None:
    """Also their copies and backups, whatever they are called."""
    with MemoryStore(tmp_path / "memory.sqlite", "static") as store:
        store.add("Tariffs are net of tax.")
        store.backup(tmp_path / "backup.db")
    shutil.copy(tmp_path / "memory.sqlite", tmp_path / "copy.sqlite3")

    assert [read(tmp_path / name).parts for name in ("memory.sqlite", "backup.db", "copy.sqlite3")] == [(), (), ()]


def test_a_database_in_use_is_neither_locked_nor_written(tmp_path: Path, read: Read) -> None:
    """A transaction of this very process goes on as if nobody had looked, and nothing appears beside the file."""
    path = database(tmp_path / "a.sqlite", "create table customers(customer_id)")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("begin exclusive")
        connection.execute("insert into customers values (1)")

        assert "customer_id" in read(path).parts[0].text

        with closing(sqlite3.connect(path, timeout=0)) as other, pytest.raises(sqlite3.OperationalError):
            other.execute("select * from customers")  # the lock is still there
        connection.execute("commit")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.sqlite"]


def test_a_hostile_schema_is_not_run(tmp_path: Path, read: Read) -> None:
    """A view may call functions and virtual tables may load modules: no more is asked than their names."""
    path = database(
        tmp_path / "a.sqlite",
        "create table customers(customer_id)",
        "create view harmful as select load_extension('/tmp/x.so') as a, readfile('/etc/passwd') as b",
        "pragma writable_schema = on",
        "insert into sqlite_schema values ('table', 'evil', 'evil', 0, 'create virtual table evil using no_module(1)')",
    )

    assert [part.location for part in read(path).parts] == ["table customers", "view harmful"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"customer,price\n", "neither"),
        (b"SQLite format 3\0" + b"\xff" * 5_000, "no SQLite|damaged"),
        (b"SQLite format 3\0", "no SQLite|damaged"),
        (os.urandom(4_096), "neither"),
    ],
)
def test_what_is_no_database_says_so(tmp_path: Path, read: Read, content: bytes, says: str) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)

    with pytest.raises(InputError, match=says):
        read(path)


def test_duckdb_tables_are_told_without_the_values_of_their_types(tmp_path: Path, read: Read) -> None:
    """An enumeration lists its values in its type."""
    duckdb = pytest.importorskip("duckdb", reason="needs the extra `data`")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("create table orders(order_id integer, mood enum('sad', 'happy'), fee decimal(10, 2))")
        connection.execute("insert into orders values (4711, 'sad', 3.25)")
        connection.execute("create schema old; create table old.orders(order_id integer)")

    found = read(tmp_path / "a.duckdb")

    assert [(part.location, part.text) for part in found.parts] == [
        (
            "table orders",
            "DuckDB table orders: 1 row, 3 columns\norder_id (order id): integer\nmood: enum\nfee: decimal(10,2)",
        ),
        ("table old.orders", "DuckDB table old.orders: 0 rows, 1 column\norder_id (order id): integer"),
    ]
    assert not any(value in repr(found) for value in ("sad", "happy", "4711", "3.25"))


def test_a_duckdb_file_that_is_open_elsewhere_says_so(tmp_path: Path, read: Read) -> None:
    """This process writes it, and the one that reads files is another."""
    duckdb = pytest.importorskip("duckdb", reason="needs the extra `data`")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("create table orders(order_id integer)")

        with pytest.raises(InputError, match="Another program has the DuckDB file open"):
            read(tmp_path / "a.duckdb")


def test_a_damaged_duckdb_file_says_so(tmp_path: Path, read: Read) -> None:
    pytest.importorskip("duckdb", reason="needs the extra `data`")
    (tmp_path / "a.duckdb").write_bytes(b"\0" * 8 + b"DUCK" + b"\xff" * 20_000)

    with pytest.raises(InputError, match=r"damaged|crash"):
        read(tmp_path / "a.duckdb")


@pytest.mark.parametrize("name", ["a.sqlite", "a.db", "a.duckdb"])
def test_an_empty_database_has_no_tables(tmp_path: Path, read: Read, name: str) -> None:
    """SQLite makes a file without a byte when a program opens one and writes nothing."""
    (tmp_path / name).touch()

    assert read(tmp_path / name).parts == ()
