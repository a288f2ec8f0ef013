"""The kinds of data files, and what reads each."""

from __future__ import annotations

from jupyter_memory.ingest.readers.base import Reader
from jupyter_memory.ingest.readers.data.delimited import DelimitedReader
from jupyter_memory.ingest.readers.data.json_lines import JsonLinesReader
from jupyter_memory.ingest.readers.isolated.isolation import IsolatedReader

_MODULES = "jupyter_memory.ingest.readers.data"
# Bytes at both ends of a file by which its states are told apart: headers, and the footers of Parquet and Arrow.
_SAMPLED = 65_536

DATA_FILES: tuple[Reader, ...] = (
    DelimitedReader("CSV", (".csv", ".csv.gz")),
    DelimitedReader("TSV", (".tsv", ".tab", ".tsv.gz"), ("\t",)),
    JsonLinesReader(),
    IsolatedReader(
        (".parquet", ".pq", ".feather", ".arrow"),
        "Parquet, Feather or Arrow file",
        f"{_MODULES}.arrow",
        needs=("pyarrow",),
        extra="data",
        version=1,
        sampled=_SAMPLED,
    ),
    IsolatedReader((".xlsx", ".xlsm"), "Excel workbook", f"{_MODULES}.workbook", version=1, sampled=_SAMPLED),
    IsolatedReader(
        (".xls", ".xlsb", ".ods"),
        "workbook",
        f"{_MODULES}.other_workbooks",
        needs=("python_calamine",),
        extra="data",
        version=1,
    ),
    IsolatedReader(
        (".sqlite", ".sqlite3", ".db", ".db3"), "database", f"{_MODULES}.databases", version=1, unopened=True
    ),
    IsolatedReader(
        (".duckdb",),
        "DuckDB database",
        f"{_MODULES}.databases",
        needs=("duckdb",),
        extra="data",
        version=1,
        unopened=True,
    ),
)
