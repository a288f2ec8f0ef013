"""Paths as people write them: from the root, and as the disk has them."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from jupyter_memory import InputError
from jupyter_memory.text import called_before, paths

ENTRIES = ["preise.md", "Müller.ipynb", "λ.md", "Λ.txt"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("preise.md", "preise.md"),
        ("PREISE.MD", "preise.md"),
        (normalize("NFD", "müller.ipynb"), "Müller.ipynb"),
        ("Λ.md", "λ.md"),
        ("umsatz.md", "umsatz.md"),
    ],
)
def test_the_entry_that_is_meant(typed, meant):
    """A name in another case, or with its letters in another form, is that of the one entry it can mean."""
    assert paths.spelling(typed, ENTRIES) == meant


def test_two_that_could_be_meant():
    """Where a folder tells two names apart, each is itself, and a third stays as it was typed."""
    assert [paths.spelling(name, ["Preise", "preise"]) for name in ("Preise", "preise", "PREISE")] == [
        "Preise",
        "preise",
        "PREISE",
    ]


@pytest.mark.parametrize("written", ["//a/b", "///a//b/", "/a/./b", "/a/c/../b/.", "/../a/b", "//..//a/b"])
def test_one_spelling(written):
    """Dots, doubled slashes and a slash at the end make no other path, at the beginning neither."""
    assert str(paths.plain_path(written)) == str(paths.normal(written)) == "/a/b"


def test_characters_that_are_only_characters():
    """Backslashes and percent signs are parts of names; a NUL is part of none."""
    for name in ("/a\\..\\b", "/%2e%2e/b", "/a/~/b", "/a/.../b"):
        assert str(paths.plain_path(name)) == name
    with pytest.raises(InputError, match="NUL"):
        paths.plain_path("/a\0/../b")


def test_an_empty_path(store, tmp_path, monkeypatch):
    """An empty path, as an unset variable leaves it, is refused, and is not taken for the folder one is in."""
    (tmp_path / "müller.md").write_text("λ is 0.3")
    monkeypatch.chdir(tmp_path)
    memory = store()
    for what in (memory.index, memory.backup, memory.watch, memory.remove_folder):
        with pytest.raises(InputError, match="The path is empty"):
            what("")

    assert memory.folders() == [] and memory.stats()["memories"] == 0
    assert memory.index(".", progress=False).files == 1


def test_as_on_disk(tmp_path):
    """Each part of a path is written as its folder lists it; what is not there stays as it was typed."""
    (tmp_path / "Zürich").mkdir()
    (tmp_path / "Zürich" / "preise.md").write_text("λ")
    there = tmp_path / "Zürich" / "preise.md"

    assert paths._as_on_disk(there) == there
    assert paths._as_on_disk(there.with_name("neu.md")) == there.with_name("neu.md")
    other = tmp_path / "ZÜRICH" / "PREISE.md"
    assert paths._as_on_disk(other) == (there if other.exists() else other)
    assert (paths.normal(other) == there) is other.exists()


def test_an_indexed_folder_in_another_case(store, tmp_path):
    """A folder that is typed in another case is indexed once where the system takes both for one."""
    folder = tmp_path / "Notes"
    folder.mkdir()
    (folder / "preise.md").write_text("prices in Zürich are net")
    other = tmp_path / "NOTES"
    if not other.exists():
        pytest.skip("this file system tells cases apart")
    opened = store()
    opened.index(folder, progress=False)

    assert opened.index(other, progress=False).unchanged == 1
    assert opened.stats()["memories"] == 1


def test_a_folder_that_a_link_leads_into(tmp_path):
    """What lies in a known folder keeps its name, though a known link leads there, too; else the link's name counts."""
    data, link, other = tmp_path / "data λ", tmp_path / "ln", tmp_path / "other"
    (data / "notes" / "week").mkdir(parents=True)
    other.mkdir()
    link.symlink_to(data / "notes")
    (data / "aside").symlink_to(other)
    for known in ([str(link), str(data)], [str(data), str(link)]):
        for folder in (data / "notes", link, link / "week"):
            assert called_before(folder / "new.md", known) == folder / "new.md"
    assert called_before(data / "notes" / "new.md", [str(link)]) == link / "new.md"
    assert called_before(data / "aside" / "new.md", [str(data), str(other)]) == other / "new.md"
