"""How many files a second are read, how many megabytes, and how many go into a store, by kind of file.

    python benchmarks/data_files.py [--kinds .py .csv] [--files 30] [--kilobytes 40] [--rows 20000]

Text (scripts, notebooks, Markdown, HTML …) is made of the samples of the tests, so many kilobytes a file; the baseline
of each kind is plain text of the same words, measured in turn with it. Data files and documents have so many rows, or
30 pages; their baseline is the first of them. "Read" is what an index run reads, by headers or whole, with the search
for secrets; "indexed" is `MemoryStore.index` with the static model into a store on disk. "50 GB" is the time of one
file with a hole in it, where a kind allows that. Times are the best of three rounds.
"""

from __future__ import annotations

import gzip
import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

from measure import ROOT, parser_of, table, timed

from jupyter_memory import MemoryStore
from jupyter_memory.ingest import digest, read_file

sys.path.insert(0, str(ROOT / "tests" / "helpers"))
from kinds import SAMPLES
from pdfs import pdf_of

ROUNDS = 3
HUGE = 50 * 2**30
PAGES = 30


def csv(path: Path, rows: int) -> None:
    """Write a table as comma-separated values, compressed if its name says so."""
    lines = (f"{i},{i % 997},2026-03-02,{i % 89}.25,λ\n" for i in range(rows))
    content = ("order_id,customer_id,order_date,price [EUR],note\n" + "".join(lines)).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def jsonl(path: Path, rows: int) -> None:
    """Write JSON lines."""
    path.write_text("".join(f'{{"order_id": {i}, "home": {{"city": "Malmö"}}, "price": 3.25}}\n' for i in range(rows)))


def sqlite(path: Path, rows: int) -> None:
    """Write three tables into a database."""
    with closing(sqlite3.connect(path)) as connection:
        for name in ("orders", "customers", "invoices"):
            connection.execute(f"create table {name}(order_id integer, order_date text, price real)")
            connection.executemany(f"insert into {name} values (?, '2026-03-02', 3.25)", [(i,) for i in range(rows)])
        connection.commit()


def duckdb(path: Path, rows: int) -> None:
    """Write a table into a database."""
    import duckdb

    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table orders as select i as order_id, 3.25 as price from range({rows}) t(i)")


def xlsx(path: Path, rows: int) -> None:
    """Write a workbook with one sheet."""
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("orders")
    sheet.append(["order_id", "order_date", "price [EUR]"])
    for number in range(rows):
        sheet.append([number, "2026-03-02", 3.25])
    book.save(path)


