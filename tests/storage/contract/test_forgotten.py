"""What every storage must do with what was forgotten and can be taken back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from contract_writing import NOTE, add, everything, read_file, seen
from hashing import Hashing

from jupyter_memory.ingest import drafted, prepare
from jupyter_memory.storage import RunFilter
from jupyter_memory.types import Draft, Feedback, Filters, Pictures, Recent, Run, Thumbnail

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=10)
PICTURE = Thumbnail("image/webp", 48, 36, b"a picture" * 900)


@pytest.fixture
def storage(storage):
    """A store that keeps what is forgotten for a while, as one in a file does."""
    if not isinstance(storage.path, Path):
        pytest.skip("what is forgotten on a server is gone: tests/storage/postgres/test_forgetting.py")
    return storage


def holds(storage, word):
    return seen(storage, lambda snapshot: snapshot.holds_word(word, ["text", "title", "tags", "ident"]))


def test_everything_of_a_memory_comes_back(storage):
    """Id, pin, tags, vectors, words, feedback, searches, pictures and counts are as they were."""
    embedder = Hashing()
    [note, _] = add(
        storage,
        replace(NOTE, pinned=True, pictures=Pictures((PICTURE,)), metadata={"ü": [1]}),
        Draft(text="Prices fell."),
        embedder=embedder,
    )
    storage.writer.note_search(Recent("q1", "zürich", "auto", NOW, "magic", 1), [note.id], 1)
    storage.writer.judge(Feedback(note.id, True, "zürich", "q1", "auto", 1, NOW))
    storage.writer.note_access(note.id, 1)
    [before] = everything(storage, tag=("decision",))
    vectors = seen(storage, _vectors)

    assert storage.writer.forget([note.id], until=LATER) == 1
    assert [one.text for one in everything(storage)] == ["Prices fell."] and not holds(storage, "zürich")
    assert seen(storage, lambda snapshot: (snapshot.feedback(), snapshot.recent_searches(9))) == ([], [])
    assert [(one.memories, one.until) for one in storage.forgotten.pending("")] == [(1, LATER)]

    assert storage.forgotten.undo("") == 1
    assert everything(storage, tag=("decision",)) == [before] and before.accessed == 1 and before.pinned
    assert storage.thumbnails.get(note.id, 0) == PICTURE and holds(storage, "zürich")
    assert seen(storage, _vectors) == vectors
    assert [one.memory_id for one in seen(storage, lambda snapshot: snapshot.feedback())] == [note.id]
    assert [one.query for one in seen(storage, lambda snapshot: snapshot.recent_searches(9))] == ["zürich"]
    assert storage.forgotten.pending("") == [] and storage.forgotten.undo("") == 0
    assert list(storage.problems()) == []


def _vectors(snapshot):
    """Return the cosines of all memories with a question."""
    model = snapshot.active_model()
    keys = snapshot.keys(Filters())
    return model, snapshot.cosines(model, Hashing().vector("zürich"), keys)


def test_without_a_time_nothing_can_be_taken_back(storage):
    """Forgetting keeps nothing unless it is told until when."""
    [note] = add(storage, NOTE)
    storage.writer.forget([note.id])

    assert storage.forgotten.pending("") == [] and storage.forgotten.undo("") == 0
    assert everything(storage) == []


def test_one_after_the_other(storage):
    """The last forgetting is taken back first, each in its space; a store of all spaces takes back any."""
    ours, other = add(storage, Draft(text="λ", space="a"), Draft(text="μ", space="b"))
    storage.writer.forget([ours.id], until=LATER, space="a")
    storage.writer.forget([other.id], until=LATER, space="b")

    assert storage.forgotten.undo("a") == 1 and [one.text for one in everything(storage)] == ["λ"]
    assert storage.forgotten.undo("a") == 0
    assert storage.forgotten.undo("") == 1 and len(everything(storage)) == 2


def test_after_its_time_it_is_gone(storage):
    """What can be taken back until a time goes, what has more time stays; without a time all of it goes."""
    first, second, third = add(storage, *(Draft(text=text) for text in ("λ", "μ", "ν")))
    for memory, until in ((first, NOW), (second, LATER), (third, LATER + timedelta(days=1))):
        storage.writer.forget([memory.id], until=until)

    assert storage.forgotten.drop(NOW) == 1 and storage.forgotten.drop(NOW) == 0
    assert [one.until for one in storage.forgotten.pending("")] == [LATER + timedelta(days=1), LATER]
    assert storage.forgotten.drop(None) == 2
    assert storage.forgotten.undo("") == 0 and everything(storage) == []


@pytest.mark.parametrize("filters", [Filters(path=("/week/λ.ipynb",)), Filters(path=("/week",))])
def test_a_file_that_was_indexed_again(storage, filters):
    """Its cells are one memory each, with the ids of before; and its file is read once more."""
    before = read_file(storage, "fit(λ)", "plot(λ)")
    storage.writer.update(before[0].id, {}, tags=["kept"])
    storage.writer.forget(filters, until=LATER)
    assert seen(storage, lambda snapshot: snapshot.files_under("/week", "")) == {}
    again = read_file(storage, "fit(λ)", "plot(λ)")
    storage.writer.update(again[0].id, {"pinned": True}, tags=["new"])

    assert storage.forgotten.undo("") == 2
    after = sorted(everything(storage), key=lambda memory: memory.location)
    assert [one.id for one in after] == [one.id for one in before]
    assert set(after[0].tags) == {"kept", "new"} and after[0].pinned
    assert set(seen(storage, lambda snapshot: snapshot.files_under("/week", ""))) == {"/week/λ.ipynb"}
    assert list(storage.problems()) == []


def test_runs_come_back(storage):
    """What was run comes back with its runs, also those that a text had in a forgotten notebook alone."""

    def note(*runs):
        found = [drafted(one, space="", redacting=True) for one in runs]
        storage.runs.note(found, prepare([draft for _, draft in found], None), None)

    for number, name in ((1, "a"), (2, "b")):
        note(Run("fit(λ)", NOW + timedelta(minutes=number), "monday", number, notebook=f"/w/{name}.ipynb"))
    note(Run("plot(λ)", NOW, "monday", 3, notebook="/w/a.ipynb"))
    runs, texts = storage.runs.find(RunFilter(), 9), everything(storage)
    storage.writer.forget(Filters(path=("/w/a.ipynb",)), until=LATER)
    assert len(storage.runs.find(RunFilter(), 9)) < len(runs)
    note(Run("plot(λ)", NOW + timedelta(days=1), "friday", 1, notebook="/w/c.ipynb"))

    storage.forgotten.undo("")
    found = [one for one in storage.runs.find(RunFilter(), 9) if one.session == "monday"]
    assert found == runs and len(everything(storage)) == len(texts)
    [plotted] = [one for one in everything(storage) if one.text == "plot(λ)"]
    assert plotted.metadata["runs"] == 2 and plotted.id in {one.id for one in texts}


def test_a_backup_holds_nothing_forgotten(storage, tmp_path):
    """What can still be taken back stays out of copies of the store."""
    [note] = add(storage, NOTE)
    storage.writer.forget([note.id], until=LATER)
    storage.backup(tmp_path / "copy.sqlite")

    assert "Zürich".encode() not in (tmp_path / "copy.sqlite").read_bytes()
    assert storage.forgotten.undo("") == 1
