"""Claims about data files that are compressed with gzip: read by their beginning, whatever would come out of them."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_memory import InputError
from jupyter_memory.ingest import Document

Read = Callable[[Path], Document]
ORDERS = "customer_id,churn_date,price [EUR]\n17,2026-03-02,3.25\n18,2026-03-04,9.75\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("orders.csv", ORDERS),
        ("orders.tsv", ORDERS.replace(",", "\t")),
        ("orders.jsonl", '{"customer_id": 17, "price": 3.25}\n{"customer_id": 18, "price": 9.75}\n'),
        ("orders.ndjson", '{"customer_id": 17}\n{"customer_id": 18}\n'),
    ],
)
def test_a_compressed_file_is_read_as_what_is_in_it(tmp_path: Path, read: Read, name: str, text: str) -> None:
    """The same columns and the same number of rows, in whatever case the name is written."""
    (tmp_path / name).write_text(text)
    compressed = tmp_path / f"{name.upper()}.gz"
    compressed.write_bytes(gzip.compress(text.encode()))

    found = read(compressed)

    assert [part.text for part in found.parts] == [part.text for part in read(tmp_path / name).parts]
    assert found.parts[0].metadata["rows"] == 2 and "17" not in repr(found.parts[0].text)


def test_several_members_are_one_file(tmp_path: Path, read: Read) -> None:
    """As bgzip writes them, and `cat a.csv.gz b.csv.gz`."""
    path = tmp_path / "a.csv.gz"
    path.write_bytes(b"".join(gzip.compress(line.encode()) for line in ORDERS.splitlines(keepends=True)))

    assert read(path).parts[0].metadata["rows"] == 2


def test_rows_of_a_long_file_are_estimated_by_what_its_beginning_takes(tmp_path: Path, read: Read) -> None:
    """Marked as an estimate; only the beginning comes out."""
    path = tmp_path / "long.csv.gz"
    rows = "".join(f"{i:06},{(i * 7919) % 99991}\n" for i in range(100_000))
    path.write_bytes(gzip.compress(f"order_id,amount\n{rows}".encode()))

    [part] = read(path).parts

    assert part.metadata["rows_estimated"] and 70_000 < part.metadata["rows"] < 140_000


def test_of_a_bomb_only_the_beginning_comes_out(tmp_path: Path, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of 100 KB that holds 100 MB of columns, or of lines, costs as much as any other."""
    came_out = []

    class Counting:
        def __init__(self, wbits: int) -> None:
            self._member = _DECOMPRESS(wbits=wbits)

        def decompress(self, data: bytes, most: int) -> bytes:
            came_out.append(found := self._member.decompress(data, most))
            return found

        def __getattr__(self, name: str) -> object:
            return getattr(self._member, name)

    monkeypatch.setattr(zlib, "decompressobj", Counting)
    for name, piece in (("wide.csv.gz", b"gene_a,"), ("long.csv.gz", b"a,b\n"), ("one.jsonl.gz", b'{"a":')):
        packer = zlib.compressobj(wbits=31)
        pieces = [packer.compress(piece * 150_000) for _ in range(100)]
        (tmp_path / name).write_bytes(b"".join([*pieces, packer.flush()]))
        assert (tmp_path / name).stat().st_size < 400_000
        try:
            told = repr(read(tmp_path / name).parts)
        except InputError as error:
            told = str(error)
        assert len(told) < 1_000
    assert sum(map(len, came_out)) < 10_000_000


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0", b"PK\x03\x04" + b"\0" * 50])
def test_what_is_no_gzip_says_so(tmp_path: Path, read: Read, content: bytes) -> None:
    """Whatever its name says."""
    (tmp_path / "a.csv.gz").write_bytes(content)

    with pytest.raises(InputError, match="not compressed with gzip"):
        read(tmp_path / "a.csv.gz")


def test_a_download_that_was_cut_off_is_read_as_far_as_it_came(tmp_path: Path, read: Read) -> None:
    """Its rows are an estimate."""
    path = tmp_path / "a.csv.gz"
    rows = "".join(f"{os.urandom(9).hex()},{i}\n" for i in range(9_000))
    whole = gzip.compress(f"order_id,amount\n{rows}".encode())
    path.write_bytes(whole[: len(whole) // 2])

    [part] = read(path).parts
    assert part.metadata["rows_estimated"] and "order_id" in part.text


def test_an_empty_file_has_no_table(tmp_path: Path, read: Read) -> None:
    """Nothing, or gzip of nothing."""
    for content in (b"", gzip.compress(b"")):
        (tmp_path / "a.csv.gz").write_bytes(content)
        assert read(tmp_path / "a.csv.gz").parts == ()


_DECOMPRESS = zlib.decompressobj
