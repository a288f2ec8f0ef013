"""Files and folders of a store: listed, watched, compared with the disk, dated, known by every name, and removed."""

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from inside import run_sql
from week import LAMBDA, ZURICH, WorkTree

from jupyter_memory import InputError, JupyterMemory, MemoryStore
from jupyter_memory.types import Filters


def test_an_indexed_folder_is_listed(filled, week_folder, store):
    """A folder that was indexed is listed with its files and memories, in its own space; not watched, not compared."""
    (folder,) = filled.folders()
    assert (folder.path, folder.watched, folder.changed, folder.exists) == (str(week_folder), False, None, True)
    assert (folder.files, folder.memories) == (3, 4)
    assert (datetime.now(UTC) - folder.indexed_at).total_seconds() < 600
    store("other.sqlite", space="shops").index(week_folder, progress=False)
    assert [len(store("other.sqlite", space=space).folders()) for space in ("shops", "λ")] == [1, 0]


def test_a_folder_within_a_folder(filled, week_folder):
    filled.index(week_folder / "notes", progress=False)
    assert [folder.path for folder in filled.folders()] == [str(week_folder)]
    filled.watch(week_folder / "notes")
    filled.index(week_folder.parent / "wöche", progress=False)
    assert [folder.path for folder in filled.folders()] == [str(week_folder), str(week_folder / "notes")]
    (week_folder.parent / "other.md").write_text("Other")
    filled.index(week_folder.parent, progress=False)
    assert [folder.path for folder in filled.folders()] == [str(week_folder.parent), str(week_folder / "notes")]


def test_files_without_a_folder(filled, week_folder, store):
    """Files of which no folder was noted stand for the topmost that holds them; one indexed alone is itself."""
    run_sql(filled, "delete from folders")
    (folder,) = filled.folders()
    assert (folder.path, folder.files, folder.watched) == (str(week_folder), 3, False)
    assert folder.indexed_at is not None
    memory = store("other.sqlite")
    memory.index(week_folder / "lambda.md", progress=False)
    (one,) = memory.folders()
    assert (one.path, one.files, memory.stale(one.path)) == (str(week_folder / "lambda.md"), 1, 0)


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
    """An empty folder is indexed and watched before anything is in it, one that is not there is not."""
    folder, memory = tmp_path / "neu", store()
    folder.mkdir()
    assert memory.index(folder, progress=False).files == 0
    memory.watch(folder)
    assert [(one.path, one.watched, one.files) for one in memory.folders()] == [(str(folder), True, 0)]
    (folder / "lambda.md").write_text(LAMBDA)
    memory.index(folder / "lambda.md", progress=False)
    assert [(one.path, one.watched, one.files) for one in memory.folders()] == [(str(folder), True, 1)]
    with pytest.raises(InputError, match="Index it first"):
        memory.watch(tmp_path / "elsewhere")


def test_comparing_with_the_disk(filled, week_folder):
    """New, gone and changed files are counted, of a folder that is gone all; one that was only touched is not."""
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
    week_folder.rename(week_folder.parent / "gone")
    (folder,) = filled.folders(compare=True)
    assert (folder.exists, folder.changed, folder.files) == (False, 3, 3)


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


@pytest.mark.parametrize("everything", [True, False])
def test_forgetting_a_folder(filled, week_folder, bytes_of, everything):
    """A folder all of whose memories are forgotten is listed and watched no longer, and its name leaves the file."""
    filled.watch(week_folder)
    assert week_folder.name.encode() in bytes_of(filled.path)
    filled.forget(**({"everything": True} if everything else {"source": str(week_folder)}))
    assert filled.folders() == []
    assert week_folder.name.encode() not in bytes_of(filled.path)


