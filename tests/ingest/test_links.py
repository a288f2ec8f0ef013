"""Files and folders that links lead to, and files on a drive that is not connected."""

import os
from pathlib import Path

import pytest
from file_changes import DIARY, kept

NOTES = "\n".join(DIARY)
EDITED = "\n".join([*DIARY, "Edited through the link."])
# Where this system keeps the folders of drives.
DRIVES = next((one for one in map(Path, ("/mnt", "/media", "/Volumes")) if one.is_dir()), Path("/mnt"))


def sources(memory):
    return sorted(hit.memory.source for hit in memory.browsed().hits)


@pytest.fixture
def linked(folder):
    """A folder with a document and a link to it, which comes first by name."""
    (folder / "real").mkdir()
    (folder / "real" / "λ.md").write_text(NOTES)
    (folder / "b.md").symlink_to(Path("real") / "λ.md")
    return folder


@pytest.fixture
def twice(tmp_path):
    real, link = tmp_path / "data λ", tmp_path / "notes"
    (real / "week").mkdir(parents=True)
    (real / "week" / "diary.md").write_text(NOTES)
    link.symlink_to(real)
    return real, link


def test_a_link_within_the_folder_is_no_second_hit(index, linked):
    """What a link leads to is found once, by the file's own name, also where the link alone is indexed again."""
    memory, real, link = index.memory, linked / "real" / "λ.md", linked / "b.md"
    assert index(linked).files == 1 and sources(memory) == [str(real)]
    link.write_text(EDITED)
    index(link)
    assert sources(memory) == [str(real)] and "through the link" in memory.hits("Poisson").hits[0].memory.text


def test_a_file_that_left_a_link_behind(index, linked):
    """A file that was moved within the folder and is a link in its old place keeps its id."""
    memory, old, new = index.memory, linked / "real" / "λ.md", linked / "λ2.md"
    index(linked)
    before = kept(memory, old)
    (linked / "b.md").unlink()
    old.rename(new)
    old.symlink_to(new)
    report = index(linked)
    assert (report.moved, report.forgotten) == (1, 0) and kept(memory, new) == before


def test_two_names_of_one_folder(index, twice):
    """A new file of a folder that was indexed by the name of a link has that name, too."""
    memory, (real, link) = index.memory, twice
    index(link)
    (real / "new.md").write_text("λ in Zürich")
    assert index(real / "new.md").files == 1
    assert sources(memory) == [str(link / "new.md"), str(link / "week" / "diary.md")]
    # It is watched by that name, whichever is given.
    for watched in (True, False):
        memory.watch(real, watched)
        assert [(one.path, one.watched) for one in memory.folders()] == [(str(link), watched)]


def test_a_folder_that_is_known_by_both_of_its_names(index, tmp_path):
    """Where both were indexed, each is kept up to date by its own name, so that neither grows old unseen."""
    memory, real, link = index.memory, tmp_path / "data λ", tmp_path / "ln"
    for folder in (real, link):
        folder.mkdir()
        (folder / "diary.md").write_text(NOTES)
        index(folder)
    (link / "diary.md").unlink()
    link.rmdir()
    link.symlink_to(real)
    (real / "diary.md").write_text(EDITED)
    for name in (real, link):
        assert (index(name).files, memory.stale(name)) == (1, 0)
    assert all("Edited" in hit.memory.text for hit in memory.browsed().hits)


