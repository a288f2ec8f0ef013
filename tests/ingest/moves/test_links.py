"""Files and folders that links lead to."""

from __future__ import annotations

from pathlib import Path

import pytest
from moved import DIARY, kept


@pytest.fixture
def linked(folder):
    """A folder with a document and a link to it, which comes first by name."""
    (folder / "real").mkdir()
    (folder / "real" / "λ.md").write_text("\n".join(DIARY))
    (folder / "b.md").symlink_to(Path("real") / "λ.md")
    return folder


def test_a_link_within_the_folder_is_no_second_hit(index, linked):
    """What a link leads to is found once, by the file's own name, also where the link alone is indexed again."""
    memory = index.memory
    assert index(linked).files == 1
    assert [hit.memory.source for hit in memory.hits("Poisson").hits] == [str(linked / "real" / "λ.md")]

    (linked / "b.md").write_text("\n".join([*DIARY, "Edited through the link."]))
    index(linked / "b.md")
    assert [hit.memory.source for hit in memory.hits("Poisson").hits] == [str(linked / "real" / "λ.md")]
    assert "through the link" in memory.hits("Poisson").hits[0].memory.text


def test_a_link_is_a_name_to_filter_by(index, linked):
    """``--path`` and ``forget --source`` take a link for the file that it leads to."""
    memory = index.memory
    index(linked)

    assert len(memory.hits("Poisson", filters={"path": str(linked / "b.md")}).hits) == 1
    assert memory.hits("Poisson", filters={"not_path": str(linked / "b.md")}).hits == ()
    assert memory.forget(source=str(linked / "b.md")) == 1


def test_a_file_that_left_a_link_behind(index, linked):
    """A file that was moved within the folder and is a link in its old place keeps its id."""
    memory, old, new = index.memory, linked / "real" / "λ.md", linked / "λ2.md"
    index(linked)
    before = kept(memory, old)
    (linked / "b.md").unlink()
    old.rename(new)
    old.symlink_to(new)
    report = index(linked)

    assert (report.moved, report.forgotten) == (1, 0)
    assert kept(memory, new) == before


def test_two_names_of_one_folder(index, tmp_path):
    """A folder that was indexed by one name is not indexed again by that of a link to it, in whole or in part."""
    memory, real, link = index.memory, tmp_path / "data λ", tmp_path / "notes"
    (real / "week").mkdir(parents=True)
    (real / "week" / "diary.md").write_text("\n".join(DIARY))
    link.symlink_to(real)
    index(link)
    for again in (real, real / "week", real / "week" / "diary.md", link / "week"):
        assert index(again).unchanged == 1
    (real / "new.md").write_text("λ in Zürich")
    assert index(real / "new.md").files == 1

    assert sorted(hit.memory.source for hit in memory.browsed().hits) == [
        str(link / "new.md"),
        str(link / "week" / "diary.md"),
    ]
    assert [folder.path for folder in memory.folders()] == [str(link)]


def test_watching_a_folder_by_its_other_name(index, tmp_path):
    """A folder that was indexed by the name of a link is watched by that name, whichever is given."""
    memory, real, link = index.memory, tmp_path / "data λ", tmp_path / "notes"
    real.mkdir()
    (real / "diary.md").write_text("\n".join(DIARY))
    link.symlink_to(real)
    index(link)
    memory.watch(real)
    assert [(folder.path, folder.watched) for folder in memory.folders()] == [(str(link), True)]
    memory.watch(real, False)
    assert [(folder.path, folder.watched) for folder in memory.folders()] == [(str(link), False)]


def test_a_folder_that_is_known_by_both_of_its_names(index, tmp_path):
    """Where both were indexed, each is kept up to date by its own name, so that neither grows old unseen."""
    memory, real, link = index.memory, tmp_path / "data λ", tmp_path / "ln"
    real.mkdir()
    (real / "diary.md").write_text("\n".join(DIARY))
    index(real)
    link.mkdir()
    (link / "diary.md").write_text("\n".join(DIARY))
    index(link)
    (link / "diary.md").unlink()
    link.rmdir()
    link.symlink_to(real)
    (real / "diary.md").write_text("\n".join([*DIARY, "Edited in Zürich."]))
    for name in (real, link):
        assert index(name).files == 1
        assert memory.stale(name) == 0
    assert all("Edited" in hit.memory.text for hit in memory.browsed().hits)


@pytest.mark.parametrize("first", ["link", "file by the link", "linked file", "data", "file"])
def test_a_file_is_stored_once_whichever_of_its_names_comes_first(index, tmp_path, first):
    """A folder, a link to it, one of its files, the same through the link, and a link to the file: all are one."""
    memory, data = index.memory, tmp_path / "data" / "notes λ"
    data.mkdir(parents=True)
    (data / "λ.md").write_text("\n".join(DIARY))
    (tmp_path / "link").symlink_to(data)
    (tmp_path / "one.md").symlink_to(data / "λ.md")
    names = {
        "link": tmp_path / "link",
        "file by the link": tmp_path / "link" / "λ.md",
        "linked file": tmp_path / "one.md",
        "data": data.parent,
        "file": data / "λ.md",
    }
    index(names[first])
    [before] = memory.hits("Poisson").hits
    for name in (*names.values(), f"/{data}/", data / ".." / data.name / "."):
        assert index(name).files == 0
        assert memory.stale(name) == 0

    (data / "λ.md").write_text("\n".join([*DIARY, "Edited later."]))
    for name in names.values():
        index(name)
    [after] = memory.hits("Poisson").hits
    assert (after.memory.id, after.memory.source) == (before.memory.id, before.memory.source)
    assert "Edited later" in after.memory.text


def test_a_folder_that_became_a_link_keeps_its_memories(index, folder):
    """A folder that was renamed, with a link left in its old place, is known by that link: ids and tags stay."""
    memory = index.memory
    (folder / "notes").mkdir()
    (folder / "notes" / "λ.md").write_text("\n".join(DIARY))
    index(folder)
    before = [hit.memory.id for hit in memory.hits("Poisson").hits]
    (folder / "notes").rename(folder / "diary")
    (folder / "notes").symlink_to(folder / "diary")
    index(folder)
    assert [hit.memory.id for hit in memory.hits("Poisson").hits] == before != []