def test_a_described_folder(filled, week_folder, bytes_of):
    """The line of the nearest folder comes with a hit; it goes with what was there, or alone, without a trace."""
    notes, told = week_folder / "notes", lambda: {hit.folder_description for hit in filled.hits("λ Zürich").hits}
    filled.describe_folder(week_folder, "all of the week")
    assert filled.describe_folder(notes, "drafts,\n superseded") == str(notes)
    assert told() == {"all of the week", "drafts, superseded"}
    frame = filled.search("λ Zürich")
    below = frame["source"].str.startswith(str(notes))
    assert set(frame[below]["folder_description"]) == {"drafts, superseded"}
    assert filled.hits("λ Zürich").hits[0].to_json()["folder_description"] in told()
    filled.describe_folder(notes, "")
    assert told() == {"all of the week"} and b"superseded" not in bytes_of(filled.path)
    filled.describe_folder(notes, "password = 'hunter2-Zürich-93'")
    assert "hunter2" not in filled.described_folders()[1].description
    filled.forget(source=str(week_folder))
    assert filled.described_folders() == [] and b"all of the week" not in bytes_of(filled.path)
    filled.index(week_folder, progress=False)
    filled.describe_folder(notes, "drafts")
    with MemoryStore(filled.path, settings=JupyterMemory(undo_minutes=5)) as memory:
        memory.forget(everything=True)
        assert memory.described_folders() == [] and memory.undo() == 4
    assert "drafts" in told()
    for path, line in ((week_folder.parent / "elsewhere", "λ"), (week_folder, "λ" * 301)):
        with pytest.raises(InputError):
            filled.describe_folder(path, line)


def test_a_hidden_folder(filled, week_folder, monkeypatch):
    """No search that does not name it finds a hidden folder, and says so if it may have missed something; lists do."""
    notes = week_folder / "notes"
    [hidden] = [hit.memory for hit in filled.hits("λ Zürich").hits if hit.memory.source.startswith(str(notes))]
    filled.describe_folder(notes, hidden=True)

    def is_found(answer):
        return hidden.id in [hit.memory.id for hit in answer.hits]

    assert not is_found(filled.hits("λ Zürich")) and is_found(filled.browsed())
    other = filled.hits("λ Zürich").hits[0].memory.id
    assert not is_found(filled.related(other)) and not is_found(
        filled.hits("λ Zürich", filters={"path": str(week_folder)})
    )
    assert not is_found(filled.hits("λ Zürich path:*.md"))
    monkeypatch.chdir(week_folder)
    for named in ("notes", str(notes), hidden.source, "~/wöche/notes/../notes"):
        monkeypatch.setenv("HOME", str(week_folder.parent))
        assert is_found(filled.hits("λ Zürich", filters={"path": named})), named
    assert is_found(filled.hits("λ Zürich path:notes")) and is_found(
        filled.part(Filters(path=(str(notes),))).hits("λ Zürich")
    )
    said = f"Below {notes}, 1 memory is hidden from searches that do not name the path."
    assert said in filled.hits(hidden.text[:40] + " zebra").notices and said in filled.hits("xyzzy").notices
    assert said not in filled.hits("xyzzy", filters={"kind": "note"}).notices
    assert any("folder is hidden" in one for one in filled.explain("λ Zürich", hidden.id).reasons)
    filled.index(week_folder, progress=False)
    assert filled.get(hidden.id) == hidden  # still indexed
    filled.describe_folder(notes, hidden=False)
    assert is_found(filled.hits("λ Zürich")) and filled.described_folders() == []


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


def test_indexing_that_is_stopped(store, tmp_path):
    """What the progress raises stops the indexing; what was written until then stays, and the next run goes on."""
    # Progress begins without a total, never goes back, and ends with every file done.
    folder, memory, told = tmp_path / "many", store(embedder=None), []
    folder.mkdir()
    for number in range(1_100):
        (folder / f"{number}.txt").write_text(f"Day {number}")

    def stop(done, total):
        if done == 1_090:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        memory.index(folder, progress=stop)
    written = memory.stats()["files"]
    assert 0 < written < 1_100 and [one.path for one in memory.folders()] == [str(folder)] and memory.doctor() == []
    report = memory.index(folder, progress=lambda done, total: told.append((done, total)))
    assert (report.files, report.unchanged) == (1_100 - written, written)
    assert told[0] == (0, None) and told[-1] == (1_100, 1_100) and {total for _, total in told[1:]} == {1_100}
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_file_that_cannot_be_read_has_not_changed(filled, week_folder):
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


