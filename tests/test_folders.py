"""The folders of a store: listed with what came from them, watched, compared with the disk, renamed and removed."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime

import pytest

from jupyter_memory.errors import InputError

LAMBDA = "# Poisson λ\n\nThe λ of the Poisson model is 3.2 orders an hour."
ZURICH = "# Zürich\n\nSales in Zürich rose by four percent after the price cut."


def notebook(*sources):
    """Return a notebook of code cells without ids."""
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []} for source in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


@pytest.fixture
def week_folder(tmp_path):
    """A folder with a note on the λ, one on Zürich, and a notebook of two cells."""
    folder = tmp_path / "wöche"
    (folder / "notes").mkdir(parents=True)
    (folder / "lambda.md").write_text(LAMBDA)
    (folder / "notes" / "zürich.md").write_text(ZURICH)
    (folder / "prices.ipynb").write_text(notebook("prices = load('prices.csv')", "prices.groupby('shop').mean()"))
    return folder


@pytest.fixture
def filled(store, week_folder):
    """A store that has indexed the folder."""
    memory = store()
    memory.index(week_folder, progress=False)
    return memory


def by_source(memory):
    """Return id, tags and pin of every memory, by source and location."""
    hits = memory.browsed(limit=1000).hits
    return {
        (hit.memory.source, hit.memory.location): (hit.memory.id, hit.memory.tags, hit.memory.pinned) for hit in hits
    }


def test_an_indexed_folder_is_listed(filled, week_folder):
    """A folder that was indexed is listed with its files and memories, not watched, not compared with the disk."""
    (folder,) = filled.folders()

    assert (folder.path, folder.watched, folder.changed, folder.exists) == (str(week_folder), False, None, True)
    assert (folder.files, folder.memories) == (3, 4)
    assert (datetime.now(UTC) - folder.indexed_at).total_seconds() < 600


def test_a_folder_within_a_folder(filled, week_folder):
    """What lies in a listed folder is not listed; a folder above takes the place of those in it that nobody watches."""
    filled.index(week_folder / "notes", progress=False)
    assert [folder.path for folder in filled.folders()] == [str(week_folder)]

    filled.watch(week_folder / "notes")
    filled.index(week_folder.parent / "wöche", progress=False)
    assert [folder.path for folder in filled.folders()] == [str(week_folder), str(week_folder / "notes")]
    (week_folder.parent / "other.md").write_text("Other")
    filled.index(week_folder.parent, progress=False)
    assert [folder.path for folder in filled.folders()] == [str(week_folder.parent), str(week_folder / "notes")]


def test_files_of_an_older_store(filled, week_folder):
    """Files that were indexed before folders were noted stand for the topmost folder that holds them."""
    with filled._database.write() as connection:
        connection.execute("delete from folders")
    (folder,) = filled.folders()

    assert (folder.path, folder.files, folder.watched) == (str(week_folder), 3, False)
    assert folder.indexed_at is not None


def test_a_single_file(store, week_folder):
    """A file that was indexed by itself is listed as itself, so that its folder is not taken for indexed."""
    memory = store()
    memory.index(week_folder / "lambda.md", progress=False)
    (one,) = memory.folders()

    assert (one.path, one.files, memory.stale(one.path)) == (str(week_folder / "lambda.md"), 1, 0)


def test_watching(filled, week_folder):
    """A folder is watched until it is said otherwise, and indexing it again changes nothing of that."""
    filled.watch(week_folder)
    filled.index(week_folder, progress=False)
    assert [folder.watched for folder in filled.folders()] == [True]

    filled.watch(week_folder, False)
    assert [folder.watched for folder in filled.folders()] == [False]
    with pytest.raises(InputError, match="Index it first"):
        filled.watch(week_folder.parent / "elsewhere")


def test_a_new_folder_can_be_watched(store, tmp_path):
    """An empty folder is indexed and watched before anything is in it; what comes into it is of that folder."""
    folder, memory = tmp_path / "neu", store()
    folder.mkdir()
    assert memory.index(folder, progress=False).files == 0

    memory.watch(folder)
    assert [(one.path, one.watched, one.files) for one in memory.folders()] == [(str(folder), True, 0)]

    (folder / "lambda.md").write_text(LAMBDA)
    memory.index(folder / "lambda.md", progress=False)
    assert [(one.path, one.watched, one.files) for one in memory.folders()] == [(str(folder), True, 1)]


def test_spaces_have_folders_of_their_own(store, week_folder):
    """A folder that was indexed into one space is not listed in another."""
    store(space="shops").index(week_folder, progress=False)

    assert len(store(space="shops").folders()) == 1
    assert store(space="λ").folders() == []


def test_comparing_with_the_disk(filled, week_folder):
    """New, gone and changed files are counted; a file that was only touched has not changed."""
    assert filled.stale(week_folder) == 0 == filled.folders(compare=True)[0].changed

    os.utime(week_folder / "lambda.md", (1e9, 1e9))
    assert filled.stale(week_folder) == 0
    (week_folder / "lambda.md").write_text(LAMBDA.replace("3.2", "3.3"))
    (week_folder / "new.md").write_text("New")
    (week_folder / "notes" / "zürich.md").unlink()
    assert filled.stale(week_folder) == 3 == filled.folders(compare=True)[0].changed
    assert filled.stale(week_folder / "notes") == 1
    assert filled.stale(week_folder.parent / "elsewhere") == 0
    filled.index(week_folder, progress=False)
    assert filled.stale(week_folder) == 0


def test_a_folder_that_is_gone(filled, week_folder):
    """A folder that is no longer there is listed as such, and all of its files are gone."""
    week_folder.rename(week_folder.parent / "gone")
    (folder,) = filled.folders(compare=True)

    assert (folder.exists, folder.changed, folder.files) == (False, 3, 3)


def test_removing_a_folder(filled, week_folder):
    """Removing a folder forgets what was indexed from it and its listing; files, and notes about them, stay."""
    note = filled.add("Ask Łukasz about λ", source=str(week_folder / "lambda.md"))
    files = sorted(week_folder.rglob("*.*"))

    assert filled.remove_folder(week_folder) == 4
    assert filled.folders() == [] and sorted(week_folder.rglob("*.*")) == files
    assert [hit.memory.id for hit in filled.browsed().hits] == [note.id]


@pytest.mark.parametrize("choice", [{"everything": True}, {"source": "folder"}])
def test_forgetting_a_folder(filled, week_folder, bytes_of, choice):
    """A folder all of whose memories are forgotten is listed and watched no longer, and its name leaves the file."""
    filled.watch(week_folder)
    assert week_folder.name.encode() in bytes_of(filled.path)
    filled.forget(**({"source": str(week_folder)} if "source" in choice else choice))

    assert filled.folders() == []
    assert week_folder.name.encode() not in bytes_of(filled.path)


def test_a_watched_folder_that_was_always_empty(store, tmp_path, week_folder):
    """Forgetting something else takes no folder off the list that held nothing before."""
    memory = store()
    memory.index(week_folder, progress=False)
    memory.watch(week_folder)
    for file in week_folder.rglob("*.*"):
        file.unlink()
    memory.index(week_folder, progress=False)
    note = memory.add("λ")
    memory.forget(note.id)

    assert [(folder.files, folder.watched) for folder in memory.folders()] == [(0, True)]


@pytest.mark.parametrize("told", [True, False], ids=["told", "noticed"])
def test_a_renamed_file_keeps_ids_tags_and_pins(filled, week_folder, told):
    """A file that was moved within the folder keeps ids, tags and pins, whether the store is told or finds out."""
    old, new = week_folder / "prices.ipynb", week_folder / "notes" / "preise.ipynb"
    first = by_source(filled)[(str(old), "#0")][0]
    filled.update(first, tags=["decision"])
    filled.pin(first)
    before = {location: kept for (source, location), kept in by_source(filled).items() if source == str(old)}
    old.rename(new)
    if told:
        assert filled.rename(old, new) == 2
        assert {key for key in by_source(filled) if key[0] == str(old)} == set()
        assert {
            location: kept for (source, location), kept in by_source(filled).items() if source == str(new)
        } == before
    report = filled.index(week_folder, progress=False)

    after = {location: kept for (source, location), kept in by_source(filled).items() if source == str(new)}
    assert after == before and after["#0"] == (first, ("decision",), True)
    assert (report.files, report.forgotten, report.moved) == (1, 0, 0 if told else 1)
    assert "preise.ipynb" in filled.get(first).title
    assert filled.hits("preise").hits[0].memory.source == str(new)
    assert filled.stats()["files"] == 3 and filled.doctor() == []
    assert filled.index(week_folder, progress=False).unchanged == 3


def test_a_document_whose_title_is_its_path(filled, week_folder):
    """A document is called by its new path once it is indexed again, and is the same memory."""
    old, new = week_folder / "notes" / "zürich.md", week_folder / "shops.md"
    before = by_source(filled)[(str(old), "")]
    old.rename(new)
    filled.index(week_folder, progress=False)

    assert by_source(filled)[(str(new), "")] == before
    assert filled.get(before[0]).title == "shops.md"


def test_a_renamed_folder(filled, week_folder):
    """With a folder, all below it moves, its listing and its watch too."""
    filled.watch(week_folder)
    before = {source: kept[0] for (source, _), kept in by_source(filled).items()}
    new = week_folder.with_name("woche-2")
    week_folder.rename(new)

    assert filled.rename(week_folder, new) == 4
    after = {source: kept[0] for (source, _), kept in by_source(filled).items()}
    assert after == {source.replace(str(week_folder), str(new)): kept for source, kept in before.items()}
    assert [(folder.path, folder.watched, folder.files) for folder in filled.folders()] == [(str(new), True, 3)]
    assert filled.index(new, progress=False).forgotten == 0
    assert {source: kept[0] for (source, _), kept in by_source(filled).items()} == after


def test_a_name_that_only_begins_alike(filled, week_folder):
    """Renaming a folder leaves one alone whose name begins like its own."""
    other = week_folder.with_name(week_folder.name + "nende")
    other.mkdir()
    (other / "plan.md").write_text("Plan for λ")
    filled.index(other, progress=False)
    filled.rename(week_folder, week_folder.with_name("x"))

    assert (str(other / "plan.md"), "") in by_source(filled)


def test_renamed_over_a_known_file(filled, week_folder):
    """What was indexed from the file that is overwritten is forgotten; notes about it stay."""
    old, new = week_folder / "lambda.md", week_folder / "notes" / "zürich.md"
    note = filled.add("Ask Genève", source=str(new))
    kept = by_source(filled)[(str(old), "")][0]
    old.replace(new)
    filled.rename(old, new)

    assert sorted(hit.memory.id for hit in filled.browsed(filters={"path": str(new)}).hits) == sorted([kept, note.id])
    assert filled.index(week_folder, progress=False).forgotten == 0
    assert "λ" in filled.get(kept).text and filled.doctor() == []


def test_indexed_at_the_new_path_before_it_is_told(filled, week_folder):
    """When the new path was indexed before the store hears of the renaming, the old memories come back in its place."""
    old, new = week_folder / "lambda.md", week_folder.parent / "moved.md"
    kept = by_source(filled)[(str(old), "")][0]
    old.rename(new)
    filled.index(new, progress=False)
    filled.rename(old, new)

    assert by_source(filled)[(str(new), "")][0] == kept
    assert filled.stats()["files"] == 3 and filled.doctor() == []


@pytest.mark.parametrize("whole", [False, True], ids=["to its subfolder", "with its folder"])
def test_moved_from_another_folder(filled, week_folder, whole):
    """A file that is found in another folder than it was indexed from keeps ids, tags and pins, and is there once."""
    old = week_folder / "prices.ipynb"
    first = by_source(filled)[(str(old), "#0")][0]
    filled.pin(first)
    folder = week_folder.parent / "archiv λ" if whole else week_folder / "notes"
    if whole:
        week_folder.rename(folder)
    else:
        old.rename(folder / old.name)
    report = filled.index(folder, progress=False)

    assert (report.moved, report.forgotten) == ((3, 0) if whole else (1, 0))
    assert by_source(filled)[(str(folder / old.name), "#0")] == (first, (), True)
    assert len(by_source(filled)) == 4 and filled.stats()["files"] == 3 and filled.doctor() == []
    if not whole:
        assert filled.index(week_folder, progress=False).forgotten == 0
        assert filled.get(first).pinned


def test_a_copy_from_another_folder_is_no_move(filled, week_folder):
    """A copy of a file that is still there, and a known file that was edited to be like a gone one, stay themselves."""
    before = by_source(filled)
    other = week_folder.parent / "other"
    other.mkdir()
    (other / "copy.md").write_text(LAMBDA)
    (other / "own.md").write_text("Müller's own")
    assert filled.index(other, progress=False).moved == 0
    assert before.items() <= by_source(filled).items()

    own = by_source(filled)[(str(other / "own.md"), "")]
    (week_folder / "notes" / "zürich.md").unlink()
    (other / "own.md").write_text(ZURICH)
    assert filled.index(other, progress=False).moved == 0
    assert before.items() <= by_source(filled).items() and by_source(filled)[(str(other / "own.md"), "")] == own


def test_a_copy_is_no_move(filled, week_folder):
    """A copy beside the original is a memory of its own, and so is one of a file that is only ignored now."""
    kept = by_source(filled)[(str(week_folder / "lambda.md"), "")][0]
    (week_folder / "copy.md").write_text(LAMBDA)
    assert filled.index(week_folder, progress=False).moved == 0
    assert by_source(filled)[(str(week_folder / "lambda.md"), "")][0] == kept

    (week_folder / ".jupytermemoryignore").write_text("notes/\n")
    (week_folder / "again.md").write_text(ZURICH)
    report = filled.index(week_folder, progress=False)
    assert (report.moved, report.forgotten) == (0, 1)


def test_several_alike_that_moved(filled, week_folder):
    """Of several gone files with the same content, each new one takes up that of its own name."""
    for name in ("a", "b"):
        (week_folder / name).mkdir()
        (week_folder / name / f"{name}.md").write_text("The same λ in both.")
    filled.index(week_folder, progress=False)
    before = by_source(filled)
    for name in ("a", "b"):
        (week_folder / name).rename(week_folder / f"{name}2")
    assert filled.index(week_folder, progress=False).moved == 2

    for name in ("a", "b"):
        was, now = (str(week_folder / folder / f"{name}.md") for folder in (name, f"{name}2"))
        assert by_source(filled)[(now, "")] == before[(was, "")]


def test_paths_within_each_other(filled, week_folder):
    """A folder cannot become what lies within it; renamed to itself it stays."""
    with pytest.raises(InputError, match="one within the other"):
        filled.rename(week_folder, week_folder / "notes")
    assert filled.rename(week_folder, week_folder) == 0


def test_a_file_of_an_indexed_folder_is_called_the_same(filled, week_folder):
    """Indexed by itself, a file of an indexed folder keeps the title that it has there, and is not listed."""
    file = week_folder / "notes" / "zürich.md"
    file.write_text(ZURICH + " In Genève they fell.")
    filled.index(file, progress=False)

    (hit,) = filled.browsed(filters={"path": str(file)}).hits
    assert hit.memory.title == "notes/zürich.md"
    assert [folder.path for folder in filled.folders()] == [str(week_folder)]


def test_progress_is_told(store, week_folder):
    """Progress begins without a total, never goes back, and ends with every file done."""
    told = []
    store().index(week_folder, progress=lambda done, total: told.append((done, total)))

    assert told[0] == (0, None) and told[-1] == (3, 3)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert {total for _, total in told[1:]} == {3}


def test_indexing_that_is_stopped(store, week_folder, monkeypatch):
    """What the progress raises stops the indexing; what was written until then stays, and the next run goes on."""
    monkeypatch.setattr("jupyter_memory.ingest.indexer._BATCH", 1)
    memory = store()

    def stop(done, total):
        if done == 2:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        memory.index(week_folder, progress=stop)
    assert memory.stats()["files"] == 2
    assert [folder.path for folder in memory.folders()] == [str(week_folder)]
    report = memory.index(week_folder, progress=False)
    assert (report.files, report.unchanged) == (1, 2)


def test_a_file_that_cannot_be_read_has_not_changed(filled, week_folder):
    """A broken notebook is named by every run, and counted as changed only when somebody writes it again."""
    broken = week_folder / "Zürich.ipynb"
    broken.write_text("{", encoding="utf-8")
    before = filled.folders()[0].files
    assert filled.stale(week_folder) == 1
    for _ in range(2):
        assert [path for path, _ in filled.index(week_folder, progress=False).failed] == [str(broken)]
        assert filled.stale(week_folder) == 0
    assert filled.folders()[0].files == before
    broken.write_text("{ ", encoding="utf-8")
    assert filled.stale(week_folder) == 1
