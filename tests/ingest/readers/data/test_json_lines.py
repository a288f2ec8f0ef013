"""Claims about files of JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_memory import InputError
from jupyter_memory.ingest import Document

Read = Callable[[Path], Document]


def lines(folder: Path, *records: Any) -> Path:
    path = folder / "events.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_keys_are_told_with_their_types_and_inner_keys(tmp_path: Path, read: Read) -> None:
    records = [{"user_id": i, "address": {"city": "Zürich"}, "items": [{"price": 0.5}], "note": None} for i in range(5)]

    [part] = read(lines(tmp_path, *records)).parts

    assert part.text == (
        "JSON Lines file: 5 rows, 6 columns\n"
        "user_id (user id): integer\n"
        "address: object\n"
        "address.city (address city): text\n"
        "items: list\n"
        "items.price (items price): number\n"
        "note: empty"
    )


def test_keys_that_are_data_are_not_told(tmp_path: Path, read: Read) -> None:
    """Those of a mapping from people to numbers differ from record to record, and some look like values."""
    people = ("Anna", "Bob", "Carl", "Dora", "Emil", "Franka", "Gustav", "Hanna", "Ilse", "Jan")
    records = [{"day": i, "by": {name: 3}, f"{name.lower()}@example.org": 1} for i, name in enumerate(people)]

    told = repr(read(lines(tmp_path, *records)))

    assert "by: object" in told and not any(name.lower() in told.lower() for name in people)


@pytest.mark.parametrize("content", ["{", "no json\n", "[" * 100_000 + "\n"])
def test_what_is_not_json_says_so(tmp_path: Path, read: Read, content: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(content)

    with pytest.raises(InputError, match="not JSON"):
        read(path)


def test_one_endless_line_says_so(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": "' + "x" * 3_000_000)

    with pytest.raises(InputError, match="longer than 2 MB"):
        read(path)
