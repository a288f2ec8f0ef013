"""Claims about CSV and TSV files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_memory import InputError
from jupyter_memory.ingest import Document

Read = Callable[[Path], Document]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_columns_have_names_types_and_units(tmp_path: Path, read: Read, separator: str) -> None:
    """Whatever separates them."""
    path = tmp_path / "churn.csv"
    header = separator.join(("customer_id", "churn_date", "price [EUR]", "temp_c", "ort"))
    path.write_text(f"{header}\n" + separator.join(("17", "2026-03-02", "3.25", "21", "Zürich")) + "\n")

    [part] = read(path).parts

    assert part.text == (
        "CSV table: 1 row, 5 columns\n"
        "customer_id (customer id): integer\n"
        "churn_date (churn date): date\n"
        "price [EUR]: number, unit EUR\n"
        "temp_c (temp c): integer, unit °C\n"
        "ort: text"
    )
    assert part.metadata == {"format": "CSV", "columns": 5, "rows": 1, "rows_estimated": False}


def test_no_value_is_told(tmp_path: Path, read: Read) -> None:
    """Neither of a row, nor of a first row that is none of names."""
    for name, header in (("with.csv", "name,amount\n"), ("without.csv", "")):
        path = tmp_path / name
        path.write_text(f"{header}Anna Meier,4711\nBob Rossi,815\nCarl Weber,99\n")

        told = repr(read(path))

        assert not any(value in told for value in ("Anna", "Bob", "Weber", "4711", "815", "99"))
    assert "The columns have no names. Types: text, integer" in told


def test_addresses_and_secrets_in_a_header_are_counted_only(tmp_path: Path, read: Read) -> None:
    """A table that was pivoted has values for names."""
    path = tmp_path / "pivot.csv"
    path.write_text("day,anna@example.org,bob@example.org,ghp_" + "a1B2c3D4e5F6" * 3 + "\n2026-03-02,1,2,3\n")

    [part] = read(path).parts

    assert "example.org" not in part.text and "ghp_" not in part.text
    assert "4 columns" in part.text


def test_rows_of_a_long_file_are_estimated_and_marked(tmp_path: Path, read: Read) -> None:
    """By the length of its first lines; a short file is counted."""
    path = tmp_path / "long.csv"
    path.write_text("order_id,amount\n" + "".join(f"{i:06},{i % 90 + 10}\n" for i in range(100_000)))

    [part] = read(path).parts

    assert part.metadata["rows_estimated"] and abs(part.metadata["rows"] - 100_000) < 2_000
    assert "rows (estimated)" in part.text


def test_a_file_of_50_gb_is_read_by_its_beginning(tmp_path: Path, read: Read) -> None:
    """Whatever its size: the rest is a hole in the disk."""
    path = tmp_path / "huge.csv"
    path.write_text("order_id,amount\n" + "17,3\n" * 100_000)
    os.truncate(path, 50 * 2**30)

    [part] = read(path).parts

    assert "order_id (order id): integer" in part.text and part.metadata["rows"] > 10**9


def test_millions_of_columns_are_counted_as_far_as_they_are_read(tmp_path: Path, read: Read) -> None:
    """The first line alone is longer than what is read of the file."""
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"gene_{i}" for i in range(1_000_000)) + "\n" + ",".join("1" * 1_000_000) + "\n")

    [part] = read(path).parts

    assert part.text.startswith("CSV table: at least 1") and len(part.text) < 1_000


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"a,b\n\0\0\0\1", "binary"), (b'a,b\n1,"' + b"x" * 200_000, "quote"), (b"PAR1\0\0", "binary")],
)
def test_what_is_no_table_says_so(tmp_path: Path, read: Read, content: bytes, says: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)

    with pytest.raises(InputError, match=says):
        read(path)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_has_no_table(tmp_path: Path, read: Read, content: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)

    assert read(path).parts == ()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_other_encodings_are_read(tmp_path: Path, read: Read, encoding: str) -> None:
    """As Excel writes them; lines may end as on Windows, and a comment may stand above."""
    path = tmp_path / "a.csv"
    path.write_bytes("# von Zoë\r\nname;größe\r\nx;3\r\n".encode(encoding))

    assert "größe: integer" in read(path).parts[0].text
