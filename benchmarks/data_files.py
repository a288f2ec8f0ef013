"""How many data files and documents a second are read, and how many megabytes, by kind.

    python benchmarks/data_files.py [--files 60] [--rows 20000]

For each kind that can be read here, so many files of so many rows (or pages) are written and then read as an index run
reads them: by their headers, or whole. "one of 50 GB" is a file with a hole in it, where a kind allows that.
"""

from __future__ import annotations

import argparse
import gzip
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

from jupyter_memory.ingest.readers.fingerprint import digest
from jupyter_memory.ingest.reading import read_file

Write = Callable[[Path, int], None]
_HUGE = 50 * 2**30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--rows", type=int, default=20_000)
    options = parser.parse_args()
    print(f"{'kind':<10}{'files/s':>9}{'MB/s':>9}{'KB each':>9}{'ms for one of 50 GB':>22}")
    for suffix, library, rows, write in KINDS:
        if library and not find_spec(library):
            print(f"{suffix:<10}needs {library}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            _measure(Path(folder), suffix, write, options.files, rows or options.rows)


def _measure(folder: Path, suffix: str, write: Write, count: int, rows: int) -> None:
    first = folder / f"0{suffix}"
    write(first, rows)
    content = first.read_bytes()
    paths = [folder / f"{number}{suffix}" for number in range(count)]
    for path in paths:
        path.write_bytes(content)
    read_file(first, root=folder)  # the library is loaded
    seconds = _seconds(paths, folder)
    size = len(content) / 1e6
    huge = ""
    if grow := GROWS.get(suffix):
        grow(first, content)
        huge = f"{_seconds([first], folder) * 1000:.1f}"
    print(f"{suffix:<10}{count / seconds:>9.0f}{count * size / seconds:>9.1f}{size * 1000:>9.0f}{huge:>22}", flush=True)


def _seconds(paths: list[Path], folder: Path) -> float:
    begun = time.perf_counter()
    for path in paths:
        digest(path)
        read_file(path, root=folder)
    return time.perf_counter() - begun


def _rows(rows: int, separator: str) -> str:
    head = separator.join(("order_id", "customer_id", "order_date", "price [EUR]", "note"))
    return (
        head
        + "\n"
        + "".join(separator.join((str(i), str(i % 997), "2026-03-02", f"{i % 89}.25", "λ")) + "\n" for i in range(rows))
    )


def _csv(path: Path, rows: int) -> None:
    path.write_text(_rows(rows, ","))


def _csv_gz(path: Path, rows: int) -> None:
    path.write_bytes(gzip.compress(_rows(rows, ",").encode()))


def _jsonl(path: Path, rows: int) -> None:
    path.write_text("".join(f'{{"order_id": {i}, "home": {{"city": "Malmö"}}, "price": 3.25}}\n' for i in range(rows)))


def _sqlite(path: Path, rows: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for table in ("orders", "customers", "invoices"):
            connection.execute(f"create table {table}(order_id integer, order_date text, price real)")
            connection.executemany(f"insert into {table} values (?, '2026-03-02', 3.25)", [(i,) for i in range(rows)])
        connection.commit()


def _duckdb(path: Path, rows: int) -> None:
    import duckdb

    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table orders as select i as order_id, 3.25 as price from range({rows}) t(i)")


def _xlsx(path: Path, rows: int) -> None:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("orders")
    sheet.append(["order_id", "order_date", "price [EUR]"])
    for number in range(rows):
        sheet.append([number, "2026-03-02", 3.25])
    book.save(path)


def _arrow(path: Path, rows: int) -> None:
    import pyarrow as pa
    from pyarrow import feather, parquet

    table = pa.table({"order_id": list(range(rows)), "price": [3.25] * rows, "note": ["λ"] * rows})
    (parquet.write_table if path.suffix == ".parquet" else feather.write_feather)(table, path)


def _pdf(path: Path, pages: int) -> None:
    texts = [f"BT /F1 12 Tf 50 700 Td (Page {i}: tariffs are net of tax, and prices rose.) Tj ET" for i in range(pages)]
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(pages))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, text in enumerate(texts):
        page = f"/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 600 800] /Contents {5 + 2 * i} 0 R"
        objects += [f"<< /Type /Page /Parent 2 0 R {page} >>", f"<< /Length {len(text)} >>\nstream\n{text}\nendstream"]
    whole, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(whole))
        whole += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(whole)}\n%%EOF\n"
    path.write_text(f"{whole}xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}")


def _docx(path: Path, sections: int) -> None:
    import docx

    document = docx.Document()
    for number in range(sections):
        document.add_heading(f"Section {number}", 1)
        document.add_paragraph("Tariffs are net of tax, and prices rose. " * 10)
    document.save(str(path))


def _pptx(path: Path, slides: int) -> None:
    import pptx

    presentation = pptx.Presentation()
    for number in range(slides):
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number}"
        slide.placeholders[1].text = "Tariffs are net of tax, and prices rose."
    presentation.save(str(path))


def _longer(path: Path, content: bytes) -> None:
    """Let a file end in a hole."""
    os.truncate(path, _HUGE)


def _between(path: Path, content: bytes) -> None:
    """Let a Parquet file have a hole between its first bytes and its footer."""
    with path.open("wb") as opened:
        opened.write(content[:4])
        opened.seek(_HUGE)
        opened.write(content[4:])


GROWS: dict[str, Callable[[Path, bytes], None]] = {
    ".csv": _longer,
    ".jsonl": _longer,
    ".sqlite": _longer,
    ".parquet": _between,
}
# By suffix: the library that is needed, rows or pages (0: as asked), what writes one.
KINDS: tuple[tuple[str, str, int, Write], ...] = (
    (".csv", "", 0, _csv),
    (".csv.gz", "", 0, _csv_gz),
    (".jsonl", "", 0, _jsonl),
    (".parquet", "pyarrow", 0, _arrow),
    (".feather", "pyarrow", 0, _arrow),
    (".xlsx", "openpyxl", 0, _xlsx),
    (".sqlite", "", 0, _sqlite),
    (".duckdb", "duckdb", 0, _duckdb),
    (".pdf", "pypdfium2", 30, _pdf),
    (".docx", "docx", 30, _docx),
    (".pptx", "pptx", 30, _pptx),
)

if __name__ == "__main__":
    main()
