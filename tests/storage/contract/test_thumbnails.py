"""What every storage must do with pictures: they come with their memories, and they go with them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jupyter_memory import FileState, UnknownMemory
from jupyter_memory.ingest import prepare
from jupyter_memory.types import Draft, Filters, Pictures, Thumbnail

NOTEBOOK = "/week/λ.ipynb"
FIRST = Thumbnail("image/webp", 48, 36, b"first picture" * 900)
SECOND = Thumbnail("image/png", 10, 20, b"second picture")


def cell(text, *thumbnails, place=0, path=NOTEBOOK):
    return Draft(
        text=text, kind="cell", source=path, location=f"#{place}", lang="python", pictures=Pictures(tuple(thumbnails))
    )


def read_file(storage, *drafts, path=NOTEBOOK, pictures=None):
    """Store a file of these cells, and return its memories in their order."""
    state = FileState(path, 1, len(drafts), "-".join(draft.text for draft in drafts), pictures=pictures)
    storage.writer.replace_files([(state, prepare(drafts, None))], None, "")
    with storage.snapshot() as snapshot:
        found = snapshot.memories(snapshot.keys(Filters(path=(path,)))).values()
    return sorted(found, key=lambda memory: memory.location)


def test_a_picture_comes_back_by_its_place(storage):
    """Each memory has its own pictures in their order, and says how many; nothing is at any other place."""
    plots, table = read_file(storage, cell("plot(λ)", FIRST, SECOND), cell("λ.head()", place=1))

    assert (plots.thumbnails, table.thumbnails) == (2, 0)
    assert [storage.thumbnails.get(plots.id, place) for place in range(3)] == [FIRST, SECOND, None]
    assert storage.thumbnails.get(table.id, 0) is None
    with pytest.raises(UnknownMemory):
        storage.thumbnails.get("none", 0)


def test_the_pictures_of_a_file_are_known_by_their_origin(storage):
    """So a picture that is still in a changed file need not be made again; other files and spaces have their own."""
    known = replace(FIRST, origin="f1")
    read_file(storage, cell("plot(λ)", known), cell("plot(μ)", replace(SECOND, origin="s2"), place=1))

    found = storage.thumbnails.of_file(NOTEBOOK, "")
    assert sorted(found) == ["f1", "s2"] and found["f1"] == known
    assert storage.thumbnails.of_file(NOTEBOOK, "other") == storage.thumbnails.of_file("/gone.ipynb", "") == {}


def test_a_note_may_have_one(storage):
    """What is added has its pictures too."""
    [memory] = storage.writer.add(prepare([Draft(text="λ", pictures=Pictures((SECOND,)))], None), None)

    assert memory.thumbnails == 1 and storage.thumbnails.get(memory.id, 0) == SECOND


def test_an_edited_cell_has_the_new_picture(storage):
    """A cell that keeps its id takes the picture that its file has now; one without a picture loses it."""
    [before] = read_file(storage, cell("plot(λ)", FIRST))
    [edited] = read_file(storage, cell("plot(λ, 'μ')", SECOND))
    assert edited.id == before.id and storage.thumbnails.get(edited.id, 0) == SECOND

    [without] = read_file(storage, cell("plot(λ, 'ν')"))
    assert without.id == before.id and without.thumbnails == 0


def test_a_picture_goes_with_its_memory(storage):
    """Forgetting a memory, or its file, leaves nothing of its pictures."""
    [one] = read_file(storage, cell("plot(λ)", FIRST))
    read_file(storage, cell("plot(μ)", FIRST, path="/month/μ.ipynb"), path="/month/μ.ipynb")

    storage.writer.forget([one.id])
    assert storage.thumbnails.size((), "") == len(FIRST.image)
    storage.writer.forget_files(["/month/μ.ipynb"], "")
    assert storage.thumbnails.size((), "") == 0


def test_all_pictures_go_at_once(storage):
    """Clearing removes every picture, keeps the memories, and has their files read again later."""
    [memory] = read_file(storage, cell("plot(λ)\n\nOut:\n[image/png]", FIRST, SECOND), pictures=True)
    assert storage.thumbnails.unread([NOTEBOOK], "") == set()

    assert storage.thumbnails.clear() == 2
    assert storage.thumbnails.clear() == 0
    assert storage.thumbnails.get(memory.id, 0) is None
    assert storage.thumbnails.unread([NOTEBOOK], "") == {NOTEBOOK}


def test_the_size_leaves_out_files_that_are_about_to_be_replaced(storage):
    """What a file holds now is room for what it is going to hold; a file of another space is another file."""
    read_file(storage, cell("plot(λ)", FIRST))
    read_file(storage, cell("plot(μ)", SECOND, path="/month/μ.ipynb"), path="/month/μ.ipynb")

    both = len(FIRST.image) + len(SECOND.image)
    assert storage.thumbnails.size((), "") == both
    assert storage.thumbnails.size([NOTEBOOK], "") == len(SECOND.image)
    assert storage.thumbnails.size([NOTEBOOK], "other") == both


def test_which_files_have_unread_pictures(storage):
    """A file whose text shows a picture that nobody read is named, until it was read with its pictures."""
    shown = "plot(λ)\n\nOut:\n[image/png]"
    read_file(storage, cell(shown), pictures=False)
    read_file(storage, cell("1 + 1", path="/month/μ.ipynb"), path="/month/μ.ipynb", pictures=False)
    named = [NOTEBOOK, "/month/μ.ipynb", "/gone.ipynb"]
    assert storage.thumbnails.unread(named, "") == {NOTEBOOK}
    assert storage.thumbnails.unread(["/month/μ.ipynb"], "") == set()

    read_file(storage, cell(shown, FIRST), pictures=True)
    assert storage.thumbnails.unread(named, "") == set()
    storage.writer.touch_file(FileState(NOTEBOOK, 2, 1, shown), "")
    assert storage.thumbnails.unread(named, "") == set()
