"""The folders of a store: listed with what came from them, watched, compared with the disk and removed."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest
from week import LAMBDA, ZURICH

from jupyter_memory import InputError, JupyterMemory, MemoryStore


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
    with filled._storage.database.write() as connection:
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


def test_a_watched_part_of_an_indexed_folder_has_its_date(filled, week_folder):
    """A folder within an indexed one that is watched was indexed with it, and one of which nothing came never was."""
    (week_folder / "later").mkdir()
    (whole,) = filled.folders()
    filled.watch(week_folder / "notes")
    filled.watch(week_folder / "later")
    dates = {folder.path: folder.indexed_at for folder in filled.folders()}

    assert dates[str(week_folder / "notes")] == whole.indexed_at
    assert dates[str(week_folder / "later")] is None


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


@pytest.mark.parametrize("known", ["by the link", "by its own name"])
def test_a_folder_with_two_names(store, week_folder, tmp_path, known):
    """A folder that a link leads to is compared, renamed in and removed by either name."""
    link, memory = tmp_path / "link", store()
    link.symlink_to(week_folder)
    name, other = (link, week_folder) if known == "by the link" else (week_folder, link)
    memory.index(name, progress=False)
    assert memory.stale(other) == memory.stale(other / "notes") == 0

    (week_folder / "lambda.md").rename(week_folder / "λ.md")
    assert memory.rename(other / "lambda.md", other / "λ.md") == 1
    assert memory.browsed(filters={"path": str(name / "λ.md")}).hits
    assert memory.index(name, progress=False).forgotten == 0
    assert memory.remove_folder(other / "notes") == 1
    assert memory.remove_folder(other) == 3
    assert memory.folders() == [] and memory.browsed().hits == ()


def test_a_link_that_is_left_where_a_folder_was(filled, week_folder):
    """A folder that was renamed, with a link left in its place, is known by its new name once that is told."""
    new = week_folder.with_name("woche-2")
    week_folder.rename(new)
    week_folder.symlink_to(new)

    assert filled.rename(week_folder, new) == 4
    assert [folder.path for folder in filled.folders()] == [str(new)]


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
    """A broken notebook is named once, or when asked, and counted as changed only when somebody writes it again."""
    broken = week_folder / "Zürich.ipynb"
    broken.write_text("{", encoding="utf-8")
    before = filled.folders()[0].files
    assert filled.stale(week_folder) == 1
    for retry, named, before_now in ((False, [str(broken)], 0), (False, [], 1), (True, [str(broken)], 0)):
        report = filled.index(week_folder, progress=False, retry=retry)
        assert ([path for path, _ in report.failed], report.failed_before) == (named, before_now)
        assert filled.stale(week_folder) == 0
    assert filled.folders()[0].files == before
    broken.write_text("{ ", encoding="utf-8")
    assert filled.stale(week_folder) == 1


def test_a_folder_on_a_disk_that_is_shut_is_listed(common_folder, as_user):
    """Where nobody may look any more a folder counts as not there; the others are listed as before."""
    (common_folder / "shut" / "prices").mkdir(parents=True)
    (common_folder / "shut" / "prices" / "lambda.md").write_text(LAMBDA)
    path = common_folder / "memory.sqlite"
    with MemoryStore(path, embedder=None) as memory:
        memory.index(common_folder / "shut" / "prices", progress=False)
    path.chmod(0o644)
    (common_folder / "shut").chmod(0o000)

    def listed():
        with MemoryStore(path, embedder=None, settings=JupyterMemory()) as memory:
            return [(folder.memories, folder.exists) for folder in memory.folders()]

    answer = as_user(listed)
    assert answer == [(1, False)], answer