@pytest.mark.parametrize("first", range(5), ids=["link", "file by the link", "linked file", "data", "file"])
def test_a_file_is_stored_once_whichever_of_its_names_comes_first(index, tmp_path, first):
    """A folder, a link to it, one of its files, the same through the link, and a link to the file: all are one."""
    memory, data, link, one = index.memory, tmp_path / "data" / "notes λ", tmp_path / "link", tmp_path / "one.md"
    data.mkdir(parents=True)
    (data / "λ.md").write_text(NOTES)
    link.symlink_to(data)
    one.symlink_to(data / "λ.md")
    names = (link, link / "λ.md", one, data.parent, data / "λ.md")
    index(names[first])
    [before] = memory.hits("Poisson").hits
    for name in (*names, f"/{data}/", data / ".." / data.name / "."):
        assert (index(name).files, memory.stale(name)) == (0, 0)
    (data / "λ.md").write_text(EDITED)
    for name in names:
        index(name)
    [after] = memory.hits("Poisson").hits
    assert (after.memory.id, after.memory.source) == (before.memory.id, before.memory.source)
    assert "Edited" in after.memory.text


def test_a_folder_that_became_a_link_keeps_its_memories(index, folder):
    (folder / "notes").mkdir()
    (folder / "notes" / "λ.md").write_text(NOTES)
    index(folder)
    before = [hit.memory.id for hit in index.memory.hits("Poisson").hits]
    (folder / "notes").rename(folder / "diary")
    (folder / "notes").symlink_to(folder / "diary")
    index(folder)
    assert [hit.memory.id for hit in index.memory.hits("Poisson").hits] == before != []


def test_a_folder_that_a_link_led_to(index, twice):
    memory, (real, link) = index.memory, twice
    index(link)
    before = {one for one, *_ in kept(memory, link).values()}
    new = real.rename(real.with_name("neu"))
    assert index(new).moved == 1 and {one for one, *_ in kept(memory, new).values()} == before


def unplug(drive):
    """Leave of a drive an empty folder that was made long ago, as unmounting does."""
    for file in sorted(drive.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    os.utime(drive, (1_600_000_000, 1_600_000_000))


@pytest.mark.parametrize("how", ["an empty folder", "a link to the drive", "a link to the drives"])
def test_a_drive_that_is_not_connected(index, tmp_path, how):
    """Files of a drive stay when the drive is not there, and their copies elsewhere are files of their own."""
    memory, drive, here, link = index.memory, tmp_path / "STICK λ", tmp_path / "here", tmp_path / "link"
    (drive / "deep").mkdir(parents=True)
    (drive / "deep" / "diary.md").write_text(NOTES)
    link.symlink_to(drive if how == "a link to the drive" else tmp_path)
    known = {"an empty folder": drive, "a link to the drive": link, "a link to the drives": link / drive.name}[how]
    index(known)
    before = kept(memory, known)
    here.mkdir()
    (here / "diary.md").write_text(NOTES)
    (here / "edited.md").write_text(EDITED)
    unplug(drive)
    if how != "an empty folder":
        # The link leads now to where the system keeps drives, of which none is called so.
        drive.rmdir()
        link.unlink()
        link.symlink_to(DRIVES / drive.name if how == "a link to the drive" else DRIVES)
    assert index(here).moved == 0 and kept(memory, known) == before
    if how == "an empty folder":
        report = index(tmp_path)
        assert (report.moved, report.forgotten) == (0, 0) and kept(memory, drive) == before
        [(place, reason)] = report.failed
        assert place == str(drive) and f"forget --source '{drive}'" in reason


def test_a_folder_that_is_an_empty_mount_point(index, folder):
    """Indexed while its drive is not connected, a folder keeps what is known of it and says so."""
    for name in ("a.md", "b.md"):
        (folder / name).write_text(f"The λ of {name}")
    index(folder)
    unplug(folder)
    report = index(folder)
    assert (report.forgotten, index.memory.count(), index.memory.stale(folder)) == (0, 2, 0)
    assert [place for place, _ in report.failed] == [str(folder)] and "2 indexed files" in report.failed[0][1]


def test_a_folder_whose_files_were_deleted(index, folder):
    """A folder that somebody emptied after it was indexed is no mount point: its files are forgotten."""
    (folder / "a.md").write_text("λ")
    index(folder)
    (folder / "a.md").unlink()
    assert index(folder).forgotten == 1 and kept(index.memory, folder) == {}
