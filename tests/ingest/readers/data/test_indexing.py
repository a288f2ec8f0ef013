"""Claims about data files in a store: found by their columns, left alone otherwise."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.ingest import indexer
from jupyter_memory.ingest.readers import registry
from jupyter_memory.ingest.readers.isolated import IsolatedReader
from jupyter_memory.ingest.readers.registry import digest
from jupyter_memory.ingest.workers import workers_for

SAMPLES = Path(__file__).parents[4] / "notebooks" / "samples"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of notebooks and notes with some data files among them."""
    root = tmp_path / "work"
    shutil.copytree(SAMPLES, root)
    data = root / "data"
    data.mkdir(exist_ok=True)
    (data / "orders.csv").write_text("order_id,customer_id,order_date\n1,2,2026-03-02\n")
    (data / "reasons.csv").write_text("churn_reason,count\nprice,3\nmoved,4\n")
    (data / "events.jsonl").write_text('{"eventId": 1, "customerName": "Anna"}\n')
    (data / "churn.csv").write_text("customerId,churnDate,plan\n1,2026-03-02,gold\n2,2026-03-04,silver\n")
    with closing(sqlite3.connect(data / "crm.sqlite")) as connection:
        connection.execute("create table invoices(invoice_no integer, vat_rate real)")
        connection.execute("create table contacts(contact_id integer, e_mail text)")
    return root


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("which file has a customer_id and a churn date", "data/churn.csv"),
        ("customer id churn date", "data/churn.csv"),
        ("where are the order dates of customers", "data/orders.csv"),
        ("which table has the vat rate of an invoice", "data/crm.sqlite – invoices"),
        ("event_id customer_name", "data/events.jsonl"),
        ("lang:data churn reason", "data/reasons.csv"),
    ],
)
def test_a_file_is_found_by_its_columns(folder: Path, tmp_path: Path, question: str, title: str) -> None:
    """Among all else, however a name is spelled: snake_case, camelCase, or in words."""
    with MemoryStore(tmp_path / "memory.sqlite", "static") as store:
        store.index(folder, progress=False)

        assert store.hits(question, limit=3).hits[0].memory.title == title


def test_values_are_nowhere_in_the_store(folder: Path, tmp_path: Path) -> None:
    """The bytes of the file have the columns and none of the values."""
    with closing(sqlite3.connect(folder / "data" / "crm.sqlite")) as connection:
        connection.execute("insert into contacts values (471147, 'confidential')")
        connection.commit()
    (folder / "data" / "secret.csv").write_text("name,zzcolumn\nxylophone,77007700\nzeppelin,77007701\n")
    with MemoryStore(tmp_path / "memory.sqlite", "static") as store:
        store.index(folder, progress=False)
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("memory.sqlite*"))

    assert b"zzcolumn" in kept
    assert not any(value in kept for value in (b"xylophone", b"zeppelin", b"confidential", b"77007700"))


def test_a_huge_file_is_neither_hashed_nor_handed_out_by_its_size(tmp_path: Path, store: Callable) -> None:
    """50 GB of CSV beyond `max_file_mb` are indexed by their header, and an appended row is noticed."""
    path, opened = tmp_path / "work" / "huge.csv", store()
    path.parent.mkdir()
    path.write_text("order_id,amount\n" + "17,3\n" * 100_000)
    os.truncate(path, 50 * 2**30)

    assert workers_for([path]) == 0
    assert opened.index(path.parent, progress=False).files == 1
    assert opened.index(path.parent, progress=False).unchanged == 1
    with path.open("a") as file:
        file.write("17,3\n")
    assert opened.index(path.parent, progress=False).files == 1


