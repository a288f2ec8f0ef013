"""Data files and databases: which there are, what is damaged, and that a store has their columns and no values."""

import os
import random
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from blocked import run_without
from inside import bytes_beside
from pdfs import pdf_of

from jupyter_memory import InputError, MemoryStore
from jupyter_memory.ingest import digest, known_readers, read_file

ROOT = Path(__file__).parents[2]
OLE, ZIP = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"PK\x03\x04"
# Our own kinds of data files and documents: all that come after the texts.
SUFFIXES = known_readers().suffixes
KINDS = SUFFIXES[SUFFIXES.index(".csv") :]
DOCUMENTS = (".pdf", ".docx", ".pptx", ".odt", ".odp")


@pytest.mark.parametrize("suffix", KINDS)
def test_a_kind_is_documented_and_has_a_version(suffix):
    """Without a version, files would not be read anew after their reader has changed."""
    assert f"`{suffix}`" in (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    assert known_readers().traits_of(f"a{suffix}")[0] > 0


def test_data_files_of_any_size_are_taken_and_none_is_read_whole():
    """Of a document, which is all text, and of workbooks that must be read whole, the setting `max_file_mb` decides."""
    known = known_readers()
    bounded = {one for one in KINDS if any(known.traits_of(f"a{one}")[1:])}
    assert bounded == set(KINDS) - {".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", *DOCUMENTS}


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", b"a,b\n\0\0\0\1", "binary"), ("a.csv", b'a,b\n1,"' + b"x" * 200_000, "quote"),
        ("a.csv", b"PAR1\0\0", "binary"),
        *(("a.csv.gz", content, "not compressed with gzip") for content in (b"a,b\n1,2\n", b"\x1f\x8b")),
        *(
            ("a.csv.gz", content, "not compressed with gzip")
            for content in (b"\x1f\x8b\x08" + b"\0" * 5, ZIP + b"\0" * 50)
        ),
        *(("a.jsonl", content, "not JSON") for content in (b"{", b"no json\n", b"[" * 100_000 + b"\n")),
        ("a.jsonl", b'{"a": "' + b"x" * 3_000_000, "longer than 2 MB"),
        ("a.xlsx", b"", "another format"), ("a.xlsx", b"customer,price\n", "another format"),
        ("a.xlsx", ZIP + b"x" * 100, "damaged"), ("a.xlsx", OLE + b"x" * 600, "before 2007"),
        ("a.xlsx", OLE + "EncryptedPackage".encode("utf-16-le"), "password"),
        ("a.parquet", b"PAR1" + b"x" * 100, "damaged"),
        ("a.parquet", b"PAR1" + b"\0" * 40 + b"\xff\xff\xff\x7fPAR1", "damaged"),
        ("a.parquet", b"", "damaged"), ("a.parquet", b"PARE" + b"x" * 100, "encrypted"),
        ("a.parquet", b"customer,price\n1,2\n", "another format"), ("a.feather", b"FEA1" + b"x" * 100, "version 1"),
        ("a.feather", b"ARROW1" + b"x" * 100, "damaged"),
        ("a.arrow", b"\xff\xff\xff\xff\xff\xff\xff\x7f" + b"x" * 100, "damaged|memory"),
        ("a.db", b"customer,price\n", "neither"),
        ("a.db", b"SQLite format 3\0" + b"\xff" * 5_000, "no SQLite|damaged"),
        ("a.db", b"SQLite format 3\0", "no SQLite|damaged"), ("a.db", random.Random(1).randbytes(4_096), "neither"),
        ("a.duckdb", b"\0" * 8 + b"DUCK" + b"\xff" * 20_000, "damaged|crash"),
        *(
            (f"a{ending}", content, "^The file is")
            for ending in (".xls", ".xlsb", ".ods", *DOCUMENTS)
            for content in (b"", b"a,b\n", ZIP + b"xxx", OLE + b"xxx")
        ),
        ("a.pdf", b"%PDF-1.7\nxxx", "^The file is"),
    ],
    ids=lambda one: one if isinstance(one, str) else repr(one[:9]),
)  # fmt: skip
def test_what_is_damaged_or_something_else_says_so(read, name, content, says):
    """In words of ours, without any of its text."""
    if name[1:] not in SUFFIXES:
        pytest.skip("needs the extra `data` or `documents`")
    with pytest.raises(InputError, match=says) as error:
        read(name, content)
    assert "xxx" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("a.csv", content) for content in (b"", b"\n\n", b"\xef\xbb\xbf")),
        *(("a.csv.gz", content) for content in (b"", b"\x1f\x8b\x08\0\0\0\0\0\0\3\3\0\0\0\0\0\0\0\0\0")),
        # SQLite makes a file without a byte when a program opens one and writes nothing.
        *((name, b"") for name in ("a.sqlite", "a.db", "a.duckdb")),
    ],
)
def test_an_empty_file_has_no_table(read, name, content):
    assert read(name, content).parts == ()


