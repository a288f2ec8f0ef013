"""Files and folders that links give several names: filters and forgetting take each of them."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def linked(tmp_path):
    """A folder with two documents, a folder of like name beside it, a link to the folder, and one to a document."""
    real = tmp_path / "real" / "a λ"
    (real / "b").mkdir(parents=True)
    (real / "one.md").write_text("prices of Zürich", encoding="utf-8")
    (real / "b" / "two.md").write_text("prices of Genève", encoding="utf-8")
    (real.parent / "a λ2").mkdir()
    (real.parent / "a λ2" / "one.md").write_text("prices of Basel", encoding="utf-8")
    (tmp_path / "plink").symlink_to(real)
    (tmp_path / "first.md").symlink_to(real / "one.md")
    return tmp_path


# Names of the folder, and of its first document.
FOLDER = ("real/a λ", "plink", "plink/", "plink/b/..", "real/../plink/.")
FILE = ("real/a λ/one.md", "plink/one.md", "first.md", "plink/b/../one.md", "real/a λ/b/../one.md")


@pytest.mark.parametrize("by_link", [True, False], ids=["indexed by the link", "indexed by its own name"])
@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
def test_filters_take_every_name(store, linked, monkeypatch, by_link, relative):
    """Whichever name was indexed, a filter, a typed filter, a selection and a dry run find the file by each."""
    opened = store()
    opened.index(linked / FOLDER[by_link], progress=False)
    opened.index(linked / "real" / "a λ2", progress=False)
    monkeypatch.chdir(linked)
    before = sorted(opened.browse()["source"])
    for names, count in ((FOLDER, 2), (FILE, 1)):
        for name in names:
            path = name if relative else f"{linked}/{name}"
            found = opened.browsed(filters={"path": path})
            assert (len(found.hits), found.notices) == (count, ()), path
            assert len(opened.hits(f'path:"{path}"').hits) == count, path
            assert len(opened.hits("prices", filters={"path": path}).hits) == count, path
            assert len(opened.hits("prices", filters={"not_path": path}).hits) == 3 - count, path
            assert len(opened.hits(f'prices -path:"{path}"').hits) == 3 - count, path
            assert len(opened.selection(source=path)) == opened.forget(source=path, dry_run=True) == count, path
            assert opened.forget(filters={"path": [path, "/nowhere"]}, dry_run=True) == count, path
    assert sorted(opened.browse()["source"]) == before


@pytest.mark.parametrize("indexed", [FOLDER[0], FOLDER[1]])
@pytest.mark.parametrize("named", FOLDER)
def test_forgetting_takes_every_name(store, linked, indexed, named):
    """A folder is forgotten by each of its names, the first of its files before; what lies beside it stays."""
    opened = store()
    opened.index(linked / indexed, progress=False)
    opened.index(linked / "real" / "a λ2", progress=False)

    assert opened.forget(source=f"{linked}/{FILE[FOLDER.index(named)]}") == 1
    assert opened.forget(opened.selection(source=f"{linked}/{named}")) == 1
    assert opened.browse()["snippet"].tolist() == ["prices of Basel"]


@pytest.mark.parametrize(("indexed", "named"), [(FOLDER[0], FOLDER[1]), (FOLDER[1], FOLDER[0])])
def test_a_folder_is_removed_by_its_other_name(store, linked, indexed, named):
    """It leaves the list of folders, and its memories go, whichever of the two names is given."""
    opened = store()
    opened.index(linked / indexed, progress=False)

    assert opened.remove_folder(linked / named) == 2
    assert opened.folders() == []


@pytest.mark.parametrize("named", FOLDER)
def test_a_folder_that_is_known_by_both_names(store, linked, named):
    """One file indexed by the link, the folder by its own name: each name finds both, and forgets both."""
    opened = store()
    opened.index(linked / "plink" / "one.md", progress=False)
    opened.index(linked / "real" / "a λ", progress=False)
    assert {str(Path(source).parent) for source in opened.browse()["source"]} == {
        str(linked / "plink"),
        str(linked / "real" / "a λ" / "b"),
    }

    assert len(opened.browsed(filters={"path": f"{linked}/{named}"}).hits) == 2
    assert opened.forget(source=f"{linked}/{named}") == 2


def test_a_folder_that_became_a_link(store, linked):
    """A folder that was renamed, with a link in its place, is found by its new name, with those above it."""
    opened = store()
    opened.index(linked / "real", progress=False)
    (linked / "real" / "a λ").rename(linked / "moved")
    (linked / "real" / "a λ").symlink_to(linked / "moved")

    for name, count in (("moved", 2), ("moved/b", 1), ("moved/one.md", 1), ("real", 3)):
        assert len(opened.browsed(filters={"path": str(linked / name)}).hits) == count
        assert opened.forget(source=str(linked / name), dry_run=True) == count
    assert opened.forget(source=str(linked / "moved")) == 2


def test_a_folder_above_what_a_link_leads_to(store, linked):
    """Files that were indexed through a link lie in the folders above their own, too."""
    opened = store()
    opened.index(linked / "plink", progress=False)

    assert len(opened.browsed(filters={"path": str(linked / "real")}).hits) == 2
    assert opened.forget(source=str(linked / "real")) == 2


def test_two_dots_behind_a_link(store, linked):
    """``link/..`` is the folder of the link, as in a shell; where nothing is known there, what is above its target."""
    (linked / "notes").mkdir()
    (linked / "notes" / "inner").symlink_to(linked / "real" / "a λ" / "b")
    opened = store()
    opened.index(linked / "real", progress=False)

    assert len(opened.browsed(filters={"path": f"{linked}/notes/inner/../one.md"}).hits) == 1
    opened.add("prices of Bern", source=str(linked / "notes" / "one.md"))
    found = opened.browsed(filters={"path": f"{linked}/notes/inner/../one.md"}).hits
    assert [hit.memory.text for hit in found] == ["prices of Bern"]


def test_a_link_in_the_folder_of_the_store(store, linked):
    """Relative names are read from the folder of the store, and links in it are followed from there."""
    opened = store(folder=linked)
    opened.index(linked / "real" / "a λ", progress=False)

    assert len(opened.browsed(filters={"path": "plink/one.md"}).hits) == 1
    assert opened.forget(source="plink/b") == 1


def test_a_name_that_leads_nowhere(store, linked):
    """A broken link, one in a circle and an unknown name match nothing, and it is said which."""
    (linked / "broken").symlink_to(linked / "gone")
    (linked / "circle").symlink_to(linked / "circle")
    opened = store()
    opened.index(linked / "real", progress=False)

    for name in ("broken", "circle", "nobody"):
        answer = opened.browsed(filters={"path": str(linked / name)})
        assert not answer.hits
        assert answer.notices[0].startswith(f"Nothing in this store comes from '{linked / name}'")
        assert opened.forget(source=str(linked / name)) == 0