def arrow(path: Path, rows: int) -> None:
    """Write a table as Parquet or Feather."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    columns = pa.table({"order_id": list(range(rows)), "price": [3.25] * rows, "note": ["λ"] * rows})
    (parquet.write_table if path.suffix == ".parquet" else feather.write_feather)(columns, path)


def pdf(path: Path, _: int) -> None:
    """Write pages with a line of text each."""
    path.write_bytes(pdf_of([f"Page {i}: tariffs are net of tax, and prices rose." for i in range(PAGES)]))


def docx(path: Path, _: int) -> None:
    """Write sections with a heading each."""
    import docx

    document = docx.Document()
    for number in range(PAGES):
        document.add_heading(f"Section {number}", 1)
        document.add_paragraph("Tariffs are net of tax, and prices rose. " * 10)
    document.save(str(path))


def pptx(path: Path, _: int) -> None:
    """Write slides."""
    import pptx

    presentation = pptx.Presentation()
    for number in range(PAGES):
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number}"
        slide.placeholders[1].text = "Tariffs are net of tax, and prices rose."
    presentation.save(str(path))


def grow(path: Path) -> None:
    """Let a file end in a hole, a Parquet file have one between its first bytes and its footer."""
    if path.suffix == ".parquet":
        content = path.read_bytes()
        with path.open("wb") as opened:
            opened.write(content[:4])
            opened.seek(HUGE)
            opened.write(content[4:])
    else:
        os.truncate(path, HUGE)


# By ending: the library that is needed, and what writes one.
WRITERS: dict[str, tuple[str, Callable[[Path, int], None]]] = {
    ".csv": ("", csv),
    ".csv.gz": ("", csv),
    ".jsonl": ("", jsonl),
    ".parquet": ("pyarrow", arrow),
    ".feather": ("pyarrow", arrow),
    ".xlsx": ("openpyxl", xlsx),
    ".sqlite": ("", sqlite),
    ".duckdb": ("duckdb", duckdb),
    ".pdf": ("pypdfium2", pdf),
    ".docx": ("docx", docx),
    ".pptx": ("pptx", pptx),
}
CAN_GROW = (".csv", ".jsonl", ".sqlite", ".parquet")


def fill(folder: Path, kind: str, files: int, content: bytes) -> list[Path]:
    """Write files, all different, and return them."""
    folder.mkdir()
    for number in range(files):
        own = content if kind in WRITERS else content.replace(b"net", f"net{number}".encode())
        (folder / f"{number}{kind}").write_bytes(own)
    return sorted(folder.iterdir())


def read(paths: list[Path]) -> None:
    """Read files as an index run does."""
    for path in paths:
        digest(path)
        read_file(path, root=path.parent)


def indexed(paths: list[Path]) -> None:
    """Index a folder into a new store."""
    with tempfile.TemporaryDirectory() as folder, MemoryStore(f"{folder}/memory.sqlite", "static") as store:
        store.index(paths[0].parent, progress=False)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--kinds", nargs="*", help="endings of names (default: all)")
    parser.add_argument("--files", type=int, default=30)
    parser.add_argument("--kilobytes", type=int, default=40, help="of a text")
    parser.add_argument("--rows", type=int, default=20_000, help="of a data file")
    options = parser.parse_args()
    rows = [("kind", "kB each", "read: files/s", "MB/s", "to base", "indexed: files/s", "MB/s", "to base", "50 GB, ms")]
    first_data: list[float] = []
    for kind in options.kinds or [*SAMPLES, *WRITERS]:
        library, write = WRITERS.get(kind, ("", None))
        if library and not find_spec(library):
            print(f"{kind} is left out: it needs {library}.")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder, huge = Path(scratch), ""
            if write is None:
                sample = SAMPLES[kind].encode()
                content = sample * max(1, options.kilobytes * 1_000 // len(sample))
            else:
                one = folder / f"one{kind}"
                write(one, options.rows)
                content = one.read_bytes()
                read([one])  # the library is loaded
                if kind in CAN_GROW:
                    write(one.with_name(f"huge{kind}"), 20_000)  # enough that the hole is not among the first rows
                    grow(one := one.with_name(f"huge{kind}"))
                    huge = f"{timed(lambda one=one: read([one])) * 1000:.1f}"
            ours = fill(folder / "kind", kind, options.files, content)
            sides = [ours] if write else [ours, fill(folder / "text", ".txt", options.files, content)]
            megabytes = sum(path.stat().st_size for path in ours) / 1e6
            cells: list[str] = []
            found = []
            for work in (read, indexed):
                rounds = [[timed(lambda side=side, work=work: work(side)) for side in sides] for _ in range(ROUNDS)]
                found.append([min(seconds) for seconds in zip(*rounds, strict=True)])
            if write is not None:
                first_data = first_data or [seconds for [seconds] in found]
                found = [[*seconds, base] for seconds, base in zip(found, first_data, strict=True)]
            for seconds, base in found:
                cells += [f"{len(ours) / seconds:,.0f}", f"{megabytes / seconds:.2f}", f"{seconds / base:.2f}x"]
            rows.append((kind, f"{megabytes * 1000 / len(ours):.0f}", *cells, huge))
    table(rows)


if __name__ == "__main__":
    main()