COLUMNS = (
    "customer_id (customer id): int64\nchurnDate (churn date): timestamp[us]\nprice: double, unit EUR\nhome: struct\n"
    "home.city (home city): string\nplan: category of string\ntags: list of string"
)


@pytest.fixture
def pa():
    return pytest.importorskip("pyarrow", reason="needs the extra `data`")


@pytest.fixture
def table(pa):
    columns = {
        "customer_id": pa.array([4711, 4712]), "churnDate": pa.array([None, None], pa.timestamp("us")),
        "price": pa.array([3.25, 9.75]), "home": pa.array([{"city": "Zürich"}] * 2),
        "plan": pa.array(["gold", "silver"]).dictionary_encode(), "tags": [["vip"], ["new"]],
    }  # fmt: skip
    plain = pa.table(columns)
    noted = [one.with_metadata({"unit": "EUR"}) if one.name == "price" else one for one in plain.schema]
    return plain.cast(pa.schema(noted))


def test_a_schema_is_told_with_rows_and_units(tmp_path, read, pa, table):
    """In each of the formats; a stream does not state its rows, and those of many batches are estimated."""
    from pyarrow import feather, parquet

    parquet.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, tmp_path / "a.feather")
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    assert {path.suffix: read(path).parts[0].text for path in tmp_path.iterdir()} == {
        ".arrow": f"Arrow table: 7 columns\n{COLUMNS}",
        ".feather": f"Feather table: 2 rows, 7 columns\n{COLUMNS}",
        ".parquet": f"Parquet table: 2 rows, 7 columns\n{COLUMNS}",
    }
    feather.write_feather(pa.table({"a": list(range(1_050))}), tmp_path / "b.feather", chunksize=100)
    assert read("b.feather").parts[0].text.startswith("Feather table: 1,050 rows (estimated), 1 column")
    # Parquet notes the least and the greatest value of each column, and pandas its index, in the footer.
    table.to_pandas().set_index("customer_id").to_parquet(tmp_path / "a.parquet")
    told = repr(read("a.parquet"))
    assert not any(value in told for value in ("4711", "4712", "3.25", "9.75", "gold", "silver", "vip", "Zürich"))


def test_50_gb_of_parquet_are_read_by_their_footer(tmp_path, read, table):
    """What is between its first and its last bytes is a hole in the disk."""
    from pyarrow import parquet

    small, huge = tmp_path / "small.parquet", tmp_path / "huge.parquet"
    parquet.write_table(table, small)
    with huge.open("wb") as opened:
        opened.write(b"PAR1")
        opened.seek(50 * 2**30)
        opened.write(small.read_bytes()[4:])
    assert huge.stat().st_blocks * 512 < 1_000_000, "the disk of this machine has no holes"
    assert read(huge).parts == read(small).parts


def database(path, *statements):
    with closing(sqlite3.connect(path)) as connection:
        for statement in ("begin", *statements):
            connection.execute(statement)
        connection.commit()
    return path


@pytest.mark.parametrize("name", ["a.sqlite", "a.db"])
def test_each_table_and_view_is_told(tmp_path, read, name):
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
    columns = "customer_id (customer id): integer\nchurn_date (churn date): text\nplan: text\nfee: decimal(10, 2)"
    assert [(part.location, part.text) for part in found.parts] == [
        ("table customers", f"SQLite table customers: 1 row, 4 columns\n{columns}"),
        ("view gone", "SQLite view gone: 1 column\ncustomer_id (customer id): integer"),
    ]
    assert not any(value in repr(found) for value in ("4711", "never", "gold", "silver", "3.25", "confidential"))


def test_tables_beyond_the_first_thousand_are_noted(tmp_path):
    """The report says how many are left out, though another process reads the file."""
    path = database(tmp_path / "a.db", *(f"create table t{number} (a int)" for number in range(1_003)))
    drafts = read_file(path, root=tmp_path)
    assert len(drafts) == 1_000 and "3 more tables" in drafts[0].metadata["reading_notes"][0]


