"""What every storage must do with the files and folders that were read."""

from __future__ import annotations

from dataclasses import replace

from contract_writing import NOTE, NOTEBOOK, NOW, add, everything, read_file, seen

from jupyter_memory import FileState


def test_a_file_that_changed(storage):
    """A cell that is still there keeps its id, pin and tags, and one that is gone is forgotten."""
    first, second, _ = read_file(storage, "prices = read()", "prices.mean()", "plot(prices)")
    storage.writer.update(second.id, {"pinned": True}, tags=["mine"])
    after = read_file(storage, "λ = 3", "prices.mean()")

    assert [memory.id == second.id for memory in after] == [False, True]
    assert after[1].pinned and after[1].tags == ("mine",)
    assert first.id not in {memory.id for memory in everything(storage)}
    assert seen(storage, lambda snapshot: snapshot.file_texts([NOTEBOOK], "")) == {
        NOTEBOOK: [("#0", "λ = 3"), ("#1", "prices.mean()")]
    }


def test_the_record_of_files(storage):
    """Files are known by path within their space, and forgotten with their memories; notes about them stay."""
    read_file(storage, "λ = 3")
    add(storage, replace(NOTE, source=NOTEBOOK))
    # Whoever read it did not say that it has a date.
    touched = FileState(NOTEBOOK, 7, 5, "hash", dated=False)
    storage.writer.touch_file(replace(touched, dated=None), "")
    known = seen(storage, lambda snapshot: snapshot.files_under("/week", ""))

    assert {path: replace(state, indexed_at=None) for path, state in known.items()} == {NOTEBOOK: touched}
    assert seen(storage, lambda snapshot: snapshot.files_under("/week", "other")) == {}
    assert storage.writer.forget_files([NOTEBOOK], "") == 1
    assert seen(storage, lambda snapshot: snapshot.files_under("/", "")) == {}
    assert [memory.title for memory in everything(storage)] == ["λ"]


def test_renaming(storage):
    """A folder that moved takes its memories along, in place of what was indexed at the new path."""
    [memory] = read_file(storage, "λ = 3")
    read_file(storage, "old", path="/month/λ.ipynb")

    assert storage.writer.rename("/week", "/month") == 1
    assert [(one.id, one.source) for one in everything(storage)] == [(memory.id, "/month/λ.ipynb")]


def test_folders(storage, tmp_path):
    """Folders are noted, watched and removed with what was indexed from them."""
    folder, below = str(tmp_path), str(tmp_path / "below")
    read_file(storage, "λ = 3", path=f"{below}/λ.ipynb")
    storage.writer.note_folder(below, "", NOW)
    storage.writer.note_folder(folder, "", NOW)
    assert seen(storage, lambda snapshot: snapshot.noted_folders("")) == [folder]
    assert seen(storage, lambda snapshot: snapshot.folder_above(below, "")) == folder

    storage.writer.watch(folder, "", True)
    [shown] = seen(storage, lambda snapshot: snapshot.folders(""))
    assert (shown.path, shown.watched, shown.files, shown.memories) == (folder, True, 1, 1)
    assert storage.writer.remove_folder(folder, "") == 1
    assert seen(storage, lambda snapshot: snapshot.folders("")) == [] == everything(storage)


def test_a_folder_that_was_left(storage, tmp_path):
    """A folder that is gone, and whose files moved away, leaves the list; one that is watched stays."""
    for name in ("gone", "watched"):
        storage.writer.note_folder(str(tmp_path / name), "", NOW)
    storage.writer.watch(str(tmp_path / "watched"), "", True)
    storage.writer.drop_vacated("")

    assert seen(storage, lambda snapshot: snapshot.noted_folders("")) == [str(tmp_path / "watched")]
