"""Hits of files that changed or went since they were indexed, and what is not read anew of a file that changed."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hashing import Hashing
from inside import run_sql
from pictures import saved
from week import WorkTree

LONG_AGO = datetime(2024, 2, 5, 12, tzinfo=UTC)
# Leaves a store as a version did that knew only the times of files.
UNDATED = "update files set dated = 0"


@pytest.fixture
def indexed(index, folder):
    """A store that has three notes of a folder, and one that somebody typed."""
    for name in ("one", "two", "three"):
        (folder / f"{name}.md").write_text(f"The tariff of {name}.\n")
    index(folder)
    index.memory.add("A tariff that was typed.")
    return index.memory, folder


def seen(memory):
    return {Path(hit.memory.source).stem: hit.freshness for hit in memory.hits("tariff").hits}


def test_each_hit_says_whether_its_file_is_as_it_was(indexed):
    """Changed in length, changed in its bytes only, gone, untouched, only touched; a note has no file."""
    memory, folder = indexed
    os.utime(folder / "one.md", (1, 1))
    assert seen(memory) == {"one": "current", "two": "current", "three": "current", "": "unknown"}
    (folder / "one.md").write_text("The tariff of one fell.\n")
    (folder / "two.md").write_text("The tariff of TWO.\n")
    (folder / "three.md").unlink()
    assert seen(memory) == {"one": "changed", "two": "changed", "three": "gone", "": "unknown"}
    # A list without a question says it too, and so does a search that returns its lists.
    assert "gone" in {hit.freshness for hit in memory.hits("kind:file").hits}
    assert "gone" in {hit.freshness for hit in memory.trace("tariff").answer.hits}
    assert "gone" in set(memory.search("tariff")["freshness"])
    memory.index(folder, progress=False)
    assert seen(memory) == {"one": "current", "two": "current", "": "unknown"}


def test_a_notice_counts_the_files(indexed):
    """Not their cells; it names the day on which the first of them was indexed."""
    memory, folder = indexed
    assert memory.hits("tariff").notices == ()
    (folder / "one.md").write_text("Another tariff.\n")
    [notice] = memory.hits("tariff").notices
    assert notice.startswith("1 of these files has changed since ") and notice.endswith("brings the store up to date.")
    (folder / "two.md").unlink()
    (folder / "three.md").unlink()
    [notice] = memory.hits("tariff").notices
    assert "1 of these files has changed since" in notice and "and 2 no longer exist." in notice
    (folder / "one.md").write_text("The tariff of one.\n")
    assert "2 of these files no longer exist." in memory.hits("tariff").notices[0]


def test_a_search_looks_once_where_missing_files_were(indexed, monkeypatch):
    """Not for each of them: on a drive of the network, that takes a while."""
    memory, folder = indexed
    for name in ("one", "two", "three"):
        (folder / f"{name}.md").unlink()
    asked = []
    real = os.path.realpath
    monkeypatch.setattr(os.path, "realpath", lambda path, **given: asked.append(path) or real(path, **given))
    assert list(seen(memory).values()).count("gone") == 3
    assert asked.count(folder) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no place where drives are mounted")
def test_what_is_on_a_drive_that_is_not_connected_is_unknown(index, folder):
    """It is not gone: the drive may come back."""
    (folder / "one.md").write_text("The tariff of one.\n")
    index(folder)
    (folder / "one.md").unlink()
    os.utime(folder, (1, 1))  # as the empty folder that a drive is mounted on
    assert seen(index.memory) == {"one": "unknown"}


def test_two_spaces_have_files_of_their_own(store, folder):
    """One of them was indexed after the change."""
    (folder / "one.md").write_text("The tariff of one.\n")
    for space in ("early", "late"):
        store(space=space).index(folder, progress=False)
        (folder / "one.md").write_text("The tariff of one rose.\n")
    found = {hit.memory.space: hit.freshness for hit in store().hits("tariff").hits}
    assert found == {"early": "changed", "late": "current"}


def cells(count):
    made = {"cell_type": "code", "metadata": {}, "outputs": []}
    return [made | {"id": f"c{i}", "source": f"price_{i} = {i} * rate"} for i in range(count)]


@pytest.fixture
def five_hundred(notebook):
    path = notebook(*cells(500))
    os.utime(path, (LONG_AGO.timestamp(),) * 2)
    return path


def edit(path, cell, source):
    content = json.loads(path.read_text())
    content["cells"][cell]["source"] = source
    path.write_text(json.dumps(content))


def dates(memory):
    return {hit.memory.location: hit.memory.event_at for hit in memory.hits("kind:cell", limit=500).hits}


def test_one_touched_cell_of_five_hundred_is_one_text_to_embed(store, five_hundred):
    """Though the file has another date; the others keep their vectors, bit for bit."""
    texts = []
    memory = store(embedder=Hashing(before=texts.extend))
    found = []
    for written in (500, 1):
        memory.index(five_hundred, progress=False)
        assert len(texts) == written
        found.append({hit.memory.location: hit.cosine for hit in memory.hits("price_7 rate", limit=500).hits})
        texts.clear()
        edit(five_hundred, 7, "price_7 = tariff * rate")
    before, after = found
    assert len(before) == 500 and before.keys() == after.keys()
    assert {one for one in before if not np.array_equal(before[one], after[one], equal_nan=True)} <= {"c7"}


@pytest.mark.parametrize("options", [{}, {"embedder": None}], ids=str)
def test_a_cell_keeps_its_date_while_others_change(store, five_hundred, options):
    """The time of the file tells only of the cell that was edited; a date that the document states is taken anew."""
    memory = store(**options)
    memory.index(five_hundred, progress=False)
    edit(five_hundred, 7, "price_7 = tariff * rate")
    memory.index(five_hundred, progress=False)
    found = dates(memory)
    assert found.pop("c7").year >= 2026 and set(found.values()) == {LONG_AGO}
    content = json.loads(five_hundred.read_text())
    content["metadata"]["date"] = "2022-02-03"
    five_hundred.write_text(json.dumps(content))
    memory.index(five_hundred, progress=False)
    assert {one.year for one in dates(memory).values()} == {2022}


def test_workers_keep_dates_too(index, folder):
    paths = [folder / f"{number}.ipynb" for number in range(12)]
    for place, path in enumerate(paths):
        saved(path, *cells(3), pad="x" * 300_000)
        os.utime(path, (LONG_AGO.timestamp() + 60 * place,) * 2)
    index(folder)
    for path in paths:
        edit(path, 0, "tariff = 3")
    index(folder)
    hits = index.memory.hits("kind:cell", limit=99).hits
    found = {(hit.memory.location, hit.memory.event_at.year == LONG_AGO.year) for hit in hits}
    assert len(hits) == 36 and found == {("c0", False), ("c1", True), ("c2", True)}


def test_files_of_an_earlier_version_get_their_dates_once_and_nothing_is_embedded(store, tmp_path):
    """Those of their commits; ids and tags stay, the new day is found by its words, and the next run reads nothing."""
    texts = []
    memory, tree = store(embedder=Hashing(before=texts.extend)), WorkTree(tmp_path / "work")
    (tree.top / "tariffs.md").write_text("# Tariffs\n\nNet of tax.\n")
    (tree.top / "new.md").write_text("# New\n\nNot committed.\n")
    memory.index(tree.top, progress=False)
    before = {hit.memory.title: hit.memory for hit in memory.browsed(limit=9).hits}
    memory.update(before["tariffs.md"].id, tags=["decision"])
    tree.git("add", "tariffs.md")
    tree.git("commit", "-q", "-m", "λ", when=LONG_AGO)
    run_sql(memory, UNDATED)
    texts.clear()
    assert memory.index(tree.top, progress=False).files == 2
    after = {hit.memory.title: hit.memory for hit in memory.browsed(limit=9).hits}
    assert texts == [] and memory.doctor() == []
    assert after["tariffs.md"].event_at == LONG_AGO and after["new.md"].event_at == before["new.md"].event_at
    assert {title: one.id for title, one in after.items()} == {title: one.id for title, one in before.items()}
    assert after["tariffs.md"].tags == ("decision",)
    assert memory.hits("monday february 2024", limit=1).hits[0].memory.title == "tariffs.md"
    assert memory.index(tree.top, progress=False).unchanged == 2


def test_a_file_that_cannot_be_read_is_not_asked_for_its_date_each_time(index, folder):
    """It failed before an update, and is still counted as that."""
    (folder / "a.csv").write_bytes(b"\0\0")
    index(folder)
    run_sql(index.memory, UNDATED)
    report = index(folder)
    assert (report.failed, report.failed_before) == ((), 1)