@pytest.fixture
def linked(tmp_path):
    """A folder with two documents, a folder of like name beside it, a link to the folder, and one to a document."""
    real = tmp_path / "real" / "a λ"
    (real / "b").mkdir(parents=True)
    (real.parent / "a λ2").mkdir()
    for name, town in (("a λ/one", "Zürich"), ("a λ/b/two", "Genève"), ("a λ2/one", "Basel")):
        (real.parent / f"{name}.md").write_text(f"prices of {town}", encoding="utf-8")
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
    """A folder that was renamed, with a link in its place, is found by its new name, and has it once that is told."""
    opened, folder = store(), linked / "real" / "a λ"
    opened.index(folder, progress=False)
    opened.index(linked / "real" / "a λ2", progress=False)
    folder.rename(linked / "moved")
    folder.symlink_to(linked / "moved")
    for name, count in (("moved", 2), ("moved/b", 1), ("moved/one.md", 1), ("real", 3)):
        assert len(opened.browsed(filters={"path": str(linked / name)}).hits) == count
        assert opened.forget(source=str(linked / name), dry_run=True) == count
    assert opened.rename(folder, linked / "moved") == 2
    assert str(linked / "moved") in {one.path for one in opened.folders()}
    assert opened.forget(source=str(linked / "moved")) == 2


def test_a_folder_above_what_a_link_leads_to(store, linked):
    """Files that were indexed through a link lie in the folders above their own, too, also of a relative name."""
    opened = store(folder=linked)
    opened.index(linked / "plink", progress=False)
    assert len(opened.browsed(filters={"path": str(linked / "real")}).hits) == 2
    assert len(opened.browsed(filters={"path": "plink/one.md"}).hits) == 1
    assert opened.forget(source="plink/b") == 1 and opened.forget(source=str(linked / "real")) == 1


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


BEGUN = datetime(2023, 11, 20, 9, tzinfo=UTC)
NOTE = "The tariff of week {week} is {week} francs.\n"


def test_a_clone_of_three_years_of_notes_is_not_all_from_today(tmp_path, store):
    """Nor is a copy; every note has the date of its commit, and a search for a period finds those of the period."""
    memory, tree = store(), WorkTree(tmp_path / "work")
    for month in range(0, 36, 3):
        tree.commit(f"notes/n{month}.md", NOTE.format(week=month), BEGUN + timedelta(days=30 * month))
    tree.git("clone", "-q", str(tree.top), str(tmp_path / "clone"))
    shutil.copytree(tree.top, tmp_path / "copy", copy_function=shutil.copyfile)
    for folder in ("clone", "copy"):
        memory.index(tmp_path / folder / "notes", progress=False)
        asked = {"since": "2024-01-01", "until": "2025-01-01", "filters": {"path": str(tmp_path / folder)}}
        found = memory.hits("tariff francs", limit=100, **asked)
        expected = [m for m in range(0, 36, 3) if (BEGUN + timedelta(days=30 * m)).astimezone().year == 2024]
        assert {Path(hit.memory.source).name for hit in found.hits} == {f"n{month}.md" for month in expected}
        assert all(hit.memory.event_at.hour == BEGUN.hour for hit in found.hits)


def test_workers_date_files_in_the_same_way(tmp_path, store):
    memory = store()
    tree = WorkTree(tmp_path / "work")
    for year in (2024, 2025):
        for number in range(20):
            name = tree.top / str(year) / f"{number}.txt"
            name.parent.mkdir(exist_ok=True)
            name.write_text(f"{year} {number}\n" + "all work and no play\n" * 5_000)
        tree.commit(f"{year}/readme.txt", str(year), datetime(year, 6, 1, 12, tzinfo=UTC))
    memory.index(tree.top, progress=False)
    found = [hit.memory for hit in memory.hits("work", limit=50).hits]
    assert {(one.event_at.year, Path(one.source).parent.name) for one in found} == {(2024, "2024"), (2025, "2025")}


def test_what_a_document_says_comes_before_its_commit(tmp_path, store):
    """Its front matter first, then its name, then the commit."""
    memory = store()
    tree = WorkTree(tmp_path / "work")
    tree.commit("2022-05-04 tariffs.md", "---\ndate: 2021-02-03\n---\nThe oldest tariff.\n", BEGUN)
    tree.commit("2022-05-04 fares.md", "The old fare.\n", BEGUN)
    memory.index(tree.top, progress=False)
    found = [hit.memory for hit in memory.hits("old tariff fare").hits]
    days = {one.text.split()[-1]: one.event_at.date().isoformat() for one in found}
    assert days == {"tariff.": "2021-02-03", "fare.": "2022-05-04"}