def test_a_database_is_not_opened_to_see_whether_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing it would end the locks of this process; a renamed one is the same, as its size and time are."""
    path = tmp_path / "a.sqlite"
    path.write_bytes(b"x" * 100)
    before = digest(path)
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("it was opened"))
    monkeypatch.setattr(Path, "read_bytes", lambda *_: pytest.fail("it was read"))

    assert digest(path.rename(tmp_path / "b.sqlite")) == before


def test_the_store_itself_is_left_out(tmp_path: Path) -> None:
    """It changes with every run, and a folder that is watched would never be up to date."""
    (tmp_path / "a.csv").write_text("order_id,amount\n1,2\n")
    with MemoryStore(tmp_path / "my [1] store.sqlite", "static") as store:
        assert store.index(tmp_path, progress=False).files == 1
        assert store.index(tmp_path, progress=False).unchanged == 1
        store.add("a note")
        assert store.stale(tmp_path) == 0


def test_workers_read_the_same(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each worker process has a process of its own for parsers."""
    found = []
    for count in (0, 1):
        monkeypatch.setattr(indexer, "workers_for", lambda paths, count=count: count)
        with MemoryStore(tmp_path / f"{count}.sqlite", "static") as store:
            store.index(folder / "data", progress=False)
            found.append(sorted((hit.memory.title, hit.memory.text) for hit in store.browsed(limit=50).hits))

    assert found[0] == found[1] and len(found[0]) == 6


def test_bad_files_are_named_and_the_good_ones_read(tmp_path: Path, store: Callable) -> None:
    """A folder that is called like a file, a link to itself, and files that lie about their kind."""
    opened, root = store(), tmp_path / "work"
    (root / "dir.csv").mkdir(parents=True)
    (root / "dir.csv" / "in.csv").write_text("order_id,amount\n1,2\n")
    (root / "loop.parquet").symlink_to("loop.parquet")
    (root / "lie.xlsx").write_text("order_id,amount\n1,2\n")
    (root / "lie.csv").write_bytes(b"PK\x03\x04\0\0")
    (root / "lie.sqlite").write_text("order_id,amount\n1,2\n")

    report = opened.index(root, progress=False)

    assert sorted(Path(name).name for name, _ in report.failed) == [
        "lie.csv",
        "lie.sqlite",
        "lie.xlsx",
        "loop.parquet",
    ]
    assert report.files == 1 and opened.hits("order_id").hits[0].memory.title == "dir.csv/in.csv"


@pytest.fixture
def without_libraries(monkeypatch: pytest.MonkeyPatch):
    """Return a function after which the readers are those of an installation without extras."""

    def take_away() -> None:
        bare = tuple(
            IsolatedReader(one.suffixes, one.what, one.parser, ("not_installed",), one.extra or "documents")
            if isinstance(one, IsolatedReader)
            else one
            for one in registry.BUILT_IN
        )
        monkeypatch.setattr(registry, "BUILT_IN", bare)
        registry._found.cache_clear()

    yield take_away
    monkeypatch.undo()
    registry._found.cache_clear()


def test_without_an_extra_the_report_names_it(tmp_path: Path, store: Callable, without_libraries) -> None:
    """With the number of files that it would read; what was read while it was installed is kept."""
    opened, root = store(), tmp_path / "work"
    root.mkdir()
    with closing(sqlite3.connect(root / "a.sqlite")) as connection:
        connection.execute("create table invoices(invoice_no integer)")
    opened.index(root, progress=False)
    without_libraries()
    for name in ("b.parquet", "c.pdf", "d.PDF", "e.docx"):
        (root / name).write_text("x")

    report = opened.index(root, progress=False)

    assert [said for said in report.skipped if "pip" in said[1]] == [
        ("1 file (.parquet)", "to read it: pip install 'jupyter-memory[data]'"),
        ("4 files (.pdf 2, .docx, .sqlite)", "to read them: pip install 'jupyter-memory[documents]'"),
    ]
    assert opened.hits("invoice_no").hits[0].memory.title == "a.sqlite – invoices"


def test_the_word_data_asks_for_no_kind_of_file(tmp_path: Path, store: Callable) -> None:
    """Unlike "python", it is in many questions, and would lift every data file."""
    opened, root = store(), tmp_path / "work"
    root.mkdir()
    for name in ("north", "south", "west", "east"):
        (root / f"{name}.csv").write_text("order_id,training,amount\n1,2,3\n2,3,4\n")
    for number in range(12):
        opened.add(f"Lecture {number}: gradient descent and its learning rate.")
    opened.add("The training data were shuffled by week before the split.")
    opened.index(root, progress=False)

    assert opened.hits("training data").hits[0].memory.kind == "note"
