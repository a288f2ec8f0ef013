"""Import into stores that hold something, and of folders that are not what they say."""

from __future__ import annotations

import json
import os

import pytest

from jupyter_memory import InputError, JupyterMemory, MemoryStore


@pytest.fixture
def opened(tmp_path):
    """Return a function that opens a store by name."""
    stores = []

    def open_(name, **values):
        stores.append(MemoryStore(tmp_path / f"{name}.sqlite", "static", settings=JupyterMemory(), **values))
        return stores[-1]

    yield open_
    for store in stores:
        store.close()


@pytest.fixture
def exported(opened, tmp_path):
    """Return an exported folder of two notes."""
    store = opened("first")
    store.add("Prices are net of tax.", title="Net prices", tags=["decision"])
    store.add("λ is 0.3 at night.", space="work")
    store.export(tmp_path / "out")
    return tmp_path / "out"


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_an_export_is_for_its_owner_alone(exported):
    """Folders and files are closed to other users, and nothing else is left beside them."""
    assert exported.stat().st_mode & 0o777 == 0o700
    assert {one.stat().st_mode & 0o777 for one in exported.rglob("*") if one.is_file()} == {0o600}
    assert [one.name for one in exported.parent.iterdir() if one.is_dir()] == ["out"]


def test_notes_are_markdown_with_front_matter(exported):
    """A note is a file that other programs read: its title, tags and text."""
    [note] = (exported / "notes").glob("net-prices-*.md")
    assert 'title: "Net prices"\ntags: ["decision"]' in note.read_text()
    assert note.read_text().endswith("---\n\nPrices are net of tax.\n")


def test_a_folder_with_something_in_it_is_refused(exported, opened):
    """An export never writes into a folder that holds anything."""
    with pytest.raises(InputError, match="new or empty"):
        opened("first").export(exported)


def test_a_space_is_exported_alone(exported, opened, tmp_path):
    """A store that is opened with a space exports what this space holds."""
    assert opened("first", space="work").export(tmp_path / "work").memories == 1


def test_known_memories_stay_unless_told(exported, opened):
    """A memory that was changed since stays; with update it becomes what the folder says."""
    store = opened("first")
    [memory] = [hit.memory for hit in store.hits("net prices", limit=1).hits]
    store.update(memory.id, text="Prices include tax.", tags=[])
    assert store.import_(exported, progress=False).kept == 2
    assert store.get(memory.id).text == "Prices include tax."
    report = store.import_(exported, update=True, progress=False)
    assert (report.updated, report.kept) == (1, 1)
    assert store.get(memory.id).text == "Prices are net of tax." and store.get(memory.id).tags == ("decision",)
    assert store.doctor() == []


def test_known_content_is_merged(exported, opened):
    """A note that is there under another id gets the tags of the one that comes."""
    store = opened("second")
    mine = store.add("Prices are net of tax.", title="Net prices", tags=["mine"])
    report = store.import_(exported, progress=False)
    assert (report.added, report.merged) == (1, 1)
    assert set(store.get(mine.id).tags) == {"mine", "decision"}


def test_files_that_are_indexed_here_are_left_out(opened, tmp_path):
    """Cells of a file that this store has read later are not joined by those of before."""
    week = tmp_path / "week"
    week.mkdir()
    (week / "a.md").write_text("Prices of Monday.")
    first, second = opened("first"), opened("second")
    first.index(week, progress=False)
    first.export(tmp_path / "out")
    (week / "a.md").write_text("Quite another text about λ.")
    second.index(week, progress=False)
    assert second.import_(tmp_path / "out", progress=False).left_out == 1
    assert second.count() == 1


def test_secrets_are_redacted_on_import(exported, opened):
    """A text that somebody wrote into the folder is stored as any other: without its secrets."""
    record = lines(exported / "memories.jsonl")[0]
    record |= {"text": "password = 'k4ffee-und-kuchen'", "chunks": []}
    (exported / "memories.jsonl").write_text(json.dumps(record) + "\n")
    store = opened("second")
    store.import_(exported, progress=False)
    assert "[redacted: password]" in store.get(record["id"]).text


def test_a_broken_line_is_named_and_nothing_is_stored(exported, opened):
    """The error names file and line, and the store stays as it was."""
    file = exported / "memories.jsonl"
    whole = file.read_text()
    store = opened("second")
    first = json.loads(whole.splitlines()[0])
    changes = (
        {"id": "../../etc"}, {"pinned": 1}, {"tags": "decision"}, {"event_at": "2026-03-01"}, {"kind": "secret"},
        {"accessed": -1}, {"accessed": 2**70}, {"metadata": []}, {"text": " "}, {"chunks": [[0, 10**6, None, ""]]},
        {"chunks": 7}, {"chunks": [1]}, {"space": None}, {"text": "\ud800"},
    )  # fmt: skip
    broken = ["{", "[]", "NaN", "[" * 100_000, *(json.dumps(first | one) for one in changes), whole.splitlines()[0]]
    for line in broken:
        file.write_text(whole + line + "\n")
        with pytest.raises(InputError, match=r"memories\.jsonl, line 3"):
            store.import_(exported, progress=False)
    assert store.count() == 0


@pytest.mark.parametrize("path", ["../x", "/a/../b", "a\0b", "", "notes/a.md"])
def test_paths_that_lead_elsewhere_are_refused(exported, opened, path):
    """A folder on the list has a path from the root; nothing else is imported then, either."""
    record = {"path": path, "space": "", "watched": True, "indexed_at": None}
    (exported / "folders.jsonl").write_text(json.dumps(record) + "\n")
    with pytest.raises(InputError, match=r"folders\.jsonl, line 1: path"):
        opened("second").import_(exported, progress=False)


def test_links_and_pipes_are_refused(exported, opened, tmp_path):
    """Only regular files are read: a link could lead anywhere, and a pipe never ends."""
    (exported / "runs.jsonl").unlink()
    os.mkfifo(exported / "runs.jsonl")
    with pytest.raises(InputError, match="no regular file"):
        opened("second").import_(exported, progress=False)


def test_other_folders_and_newer_versions_are_refused(exported, opened, tmp_path):
    """What no export wrote, or a newer one, is said plainly."""
    store = opened("second")
    with pytest.raises(InputError, match="no exported store"):
        store.import_(tmp_path, progress=False)
    about = json.loads((exported / "store.json").read_text())
    (exported / "store.json").write_text(json.dumps(about | {"version": 2}))
    with pytest.raises(InputError, match="newer version"):
        store.import_(exported, progress=False)
