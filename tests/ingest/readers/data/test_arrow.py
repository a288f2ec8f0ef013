"""Claims about Parquet, Feather and Arrow files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_memory import InputError
from jupyter_memory.ingest import Document

pa = pytest.importorskip("pyarrow", reason="needs the extra `data`")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

Read = Callable[[Path], Document]

COLUMNS = (
    "customer_id (customer id): int64",
    "churnDate (churn date): timestamp[us]",
    "price: double, unit EUR",
    "home: struct",
    "home.city (home city): string",
    "plan: category of string",
    "tags: list of string",
)


@pytest.fixture
def table():
    columns = {
        "customer_id": pa.array([4711, 4712]),
        "churnDate": pa.array([None, None], pa.timestamp("us")),
        "price": pa.array([3.25, 9.75]),
        "home": pa.array([{"city": "Zürich"}] * 2),
        "plan": pa.array(["gold", "silver"]).dictionary_encode(),
        "tags": [["vip"], ["new"]],
    }
    plain = pa.table(columns)
    noted = [one.with_metadata({"unit": "EUR"}) if one.name == "price" else one for one in plain.schema]
    return plain.cast(pa.schema(noted))


def test_a_schema_is_told_with_rows_and_units(tmp_path: Path, read: Read, table) -> None:
    """In each of the formats; a stream does not state its rows."""
    parquet.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, tmp_path / "a.feather")
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)

    told = {path.suffix: read(path).parts[0].text.split("\n") for path in sorted(tmp_path.iterdir())}

    assert told == {
        ".arrow": ["Arrow table: 7 columns", *COLUMNS],
        ".feather": ["Feather table: 2 rows, 7 columns", *COLUMNS],
        ".parquet": ["Parquet table: 2 rows, 7 columns", *COLUMNS],
    }


def test_neither_values_nor_statistics_are_told(tmp_path: Path, read: Read, table) -> None:
    """Parquet notes the least and the greatest value of each column, and pandas its index, in the footer."""
    table.to_pandas().set_index("customer_id").to_parquet(tmp_path / "a.parquet")

    told = repr(read(tmp_path / "a.parquet"))

    assert not any(value in told for value in ("4711", "4712", "3.25", "9.75", "gold", "silver", "vip", "Zürich"))


def test_50_gb_of_parquet_are_read_by_their_footer(tmp_path: Path, read: Read, table) -> None:
    """What is between its first and its last bytes is a hole in the disk."""
    small, huge = tmp_path / "small.parquet", tmp_path / "huge.parquet"
    parquet.write_table(table, small)
    with huge.open("wb") as opened:
        opened.write(b"PAR1")
        opened.seek(50 * 2**30)
        opened.write(small.read_bytes()[4:])

    assert huge.stat().st_blocks * 512 < 1_000_000, "the disk of this machine has no holes"
    assert read(huge).parts == read(small).parts


def test_the_rows_of_many_batches_are_estimated(tmp_path: Path, read: Read) -> None:
    feather.write_feather(pa.table({"a": list(range(1_050))}), tmp_path / "a.feather", chunksize=100)

    assert read(tmp_path / "a.feather").parts[0].text.startswith("Feather table: 1,050 rows (estimated), 1 column")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.parquet", b"PAR1" + b"x" * 100, "damaged"),
        ("a.parquet", b"PAR1" + b"\0" * 40 + b"\xff\xff\xff\x7fPAR1", "damaged"),
        ("a.parquet", b"", "damaged"),
        ("a.parquet", b"PARE" + b"x" * 100, "encrypted"),
        ("a.parquet", b"customer,price\n1,2\n", "another format"),
        ("a.feather", b"FEA1" + b"x" * 100, "version 1"),
        ("a.feather", b"ARROW1" + b"x" * 100, "damaged"),
        ("a.arrow", b"\xff\xff\xff\xff\xff\xff\xff\x7f" + b"x" * 100, "damaged|memory"),
    ],
)
def test_what_is_damaged_or_something_else_says_so(
    tmp_path: Path, read: Read, name: str, content: bytes, says: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(InputError, match=says) as error:
        read(path)
    assert "xxx" not in str(error.value)