def test_our_own_stores_are_left_out(tmp_path, read):
    """Also their copies and backups, whatever they are called."""
    with MemoryStore(tmp_path / "memory.sqlite", "static") as store:
        store.add("Tariffs are net of tax.")
        store.backup(tmp_path / "backup.db")
    shutil.copy(tmp_path / "memory.sqlite", tmp_path / "copy.sqlite3")
    assert [read(name).parts for name in ("memory.sqlite", "backup.db", "copy.sqlite3")] == [(), (), ()]


def test_a_database_in_use_is_neither_locked_nor_written(tmp_path, read):
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


def test_a_hostile_schema_is_not_run(tmp_path, read):
    """A view may call functions and virtual tables may load modules: no more is asked than their names."""
    path = database(
        tmp_path / "a.sqlite",
        "create table customers(customer_id)",
        "create view harmful as select load_extension('/tmp/x.so') as a, readfile('/etc/passwd') as b",
        "pragma writable_schema = on",
        "insert into sqlite_schema values ('table', 'evil', 'evil', 0, 'create virtual table evil using no_module(1)')",
    )
    assert [part.location for part in read(path).parts] == ["table customers", "view harmful"]


def test_duckdb_tables_are_told_without_the_values_of_their_types(tmp_path, read):
    """An enumeration lists its values in its type; a file that another program has open says so."""
    duckdb = pytest.importorskip("duckdb", reason="needs the extra `data`")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("create table orders(order_id integer, mood enum('sad', 'happy'), fee decimal(10, 2))")
        connection.execute("insert into orders values (4711, 'sad', 3.25)")
        connection.execute("create schema old; create table old.orders(order_id integer)")
        with pytest.raises(InputError, match="Another program has the DuckDB file open"):
            read("a.duckdb")
    found = read("a.duckdb")
    columns = "order_id (order id): integer\nmood: enum\nfee: decimal(10,2)"
    assert [(part.location, part.text) for part in found.parts] == [
        ("table orders", f"DuckDB table orders: 1 row, 3 columns\n{columns}"),
        ("table old.orders", "DuckDB table old.orders: 0 rows, 1 column\norder_id (order id): integer"),
    ]
    assert not any(value in repr(found) for value in ("sad", "happy", "4711", "3.25"))


def test_a_file_is_found_by_its_columns_and_no_value_is_stored(tmp_path):
    """Among notebooks and notes, however a name is spelled: snake_case, camelCase, or in words."""
    data = shutil.copytree(ROOT / "notebooks" / "samples", tmp_path / "work") / "data"
    data.mkdir(exist_ok=True)
    for name, content in {
        "orders.csv": "order_id,customer_id,order_date\n1,2,2026-03-02\n",
        "reasons.csv": "churn_reason,count\nprice,3\nmoved,4\n",
        "events.jsonl": '{"eventId": 1, "customerName": "Anna"}\n',
        "churn.csv": "customerId,churnDate,plan\n1,2026-03-02,gold\n2,2026-03-04,silver\n",
        "secret.csv": "name,zzcolumn\nxylophone,77007700\nzeppelin,77007701\n",
    }.items():
        (data / name).write_text(content)
    tables = ("invoices(invoice_no integer, vat_rate real)", "contacts(contact_id integer, e_mail text)")
    value = "insert into contacts values (471147, 'confidential')"
    database(data / "crm.sqlite", *(f"create table {table}" for table in tables), value)
    with MemoryStore(tmp_path / "memory.sqlite", "static") as store:
        store.index(data.parent, progress=False)
        for question, title in {
            "which file has a customer_id and a churn date": "data/churn.csv",
            "customer id churn date": "data/churn.csv",
            "where are the order dates of customers": "data/orders.csv",
            "which table has the vat rate of an invoice": "data/crm.sqlite – invoices",
            "event_id customer_name": "data/events.jsonl",
            "lang:data churn reason": "data/reasons.csv",
        }.items():
            assert store.hits(question, limit=3).hits[0].memory.title == title, question
    kept = bytes_beside(tmp_path / "memory.sqlite")
    assert b"zzcolumn" in kept
    assert not any(value in kept for value in (b"xylophone", b"zeppelin", b"confidential", b"77007700"))


