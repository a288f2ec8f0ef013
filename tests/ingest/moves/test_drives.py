"""Files on a drive that is not connected."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from moved import DIARY, kept


def unplug(drive: Path, *, keep: bool) -> None:
    """Leave of a drive what unmounting leaves: nothing, or a folder that was made long ago."""
    for file in sorted(drive.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    if keep:
        os.utime(drive, (1_600_000_000, 1_600_000_000))
    else:
        drive.rmdir()


@pytest.mark.parametrize("keep", [True, False], ids=["an empty folder", "no folder"])
def test_a_drive_that_is_not_connected(index, tmp_path, monkeypatch, keep):
    """Files of a drive stay when the drive is not there, and their copies elsewhere are files of their own."""
    monkeypatch.setattr("jupyter_memory.ingest.moves._PLACES", (tmp_path / "media",))
    memory, drive, here = index.memory, tmp_path / "media" / "STICK λ", tmp_path / "here"
    (drive / "deep").mkdir(parents=True)
    here.mkdir()
    (drive / "deep" / "diary.md").write_text("\n".join(DIARY))
    index(drive)
    before = kept(memory, drive)
    (here / "diary.md").write_text("\n".join(DIARY))
    (here / "edited.md").write_text("\n".join([*DIARY, "And so on, in Zürich."]))
    unplug(drive, keep=keep)

    assert index(here).moved == 0
    assert kept(memory, drive) == before
    report = index(tmp_path)
    assert (report.moved, report.forgotten) == (0, 0) and kept(memory, drive) == before
    [(place, reason)] = report.failed
    assert place == str(drive) and f"forget --source '{drive}'" in reason


@pytest.mark.parametrize("to", ["drive", "drives"])
def test_a_drive_that_a_link_leads_to(index, tmp_path, monkeypatch, to):
    """Files that are known by a link to a drive, or to where drives are, stay while it is not connected."""
    monkeypatch.setattr("jupyter_memory.ingest.moves._PLACES", (tmp_path / "media",))
    memory, drive, here = index.memory, tmp_path / "media" / "STICK λ", tmp_path / "here"
    drive.mkdir(parents=True)
    here.mkdir()
    (tmp_path / "link").symlink_to(drive if to == "drive" else drive.parent)
    known = tmp_path / "link" if to == "drive" else tmp_path / "link" / drive.name
    (known / "diary.md").write_text("\n".join(DIARY))
    index(known)
    before = kept(memory, known)
    (here / "diary.md").write_text("\n".join(DIARY))
    unplug(drive, keep=False)

    assert index(here).moved == 0
    assert kept(memory, known) == before


def test_a_folder_that_a_link_led_to(index, folder, tmp_path):
    """Where the folder behind a link was renamed, on no drive, its files move along when it is indexed."""
    memory, link = index.memory, tmp_path / "link"
    link.symlink_to(folder)
    (folder / "diary.md").write_text("\n".join(DIARY))
    index(link)
    before = kept(memory, link)
    new = folder.rename(folder.with_name("neu"))

    assert index(new).moved == 1
    assert kept(memory, new) == before


def test_a_folder_that_is_an_empty_mount_point(index, tmp_path):
    """Indexed while its drive is not connected, a folder keeps what is known of it and says so."""
    memory, drive = index.memory, tmp_path / "nas"
    drive.mkdir()
    for name in ("a.md", "b.md"):
        (drive / name).write_text(f"The λ of {name}")
    index(drive)
    unplug(drive, keep=True)
    report = index(drive)

    assert (report.forgotten, memory.count()) == (0, 2)
    assert [place for place, _ in report.failed] == [str(drive)] and "2 indexed files" in report.failed[0][1]
    assert memory.stale(drive) == 0


def test_a_folder_whose_files_were_deleted(index, tmp_path):
    """A folder that somebody emptied after it was indexed is no mount point: its files are forgotten."""
    memory, folder = index.memory, tmp_path / "nas"
    folder.mkdir()
    (folder / "a.md").write_text("λ")
    index(folder)
    (folder / "a.md").unlink()

    assert index(folder).forgotten == 1
    assert kept(memory, folder) == {}
