"""Claims about the parts of a changed file that nobody touched."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from hashing import Hashing
from work_trees import WorkTree

from jupyter_memory import MemoryStore

LONG_AGO = datetime(2024, 2, 5, 12, tzinfo=UTC)


def cells(count: int) -> list[dict[str, Any]]:
    return [
        {"cell_type": "code", "id": f"c{i}", "source": f"price_{i} = {i} * rate", "metadata": {}, "outputs": []}
        for i in range(count)
    ]


@pytest.fixture
def five_hundred(notebook: Callable[..., Path]) -> Path:
    path = notebook(*cells(500))
    os.utime(path, (LONG_AGO.timestamp(),) * 2)
    return path


def edit(path: Path, cell: int, source: str) -> None:
    content = json.loads(path.read_text())
    content["cells"][cell]["source"] = source
    path.write_text(json.dumps(content))


def test_one_touched_cell_of_five_hundred_is_one_text_to_embed(
    store: Callable[..., MemoryStore], five_hundred: Path
) -> None:
    """Though the file has another date; the others keep their vectors, bit for bit."""
    texts: list[str] = []
    embedder = Hashing(before=texts.extend)
    memory = store(embedder=embedder)
    memory.index(five_hundred, progress=False)
    assert len(texts) == 500
    before = {hit.memory.location: hit.cosine for hit in memory.hits("price_7 rate", limit=500).hits}
    texts.clear()

    edit(five_hundred, 7, "price_7 = tariff * rate")
    memory.index(five_hundred, progress=False)

    [text] = texts
    assert "tariff" in text
    after = {hit.memory.location: hit.cosine for hit in memory.hits("price_7 rate", limit=500).hits}
    assert len(before) == 500 and before.keys() == after.keys()
    assert {one for one in before if not np.array_equal(before[one], after[one], equal_nan=True)} <= {"c7"}


@pytest.mark.parametrize("embedder", ["static", None])
def test_a_cell_keeps_its_date_while_others_change(
    store: Callable[..., MemoryStore], five_hundred: Path, embedder: str | None
) -> None:
    """The time of the file tells only of the cell that was edited."""
    memory = store() if embedder else store(embedder=None)
    memory.index(five_hundred, progress=False)
    edit(five_hundred, 7, "price_7 = tariff * rate")
    memory.index(five_hundred, progress=False)

    dates = {hit.memory.location: hit.memory.event_at for hit in memory.hits("kind:cell", limit=500).hits}
    assert dates.pop("c7").year >= 2026
    assert set(dates.values()) == {LONG_AGO}


def test_workers_keep_dates_too(store: Callable[..., MemoryStore], tmp_path: Path) -> None:
    """Files that other processes prepared are dated in the same way."""
    paths = []
    for number in range(12):
        path = tmp_path / f"{number}.ipynb"
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells(3)}
        content["cells"][1]["source"] = f"text_{number} = '''" + "all work and no play\n" * 15_000 + "'''"
        path.write_text(json.dumps(content))
        os.utime(path, (LONG_AGO.timestamp(),) * 2)
        paths.append(path)
    memory = store()
    memory.index(tmp_path, progress=False)
    for path in paths:
        edit(path, 0, "tariff = 3")
    memory.index(tmp_path, progress=False)

    dates = {(hit.memory.location, hit.memory.event_at == LONG_AGO) for hit in memory.hits("kind:cell", limit=99).hits}
    assert dates == {("c0", False), ("c1", True), ("c2", True)}


def test_a_date_that_the_document_states_is_taken_anew(store: Callable[..., MemoryStore], five_hundred: Path) -> None:
    """Somebody corrected it; no cell says anything else."""
    memory = store()
    memory.index(five_hundred, progress=False)
    content = json.loads(five_hundred.read_text())
    content["metadata"]["date"] = "2022-02-03"
    five_hundred.write_text(json.dumps(content))
    memory.index(five_hundred, progress=False)

    assert {hit.memory.event_at.year for hit in memory.hits("kind:cell", limit=500).hits} == {2022}


def undated(memory: MemoryStore) -> None:
    """Let a store be as a version left it that knew only the times of files."""
    with closing(apsw.Connection(str(memory.path))) as connection:
        connection.execute("update files set dated = 0")


def test_files_of_an_earlier_version_get_their_dates_once_and_nothing_is_embedded(
    store: Callable[..., MemoryStore], tmp_path: Path
) -> None:
    """Those of their commits; ids and tags stay, the new day is found by its words, and the next run reads nothing."""
    texts: list[str] = []
    memory = store(embedder=Hashing(before=texts.extend))
    tree = WorkTree(tmp_path / "work")
    (tree.top / "tariffs.md").write_text("# Tariffs\n\nNet of tax.\n")
    (tree.top / "new.md").write_text("# New\n\nNot committed.\n")
    memory.index(tree.top, progress=False)
    before = {hit.memory.title: hit.memory for hit in memory.browsed(limit=9).hits}
    memory.update(before["tariffs.md"].id, tags=["decision"])
    tree.git("add", "tariffs.md")
    tree.git("commit", "-q", "-m", "λ", when=LONG_AGO)
    undated(memory)
    texts.clear()

    assert memory.index(tree.top, progress=False).files == 2
    after = {hit.memory.title: hit.memory for hit in memory.browsed(limit=9).hits}
    assert texts == []
    assert after["tariffs.md"].event_at == LONG_AGO and after["new.md"].event_at == before["new.md"].event_at
    assert {title: one.id for title, one in after.items()} == {title: one.id for title, one in before.items()}
    assert after["tariffs.md"].tags == ("decision",) and memory.doctor() == []
    [found] = memory.hits("monday february 2024", limit=1).hits
    assert found.memory.title == "tariffs.md"
    assert memory.index(tree.top, progress=False).unchanged == 2


def test_a_file_that_cannot_be_read_is_not_asked_for_its_date_each_time(
    store: Callable[..., MemoryStore], tmp_path: Path
) -> None:
    """It failed before an update, and is still counted as that."""
    (tmp_path / "a.csv").write_bytes(b"\0\0")
    memory = store()
    memory.index(tmp_path, progress=False)
    undated(memory)

    report = memory.index(tmp_path, progress=False)
    assert (report.failed, report.failed_before) == ((), 1)
