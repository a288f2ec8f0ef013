"""Data files and documents damaged by chance: each is read or named in the report, and none ends a run.

Kinds whose library is not installed are left out.
"""

import gzip
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

from pdfs import ods, pdf_of, row, xls

from campaign import Dose, Figures, Loss
from campaign.mutations import damaged, indexed
from jupyter_memory import MemoryStore
from jupyter_memory.ingest import suffix_of

# Values of the seeds: whatever the damage, none may come into the store.
_VALUES = ("xylophone", "zeppelin")


def run(dose: Dose) -> Figures:
    """Index damaged files of each kind; raise where a good file is missing, a value is told or the store is unsound."""
    random = dose.random()
    (dose.folder / "seeds").mkdir()
    writers = [write for library, write in _WRITERS if not library or find_spec(library)]
    seeds = [(suffix_of(path), path.read_bytes()) for write in writers for path in write(dose.folder / "seeds")]
    kinds = [ending for ending, _ in seeds]
    with MemoryStore(dose.folder / "memory.sqlite") as store:
        wanted, read, failed = indexed(
            dose,
            store,
            dose.times(1_500, least=20),
            lambda folder, number: damaged(folder, number, seeds, kinds, random),
        )
    if told := [said for said in failed if any(value in said for value in _VALUES)]:
        raise Loss(f"a reason quotes the file: {told} (seed {dose.seed})")
    kept = b"".join(path.read_bytes() for path in dose.folder.glob("memory.sqlite*"))
    if told := [value for value in _VALUES if value.encode() in kept]:
        raise Loss(f"the store holds values of data files: {told} (seed {dose.seed})")
    return {"damaged files": wanted, "kinds": len(seeds), "read": read, "named in the report": len(failed)}


def _texts(folder: Path) -> list[Path]:
    rows = "".join(f"{i},{value},2026-03-02\n" for i, value in enumerate(_VALUES * 200))
    (folder / "a.csv").write_text(f"order_id,name,day\n{rows}")
    (folder / "a.tsv").write_text(f"order_id,name,day\n{rows}".replace(",", "\t"))
    (folder / "a.jsonl").write_text("".join(f'{{"order_id": {i}, "name": "zeppelin"}}\n' for i in range(200)))
    plain = [folder / f"a{ending}" for ending in (".csv", ".tsv", ".jsonl")]
    packed = [path.with_name(f"{path.name}.gz") for path in plain]
    for path, compressed in zip(plain, packed, strict=True):
        compressed.write_bytes(gzip.compress(path.read_bytes()))
    return [*plain, *packed]


def _sqlite(folder: Path) -> list[Path]:
    with closing(sqlite3.connect(folder / "a.sqlite")) as connection:
        connection.execute("create table orders(order_id integer primary key, name text default 'zeppelin')")
        connection.executemany("insert into orders(name) values (?)", [(value,) for value in _VALUES * 200])
        connection.execute("create index by_name on orders(name)")
        connection.execute("create view named as select name from orders")
        connection.commit()
    return [folder / "a.sqlite"]


def _pyarrow(folder: Path) -> list[Path]:
    import pyarrow as pa
    from pyarrow import feather, parquet

    table = pa.table({"order_id": list(range(200)), "name": list(_VALUES) * 100})
    parquet.write_table(table, folder / "a.parquet")
    feather.write_feather(table, folder / "a.feather")
    with pa.OSFile(str(folder / "a.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return [folder / f"a{ending}" for ending in (".parquet", ".feather", ".arrow")]


def _duckdb(folder: Path) -> list[Path]:
    import duckdb

    with duckdb.connect(str(folder / "a.duckdb")) as connection:
        connection.execute("create table orders(order_id integer, name varchar)")
        connection.executemany("insert into orders values (?, ?)", list(enumerate(_VALUES)))
    return [folder / "a.duckdb"]


def _workbook(folder: Path) -> list[Path]:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["order_id", "name"])
    for number, value in enumerate(_VALUES * 50):
        book.active.append([number, value])
    book.save(folder / "a.xlsx")
    return [folder / "a.xlsx", _stored(folder / "a.xlsx")]


def _stored(path: Path) -> Path:
    """Return an archive with its members as they are: then damage reaches the XML, not only what packs it."""
    other = path.with_stem("stored")
    with zipfile.ZipFile(path) as packed, zipfile.ZipFile(other, "w") as plain:
        for name in packed.namelist():
            plain.writestr(name, packed.read(name))
    return other


def _other_workbooks(folder: Path) -> list[Path]:
    (folder / "a.xls").write_bytes(xls())
    ods(folder / "a.ods", row("order_id", "name") + "".join(row("order-17", value) for value in _VALUES * 20))
    return [folder / "a.xls", folder / "a.ods", _stored(folder / "a.ods")]


def _pdf(folder: Path) -> list[Path]:
    (folder / "a.pdf").write_bytes(pdf_of(["Prices rose.", "Tariffs fell."], "Annual report", "D:20260302101500Z"))
    return [folder / "a.pdf"]


def _word(folder: Path) -> list[Path]:
    import docx

    document = docx.Document()
    document.add_heading("Prices", 1)
    document.add_paragraph("They rose.")
    document.save(str(folder / "a.docx"))
    return [folder / "a.docx", _stored(folder / "a.docx")]


def _slides(folder: Path) -> list[Path]:
    import pptx

    presentation = pptx.Presentation()
    presentation.slides.add_slide(presentation.slide_layouts[0]).shapes.title.text = "Prices"
    presentation.save(str(folder / "a.pptx"))
    return [folder / "a.pptx", _stored(folder / "a.pptx")]


_WRITERS: tuple[tuple[str, Callable[[Path], list[Path]]], ...] = (
    ("", _texts), ("", _sqlite), ("pyarrow", _pyarrow), ("duckdb", _duckdb), ("openpyxl", _workbook),
    ("python_calamine", _other_workbooks), ("pypdfium2", _pdf), ("docx", _word), ("pptx", _slides),
)  # fmt: skip
