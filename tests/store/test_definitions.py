"""What memories define is stored with them: always that of the present text, gone with it, mended by rebuild."""

from __future__ import annotations

import nbformat
import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.store import maintenance
from jupyter_memory.text import definitions

CLIENT = "class QuarzClient:\n    def zwischenspeichern(self): ...\n\nQUARZRATE = 3\n"


def kept(store):
    """Return what a store keeps of its memories in Python, and what their texts define, both by id."""
    storage = store._storage
    with storage.snapshot() as snapshot:
        memories = {
            snapshot.key_of(hit.memory.id): hit.memory
            for hit in store.browsed(limit=1_000).hits
            if hit.memory.lang.lower() == "python"
        }
        found = snapshot.definitions(list(memories))
    read = {one.id: definitions(one.kind, one.lang, one.text) for one in memories.values()}
    return {memories[key].id: one for key, one in found.items()}, read


def lose(store):
    """Take all definitions out of a store."""
    with store._storage.database.write() as connection:
        connection.execute("delete from definitions")


@pytest.fixture
def folder(tmp_path):
    """A file, a notebook with a magic and an output, and a page that is not in Python."""
    root = tmp_path / "lib"
    root.mkdir()
    (root / "client.py").write_text(CLIENT, encoding="utf-8")
    (root / "page.md").write_text("# Client\n\nclass Prose: of its own\n", encoding="utf-8")
    cell = nbformat.v4.new_code_cell("%time\ndef mean(prices): ...\nλ = 3\n")
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text="def printed(): ...\n")]
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), root / "book.ipynb")
    return root


@pytest.fixture
def filled(store, folder):
    memories = store()
    memories.index(folder, progress=False)
    memories.add_many([{"text": "def noted(): ...", "lang": "python"}, {"text": "a note"}], progress=False)
    return memories


def test_with_what_is_stored(filled):
    """Files, cells and notes in Python are stored with what they define, others without."""
    found, read = kept(filled)

    assert found == read
    assert {name for one in found.values() for names in one for name in names.split()} == {
        *("QuarzClient", "zwischenspeichern", "QUARZRATE", "mean", "λ", "noted")
    }


def test_after_every_change(filled, folder):
    """An edit, a move, a new name, a changed text or language: the definitions are those of what is there."""
    moved = folder.parent / "moved"
    folder.rename(moved)
    (moved / "client.py").write_text(CLIENT + "def added(): ...\n", encoding="utf-8")
    filled.index(moved, progress=False)
    (moved / "client.py").rename(moved / "session.py")
    filled.rename(moved / "client.py", moved / "session.py")
    note = next(hit.memory for hit in filled.browsed(limit=9, filters={"kind": "note"}).hits if hit.memory.lang)
    other = filled.add("rate = 2")
    filled.update(note.id, text="def renoted(): ...", title="λ")
    filled.update(other.id, lang="python")
    filled.pin(note.id)
    found, read = kept(filled)

    assert found == read and len(found) == 4
    assert found[note.id].defined == "renoted" and found[other.id].assigned == "rate"
    filled.update(other.id, lang=None)
    found, read = kept(filled)
    assert found == read and other.id not in found
    assert filled.doctor() == []


def test_what_is_known_already(filled):
    """What is added again gets new tags, and keeps what it defines."""
    before, _ = kept(filled)
    filled.add_many([{"text": "def noted(): ...", "lang": "python", "tags": ["two"]}], progress=False)

    assert kept(filled)[0] == before and filled.tags() == ["two"]


def test_where_they_lack(filled, monkeypatch):
    """`rebuild` stores them again, in as many batches as it takes, and changes nothing else."""
    monkeypatch.setattr(maintenance, "_BATCH", 1)
    told = [(hit.memory.id, hit.memory.indexed_at) for hit in filled.browsed(limit=9).hits]
    lose(filled)
    filled.rebuild()
    found, read = kept(filled)

    assert found == read and len(found) == 3
    assert [(hit.memory.id, hit.memory.indexed_at) for hit in filled.browsed(limit=9).hits] == told


def test_what_another_program_wrote(filled):
    """Whatever changes a text without its definitions loses these, and `rebuild` stores those of the new text."""
    with filled._storage.database.write() as connection:
        connection.execute("update texts set text = replace(text, 'QuarzClient', 'ServiceClient')")
    assert kept(filled)[0] == {}
    filled.rebuild()

    found, read = kept(filled)
    assert found == read and "ServiceClient" in {one.defined for one in found.values()}


def test_rebuild_mends_them(filled):
    """What doctor says of a damaged name mends it."""
    with filled._storage.database.write() as connection:
        connection.execute("update definitions set defined = 'QuarxClient' where defined = 'QuarzClient'")
    [said] = filled.doctor()
    filled.rebuild()
    found, read = kept(filled)

    assert said.startswith("The names that 1 memory should define are not in the text.") and "store.rebuild()" in said
    assert found == read and filled.doctor() == []


def test_nothing_is_left_of_what_is_forgotten(filled, folder, bytes_of):
    """The names of a forgotten file, and those that an edit took out, are in no file of the store."""
    names = [b"QuarzClient", b"zwischenspeichern", b"QUARZRATE"]
    assert all(name in bytes_of(filled.path) for name in names)
    filled.forget(source=str(folder / "client.py"))
    assert not any(name in bytes_of(filled.path) for name in names)

    (folder / "client.py").write_text(CLIENT, encoding="utf-8")
    filled.index(folder, progress=False)
    assert b"QUARZRATE" in bytes_of(filled.path)
    (folder / "client.py").write_text("x = 1\n", encoding="utf-8")
    filled.index(folder, progress=False)
    assert not any(name in bytes_of(filled.path) for name in names)


def test_no_secret_is_a_name(store, tmp_path):
    """Names are read after secrets were hidden."""
    (tmp_path / "keys.py").write_text('api_key = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"\n', encoding="utf-8")
    memories = store()
    memories.index(tmp_path / "keys.py", progress=False)

    assert [one.assigned for one in kept(memories)[0].values()] == ["api_key"]
    assert "4f9a8b7c" not in memories.get(memories.hits("api key").hits[0].memory.id).text


def test_a_backup_has_them(filled, tmp_path):
    """They are copied with the store, and come back with a restored one."""
    before, _ = kept(filled)
    filled.backup(tmp_path / "copy.sqlite")
    MemoryStore.restore(tmp_path / "copy.sqlite", tmp_path / "again.sqlite")
    with MemoryStore(tmp_path / "again.sqlite") as again:
        assert kept(again)[0] == before


def test_the_file_that_defines_it_comes_first(store, tmp_path):
    """A class is found where it is defined, though others name it more often; the explanation says so."""
    root = tmp_path / "lib"
    root.mkdir()
    (root / "client.py").write_text("class Session:\n    def close(self): ...\n", encoding="utf-8")
    for number in range(3):
        (root / f"use_{number}.py").write_text(f"print(Session, Session, Session, {number})\n", encoding="utf-8")
    memories = store()
    memories.index(root, progress=False)
    first = memories.hits("Session").hits[0].memory
    told = memories.explain("Session", first.id).details

    assert first.title == "client.py"
    assert "0.500000 for its definition of `Session` (defines, 1st, value 1)." in told
    assert "0.500000 for its definition of `Session` (defined_names, 1st, value 0.5)." in told
    assert "Nothing for file_stem: the names of its file and folder are not in the query." in told
    answer = memories.hits("Session")
    assert told == memories.explain_in(answer, first.id).details
