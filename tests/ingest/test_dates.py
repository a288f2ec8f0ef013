"""When a memory of a file happened: as the document or its name says, as git knows, or when the file was changed."""

import json
import os
import stat
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from week import WorkTree

from jupyter_memory import MemoryStore
from jupyter_memory.ingest import read_file

BEGUN = datetime(2023, 3, 1, 9, tzinfo=UTC)


def noon(year, month, day):
    return datetime(year, month, day, 12).astimezone(UTC)


def days(number):
    return BEGUN + timedelta(days=number)


def said(folder, text, name="note.md"):
    """Return the date that the last part of a file states; None where only the time of the file is known."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    draft = read_file(path, root=folder)[-1]
    return None if draft.dated_by_file else draft.event_at


def front(**lines):
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in lines.items()) + "---\nλ"


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2024-03-01", noon(2024, 3, 1)),
        ("'2024-03-01'", noon(2024, 3, 1)),
        ("March 1, 2024", noon(2024, 3, 1)),
        ("1 Mar 2024", noon(2024, 3, 1)),
        ("2024-03-01T14:30:00Z", datetime(2024, 3, 1, 14, 30, tzinfo=UTC)),
        ("2024-03-01 14:30:00 +0200", datetime(2024, 3, 1, 12, 30, tzinfo=UTC)),
        ("2024-03-01T14:30:00.123456+02:00", datetime(2024, 3, 1, 12, 30, 0, 123456, tzinfo=UTC)),
        # Words that change their meaning, either order of day and month, the future, nonsense.
        *((text, None) for text in ("", "today", "last year", "3/4/2025", "2099-01-01", "1969-01-01")),
        *((text, None) for text in ("{{ now }} 2024", "2024-13-45", "x" * 999)),
    ],
)
def test_a_date_is_read_as_people_write_it(tmp_path, text, when):
    """A day is its noon, so that it is the same day in another time zone; what is no certain date is none."""
    assert said(tmp_path, front(date=text)) == when


def test_a_front_matter_is_dated_by_its_date_then_by_its_last_change(tmp_path):
    """``created`` comes last; a date that cannot be read gives way to the next."""
    lines = {"created": "2020-01-01", "updated": "2021-01-01", "Date": "2022-01-01"}
    assert said(tmp_path, front(**lines)) == noon(2022, 1, 1)
    assert said(tmp_path, front(**lines | {"Date": "someday"})) == noon(2021, 1, 1)
    assert said(tmp_path, front(created="2020-01-01")) == noon(2020, 1, 1)
    assert said(tmp_path, front(title="2020-01-01")) is None


def test_a_date_that_cannot_be_read_is_noted(store, tmp_path):
    """The report of indexing names the file; words that mean no date, or are computed, are no mistake."""
    given = ("2026-02-31", "yesterday-ish", "2099-01-01", "today", "`r Sys.Date()`", "null", "", "2024-03-01")
    for place, date in enumerate(given):
        (tmp_path / f"{place}.md").write_text(front(date=date, title="λ"), encoding="utf-8")
    (tmp_path / "next.md").write_text(front(date="someday", created="2024-03-01"), encoding="utf-8")
    report = store(embedder=None).index(tmp_path, progress=False)
    noted = "the date in its front matter cannot be read or is still to come, so it does not count"
    assert [one for one in report.left_out if not one[2]] == [(str(tmp_path / f"{n}.md"), noted, "") for n in range(3)]
    assert f"  noted   {tmp_path / '0.md'}: {noted}" in report.details


@pytest.mark.parametrize(
    ("name", "when"),
    [
        ("2024-03-01.md", noon(2024, 3, 1)),
        ("2024_03_01 weekly.txt", noon(2024, 3, 1)),
        ("minutes-20240301.txt", noon(2024, 3, 1)),
        ("2024-03-01T09-15.md", noon(2024, 3, 1)),
        ("report 2024-03.md", noon(2024, 3, 1)),
        *((name, None) for name in ("120240301.md", "202403011.md", "2024-02-31.md", "2024-03_01.md")),
        *((name, None) for name in ("2099-01-01 plan.md", "v2024.md")),
    ],
)
def test_a_date_in_a_name_is_a_whole_date(tmp_path, name, when):
    """No part of a longer number, no mixture, no day that does not exist, none that lies ahead."""
    assert said(tmp_path, "λ", name) == when


RUN = datetime(2025, 5, 4, 10, 11, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("of_cell", "of_notebook", "when"),
    [
        # As JupyterLab, the extension ExecuteTime and Colab note it.
        ({"execution": {"iopub.execute_input": "2025-05-04T10:11:12Z"}}, {"date": "2024-03-01"}, RUN),
        ({"ExecuteTime": {"start_time": "2025-05-04T10:11:12+00:00"}}, {}, RUN),
        ({"executionInfo": {"timestamp": RUN.timestamp() * 1000}}, {}, RUN),
        ({"papermill": {"start_time": "2025-05-04T10:11:12Z"}}, {"date": "2024-03-01"}, RUN),
        ({"execution": {}, "ExecuteTime": 3, "executionInfo": {"timestamp": "x"}}, {}, None),
        ({}, {"date": "March 1, 2024"}, noon(2024, 3, 1)),
        ({}, {"papermill": {"start_time": "2025-05-04T10:11:12Z"}}, RUN),
        ({}, {"date": {"a": 1}, "papermill": []}, None),
    ],
)
def test_a_cell_is_dated_by_its_run_then_by_its_notebook(tmp_path, of_cell, of_notebook, when):
    """A notebook has a date of its own, or that of a run of papermill; else the time of its file counts."""
    path = tmp_path / "n.ipynb"
    path.write_text(dated_notebook(of_notebook, of_cell))
    os.utime(path, (BEGUN.timestamp(), BEGUN.timestamp()))
    assert read_file(path, root=tmp_path)[0].event_at == (when or BEGUN)


def dated_notebook(of_notebook, *of_cells):
    cells = [
        {"cell_type": "code", "source": f"λ = {place}", "metadata": one, "outputs": [], "execution_count": 1}
        for place, one in enumerate(of_cells)
    ]
    return json.dumps({"cells": cells, "metadata": of_notebook, "nbformat": 4, "nbformat_minor": 4})


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), max_size=25))
def test_no_text_makes_reading_a_date_fail(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("any")
    for found in (said(folder, front(date=f"2024 {text}")), said(folder, "λ", f"{text}2024-03-01{text}.md")):
        assert found is None or (found.tzinfo is UTC and 1970 <= found.year <= datetime.now(UTC).year)


@pytest.fixture
def tree(tmp_path):
    return WorkTree(tmp_path / "work")


def dated(folder):
    """Return the dates that a store has of the files in a folder, but for those of the files themselves."""
    with MemoryStore(folder.parent / "dated.sqlite", embedder=None) as store:
        store.forget(everything=True)
        store.index(folder, progress=False)
        memories = [hit.memory for hit in store.browsed(limit=100).hits]
    times = {Path(one.source): one.event_at for one in memories}
    return {path: time for path, time in times.items() if BEGUN <= time < days(1200)}


def test_each_file_has_the_date_of_the_commit_that_last_changed_it(tree):
    """Whatever its name, its folder and its line ends; not one that changed since, or was never committed."""
    names = ("a b.md", "d/ü.md", "d/e/quoted\"and'.md", "-n.md", "*.md")
    paths = [tree.commit(name, f"{name} one\n", days(i * 30)) for i, name in enumerate(names)]
    tree.commit("d/ü.md", "two\n", days(900))
    paths[0].write_bytes(b"a b.md one\r\n")  # as git makes them on Windows
    tree.commit("changed.md", "one", days(0)).write_text("two")
    (tree.top / "new.md").write_text("three")
    assert dated(tree.top) == {path: days(900 if path.name == "ü.md" else i * 30) for i, path in enumerate(paths)}


def test_a_cell_that_was_run_later_than_its_commit(tree):
    """Its run dates a cell; its commit dates the others, unless the file has changed since: then its metadata do."""
    run = {"execution": {"iopub.execute_input": days(400).isoformat()}}
    path = tree.commit("n.ipynb", dated_notebook({"date": "2020-01-01"}, run, {}), days(30))
    with MemoryStore(tree.top.parent / "memory.sqlite", embedder=None) as store:

        def times():
            store.index(tree.top, progress=False)
            return {hit.memory.text: hit.memory.event_at for hit in store.browsed().hits}

        assert times() == {"λ = 0": days(400), "λ = 1": days(30)}
        path.write_text(dated_notebook({"date": "2020-01-01"}, run, {}, {}))
        assert times() == {"λ = 0": days(400), "λ = 1": noon(2020, 1, 1), "λ = 2": noon(2020, 1, 1)}


def test_a_copy_has_no_time(tmp_path):
    """Ten files that were written within ten seconds were copied: nobody knows when they were written.

    A run and a date of their own still count, and a file whose time lies apart keeps it.
    """
    run = {"execution": {"iopub.execute_input": days(400).isoformat()}}
    texts = {"a.ipynb": dated_notebook({}, run, {}), "b.ipynb": dated_notebook({}, {}), "c.md": "λ is 3.2"}
    others = {"2024-03-01.md": "Zürich", **{f"{place}.csv": "" for place in range(6)}, "apart.md": "€"}
    for place, (name, text) in enumerate({**texts, **others}.items()):
        (tmp_path / name).write_text(text)
        os.utime(tmp_path / name, (days(900).timestamp() + (60 if name == "apart.md" else place),) * 2)
    with MemoryStore(tmp_path / "memory.sqlite", embedder=None) as store:

        def times():
            store.index(tmp_path, progress=False)
            found = [hit.memory for hit in store.browsed(limit=100).hits]
            return {(Path(one.source).name, one.text): one.dated for one in found if not one.source.endswith(".csv")}

        apart = {("apart.md", "€"): days(900) + timedelta(minutes=1), ("2024-03-01.md", "Zürich"): noon(2024, 3, 1)}
        known = {("a.ipynb", "λ = 0"): days(400), ("a.ipynb", "λ = 1"): days(400), **apart}
        assert times() == {**known, ("b.ipynb", "λ = 0"): None, ("c.md", "λ is 3.2"): None}
        frame, answer = store.search("λ is 3.2", limit=1), store.hits("λ is 3.2", limit=1)
        assert frame["event_at"].isna().all() and answer.hits[0].to_json()["event_at"] is None
        assert "ago" not in repr(frame) and "1970" not in repr(frame) + str(store.context(answer))
        assert not any("c.md" in source for source in store.search("λ", until="2026")["source"])
        (tmp_path / "b.ipynb").write_text(dated_notebook({}, {}, {}))
        os.utime(tmp_path / "b.ipynb", (days(950).timestamp(),) * 2)
        assert times() == {
            **known, ("b.ipynb", "λ = 0"): None, ("b.ipynb", "λ = 1"): days(950), ("c.md", "λ is 3.2"): None
        }  # fmt: skip


def test_a_change_that_came_by_a_merge_has_its_own_date(tree):
    """Not that of the merge."""
    tree.commit("a.md", "one", days(0))
    tree.git("checkout", "-q", "-b", "side")
    side = tree.commit("b.md", "side", days(10))
    tree.git("checkout", "-q", "main")
    main = tree.commit("a.md", "two", days(20))
    tree.git("merge", "-q", "--no-ff", "side", "-m", "merged", when=days(30))
    assert dated(tree.top) == {side: days(10), main: days(20)}


def test_each_of_several_repositories_is_asked(tmp_path):
    outer, inner = WorkTree(tmp_path / "work" / "outer"), WorkTree(tmp_path / "work" / "outer" / "inner")
    one, two = inner.commit("one.md", "1", days(5)), outer.commit("two.md", "2", days(7))
    (tmp_path / "work" / "none.md").write_text("3")
    assert dated(tmp_path / "work") == {one: days(5), two: days(7)}


@pytest.mark.skipif(sys.platform == "win32", reason="the program of the configuration is a shell script")
def test_nothing_that_a_repository_configures_is_run(tree, tmp_path):
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
    assert dated(tree.top) == {path: days(0)} and not mark.exists()


def test_a_partial_clone_fetches_nothing(tree, tmp_path):
    """What git would have to ask another machine for has no date."""
    tree.commit("a.md", "one", days(0))
    tree.commit("b.md", "two", days(1))
    tree.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    tree.git("clone", "-q", "--filter=tree:0", "--no-local", tree.top.as_uri(), str(clone))
    before = {one: one.stat().st_mtime_ns for one in (clone / ".git" / "objects").rglob("*")}
    assert set(dated(clone)) <= {clone / "a.md", clone / "b.md"}
    assert {one: one.stat().st_mtime_ns for one in (clone / ".git" / "objects").rglob("*")} == before


def test_a_shallow_clone_knows_the_commits_that_it_has(tree, tmp_path):
    """The first of them seems to add every file: it dates none."""
    tree.commit("a.md", "one", days(0))
    tree.commit("b.md", "two", days(10))
    tree.commit("c.md", "three", days(20))
    clone = tmp_path / "clone"
    tree.git("clone", "-q", "--depth=2", tree.top.as_uri(), str(clone))
    assert dated(clone) == {clone / "c.md": days(20)}


def test_git_is_never_required(tree, monkeypatch):
    """Inside a hook of another repository git finds its own; without git, and broken, the files keep their times."""
    path = tree.commit("a.md", "one", days(0))
    with monkeypatch.context() as changed:
        changed.setenv("GIT_DIR", os.devnull)
        assert dated(tree.top) == {path: days(0)}
    with monkeypatch.context() as changed:
        changed.setenv("PATH", str(tree.top))
        assert dated(tree.top) == {}
    (tree.top / ".git" / "HEAD").write_bytes(b"\0\xff")
    assert dated(tree.top) == {}


@pytest.mark.parametrize("name", ["config", "HEAD", "index"])
def test_a_repository_that_would_wait(tmp_path, name):
    """Git is not asked where it would wait for what somebody writes into a FIFO."""
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / name)
    (tmp_path / "a.md").write_text("λ is 3.2")
    begun = time.perf_counter()
    with MemoryStore(tmp_path / "memory.sqlite", embedder=None) as store:
        assert store.index(tmp_path, progress=False).files == 1 and time.perf_counter() - begun < 10
