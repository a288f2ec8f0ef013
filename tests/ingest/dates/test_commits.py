"""Claims about the dates that git gives files."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from work_trees import WorkTree

from jupyter_memory.ingest.dates import last_commits

BEGUN = datetime(2023, 3, 1, 9, tzinfo=UTC)


def days(number: int) -> datetime:
    return BEGUN + timedelta(days=number)


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    return WorkTree(tmp_path / "work")


def test_each_file_has_the_date_of_the_commit_that_last_changed_it(tree: WorkTree) -> None:
    """Whatever its name, its folder and the time of its file."""
    names = ("a b.md", "d/ü.md", "d/e/quoted\"and'.md", "-n.md", "*.md")
    paths = [tree.commit(name, f"{name} one", days(i * 30)) for i, name in enumerate(names)]
    tree.commit("d/ü.md", "two", days(900))

    found = last_commits(paths)

    assert found == {path: days(900 if path.name == "ü.md" else i * 30) for i, path in enumerate(paths)}


def test_a_fresh_clone_and_a_copied_folder_keep_the_dates(tree: WorkTree, tmp_path: Path) -> None:
    """Though all their files are from today."""
    tree.commit("notes/a.md", "one", days(0))
    tree.commit("notes/b.md", "two", days(1000))
    tree.git("clone", "-q", str(tree.top), str(tmp_path / "clone"))
    shutil.copytree(tree.top, tmp_path / "copy", copy_function=shutil.copyfile)

    for folder in (tmp_path / "clone" / "notes", tmp_path / "copy" / "notes"):
        assert last_commits([folder / "a.md", folder / "b.md"]) == {
            folder / "a.md": days(0),
            folder / "b.md": days(1000),
        }


def test_what_was_changed_since_its_commit_has_no_date_of_a_commit(tree: WorkTree) -> None:
    """Nor has a file that was never committed, or that is ignored."""
    changed, same = tree.commit("changed.md", "one", days(0)), tree.commit("same.md", "one", days(1))
    changed.write_text("two")
    new = tree.top / "new.md"
    new.write_text("three")

    assert last_commits([changed, same, new]) == {same: days(1)}


def test_other_line_ends_are_no_change(tree: WorkTree) -> None:
    """As git makes them on Windows."""
    path = tree.commit("a.md", "one\ntwo\n", days(0))
    path.write_bytes(b"one\r\ntwo\r\n")

    assert last_commits([path]) == {path: days(0)}


def test_a_change_that_came_by_a_merge_has_its_own_date(tree: WorkTree) -> None:
    """Not that of the merge."""
    tree.commit("a.md", "one", days(0))
    tree.git("checkout", "-q", "-b", "side")
    side = tree.commit("b.md", "side", days(10))
    tree.git("checkout", "-q", "main")
    tree.commit("a.md", "two", days(20))
    tree.git("merge", "-q", "--no-ff", "side", "-m", "merged", when=days(30))

    assert last_commits([side]) == {side: days(10)}


def test_each_of_several_repositories_is_asked(tmp_path: Path) -> None:
    """Also one inside another, and a folder that is in none."""
    outer, inner = WorkTree(tmp_path / "outer"), WorkTree(tmp_path / "outer" / "inner")
    one, two = inner.commit("one.md", "1", days(5)), outer.commit("two.md", "2", days(7))
    none = tmp_path / "none.md"
    none.write_text("3")

    assert last_commits([one, two, none]) == {one: days(5), two: days(7)}


@pytest.mark.skipif(sys.platform == "win32", reason="the program of the configuration is a shell script")
def test_nothing_that_a_repository_configures_is_run(tree: WorkTree, tmp_path: Path) -> None:
    """A repository may come from anybody: no monitor, filter, signature program or hook of its own is started."""
    path = tree.commit("a.md", "one", days(0))
    mark, program = tmp_path / "run", tmp_path / "program.sh"
    program.write_text(f'#!/bin/sh\necho run >> "{mark}"\ncat\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tree.top / ".gitattributes").write_text("*.md filter=own diff=own\n")
    for name in ("core.fsmonitor", "filter.own.clean", "filter.own.process", "diff.own.textconv", "gpg.program",
                 "core.pager", "diff.external", "core.sshCommand"):  # fmt: skip
        tree.git("config", name, str(program))
    tree.git("config", "log.showSignature", "true")

    assert last_commits([path]) == {path: days(0)}
    assert not mark.exists()


def test_a_partial_clone_fetches_nothing(tree: WorkTree, tmp_path: Path) -> None:
    """What git would have to ask another machine for has no date."""
    path = tree.commit("a.md", "one", days(0))
    tree.commit("b.md", "two", days(1))
    tree.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    tree.git("clone", "-q", "--filter=tree:0", "--no-local", tree.top.as_uri(), str(clone))
    before = {one: one.stat().st_mtime_ns for one in (clone / ".git" / "objects").rglob("*")}

    assert set(last_commits([clone / "a.md", clone / "b.md"])) <= {clone / "a.md", clone / "b.md"}
    assert {one: one.stat().st_mtime_ns for one in (clone / ".git" / "objects").rglob("*")} == before
    assert path.exists()


def test_without_git_no_file_has_a_date(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is never required."""
    path = tree.commit("a.md", "one", days(0))
    monkeypatch.setenv("PATH", str(tree.top))

    assert last_commits([path]) == {}


def test_the_environment_of_a_hook_leads_nowhere_else(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search may run inside a hook of another repository."""
    path = tree.commit("a.md", "one", days(0))
    monkeypatch.setenv("GIT_DIR", os.devnull)

    assert last_commits([path]) == {path: days(0)}


def test_a_broken_repository_has_no_dates(tree: WorkTree) -> None:
    """The files keep their own times."""
    path = tree.commit("a.md", "one", days(0))
    (tree.top / ".git" / "HEAD").write_bytes(b"\0\xff")

    assert last_commits([path]) == {}