def test_a_huge_file_is_neither_hashed_nor_handed_out_by_its_size(tmp_path, index, monkeypatch):
    """50 GB of CSV beyond `max_file_mb` are indexed by their header, and an appended row is noticed."""
    path = tmp_path / "work" / "huge.csv"
    path.parent.mkdir()
    path.write_text("order_id,amount\n" + "17,3\n" * 100_000)
    os.truncate(path, 50 * 2**30)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    assert index(path.parent).files == 1
    [hit] = index.memory.hits("order_id").hits
    assert "order_id (order id): integer" in hit.memory.text and hit.memory.metadata["rows"] > 10**9
    assert index(path.parent).unchanged == 1
    with path.open("a") as file:
        file.write("17,3\n")
    assert index(path.parent).files == 1


def test_a_database_is_not_opened_to_see_whether_it_changed(tmp_path, monkeypatch):
    """Closing it would end the locks of this process; a renamed one is the same, as its size and time are."""
    path = tmp_path / "a.sqlite"
    path.write_bytes(b"x" * 100)
    before = digest(path)
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("it was opened"))
    monkeypatch.setattr(Path, "read_bytes", lambda *_: pytest.fail("it was read"))
    assert digest(path.rename(tmp_path / "b.sqlite")) == before


def test_the_store_itself_is_left_out(tmp_path):
    """It changes with every run, and a folder that is watched would never be up to date."""
    (tmp_path / "a.csv").write_text("order_id,amount\n1,2\n")
    with MemoryStore(tmp_path / "my [1] store.sqlite", "static") as store:
        assert store.index(tmp_path, progress=False).files == 1
        assert store.index(tmp_path, progress=False).unchanged == 1
        store.add("a note")
        assert store.stale(tmp_path) == 0


def test_bad_files_are_named_and_the_good_ones_read(folder, index):
    """A folder that is called like a file, a link to itself, and files that lie about their kind."""
    (folder / "dir.csv").mkdir()
    (folder / "dir.csv" / "in.csv").write_text("order_id,amount\n1,2\n")
    (folder / "loop.jsonl").symlink_to("loop.jsonl")
    (folder / "lie.csv").write_bytes(ZIP + b"\0\0")
    for name in ("lie.xlsx", "lie.sqlite"):
        (folder / name).write_text("order_id,amount\n1,2\n")
    report = index(folder)
    bad = ["lie.csv", "lie.sqlite", "lie.xlsx", "loop.jsonl"]
    assert sorted(Path(name).name for name, _ in report.failed) == bad
    assert report.files == 1 and index.memory.hits("order_id").hits[0].memory.title == "dir.csv/in.csv"


def test_without_an_extra_the_report_names_it(tmp_path, folder):
    """With the number of files that it would read; what was read while it was installed is kept."""
    pdf = folder / "a.pdf"
    pdf.write_bytes(pdf_of(["The invoice_no of a tariff."]))
    with MemoryStore(tmp_path / "memory.sqlite", "static") as store:
        store.index(folder, progress=False)
    for name in ("b.parquet", "c.pdf", "d.PDF", "e.docx"):
        (folder / name).write_text("x")
    code = """
sys.modules.update(dict.fromkeys(["pyarrow", "pypdfium2", "docx"]))
from jupyter_memory import MemoryStore
with MemoryStore(sys.argv[1], "static") as store:
    print([said for said in store.index(sys.argv[2], progress=False).skipped if "pip" in said[1]])
    print(store.hits("invoice_no").hits[0].memory.title)
"""
    skipped = [
        ("1 file (.parquet)", "to read it: pip install 'jupyter-memory[data]'"),
        ("4 files (.pdf 3, .docx)", "to read them: pip install 'jupyter-memory[documents]'"),
    ]
    told = run_without((), code, str(tmp_path / "memory.sqlite"), str(folder))
    assert told.splitlines() == [str(skipped), "a.pdf"]


def test_the_word_data_asks_for_no_kind_of_file(folder, index):
    """Unlike "python", it is in many questions, and would lift every data file."""
    for name in ("north", "south", "west", "east"):
        (folder / f"{name}.csv").write_text("order_id,training,amount\n1,2,3\n2,3,4\n")
    for number in range(12):
        index.memory.add(f"Lecture {number}: gradient descent and its learning rate.")
    index.memory.add("The training data were shuffled by week before the split.")
    index(folder)
    assert index.memory.hits("training data").hits[0].memory.kind == "note"
