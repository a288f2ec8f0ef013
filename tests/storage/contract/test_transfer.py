"""What every storage must do with what leaves it, arrives or is taken back, and with pictures on the way."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from contract import CELL, NOTE, NOTEBOOK, NOW, RATE, add, everything, read_file, seen
from hashing import Hashing

from jupyter_memory import FileState, UnknownMemory
from jupyter_memory.ingest import drafted, prepare
from jupyter_memory.storage import Arriving, NotedFile, NotedFolder, RunFilter
from jupyter_memory.types import Draft, Feedback, Filters, Pictures, Recent, Run, RunError, Thumbnail

EARLIER = NOW - timedelta(days=400)
RAN = Draft(text="fit(λ)", kind="history", tier="file", event_at=NOW, session="k1", lang="python")
FAILED = Run("", NOW, "k1", 1, "error", error=RunError("KeyError", "'rate'"))


def arriving(draft, id_="a1", embedder=None, **values):
    [prepared] = prepare([draft], embedder)
    return Arriving(id_, prepared, EARLIER, EARLIER, **values)


def held(storage, space=""):
    with storage.transfer.contents(space) as contents:
        return list(contents.memories())


def test_what_arrives_keeps_id_time_count_and_tier(storage):
    """A memory has the id, the times and the count that it had elsewhere, and its tier below the pin."""
    pinned = replace(RATE, pinned=True, tier="mcp")
    assert storage.transfer.put([arriving(pinned, accessed=7)], Hashing(), update=False) == ["added"]
    [found] = held(storage)
    memory = found.memory
    assert (memory.id, memory.indexed_at, memory.stored_at, memory.accessed) == ("a1", EARLIER, EARLIER, 7)
    assert memory.tags == RATE.tags
    assert (memory.tier, found.tier, memory.pinned) == ("core", "mcp", True)
    assert [(chunk.start, chunk.end) for chunk in found.chunks] == [(0, len(RATE.text))]


def test_many_memories_are_put_in_between_begin_and_tidy(storage):
    """The model is there before the first memory, and all are found by words and vectors after the last."""
    embedder = Hashing()
    model = storage.transfer.begin(embedder)
    assert storage.transfer.begin(embedder) == model
    storage.transfer.put([arriving(RATE, embedder=embedder)], embedder, update=False)
    for _ in range(2):
        storage.tidy()
    with storage.snapshot() as snapshot:
        assert snapshot.active_model() == model
        assert len(snapshot.vector_matches(model, embedder.embed_query("rate"), Filters(), 5, None)) == 1


def test_runs_arrive_with_their_memory_once(storage):
    """A memory of the history comes with its runs, is found by their errors, and gets none of them twice."""
    one = arriving(RAN, runs=(FAILED,))
    assert storage.transfer.put([one], None, update=False) == ["added"]
    assert storage.transfer.put([one], None, update=False) == ["kept"]
    [found] = held(storage)
    assert [(run.number, run.error.name) for run in found.runs] == [(1, "KeyError")]
    with storage.snapshot() as snapshot:
        assert snapshot.corpus.holds_word("keyerror", ["ident"])


def test_known_ids_and_contents(storage):
    """An id that is known stays or is updated; known content under another id is merged, at once too."""
    put = storage.transfer.put
    three = [arriving(RATE), arriving(RATE, "a2"), arriving(CELL, "c1")]
    assert put(three, None, update=False) == ["added", "merged", "added"]
    other = arriving(replace(RATE, text="Prices rose."))
    assert [put([other], None, update=update) for update in (False, True, True)] == [["kept"], ["updated"], ["kept"]]
    assert put([arriving(replace(CELL, tags=("new",)), "c2")], None, update=False) == ["merged"]
    found = {one.memory.id: (one.memory.text, one.memory.tags) for one in held(storage)}
    assert found == {"a1": ("Prices rose.", RATE.tags), "c1": (CELL.text, ("new",))}


def test_pictures_come_with_their_memory(storage):
    """A memory has its pictures in their order; one that is there without any gets them, and none come twice."""
    shown = tuple(Thumbnail("image/webp", 4, 3, b"RIFF%d" % place, f"{place}") for place in range(2))
    with_pictures = replace(CELL, pictures=Pictures(shown))
    assert storage.transfer.put([arriving(CELL)], None, update=False) == ["added"]
    for update in (False, True):
        assert storage.transfer.put([arriving(with_pictures)], None, update=update) == ["kept"]
        [found] = held(storage)
        assert found.thumbnails == shown and found.memory.thumbnails == 2


def test_files_folders_and_feedback(storage):
    """What was indexed, said and searched comes along; what the store knows stays, feedback on nothing is left."""
    storage.transfer.put([arriving(RATE)], None, update=False)
    file = NotedFile("", FileState("/week/a.md", 5, 6, "hash", 7, True, True))
    folder = NotedFolder("/week", "", True, EARLIER, "drafts of λ", True)
    said = Feedback("a1", True, "rate", "q1", "auto", 1, EARLIER)
    storage.transfer.note([file], [folder], [said, replace(said, memory_id="gone")])
    other = NotedFile("", FileState("/week/a.md", 9, 9, "other", 9))
    storage.transfer.note(
        [other], [folder._replace(watched=False, description="others")], [replace(said, accepted=False)]
    )
    for number, query in enumerate(("λ", "rate")):
        storage.writer.note_search(Recent(f"q{number}", query, "auto", NOW, "python", 1), ["a1"], 0.1)
    with storage.transfer.contents("") as contents:
        found = list(contents.files()), list(contents.folders()), list(contents.feedback())
        searches = [(one.search.query, one.hits) for one in contents.searches()]
    assert found == ([file], [folder], [said])
    assert searches == [("λ", ("a1",)), ("rate", ("a1",))]  # the oldest first


def test_spaces(storage):
    """The contents of a space are those of no other one; the spaces of a store are those with memories."""
    storage.transfer.put([arriving(RATE), arriving(replace(RATE, space="work"), "w1")], None, update=False)
    assert [one.memory.id for one in held(storage, "work")] == ["w1"]
    for space, spaces in (("", ["", "work"]), ("work", ["work"])):
        with storage.transfer.contents(space) as contents:
            assert sorted(contents.spaces()) == spaces
    assert storage.refused(["", "work"]) == []


def test_what_a_copy_carries(storage):
    """Memories come out ready for another store: vectors to the last bit, tokens, definitions and pictures."""
    embedder, picture = Hashing(), Thumbnail("image/png", 10, 20, b"a picture", "o1")
    draft = replace(RATE, text="def rate(): ...", lang="python", pictures=Pictures((picture,)))
    given = arriving(draft, embedder=embedder)
    storage.transfer.put([given], embedder, update=False)
    with storage.transfer.contents("") as contents:
        [ready] = contents.prepared(list(contents.memories()))
        model = contents.model()
        assert (model.fingerprint, contents.calibration()) == (embedder.fingerprint, None)
    assert ready.vectors.tobytes() == given.prepared.vectors.tobytes()
    assert ready.definitions == given.prepared.definitions and ready.draft.pictures.thumbnails == (picture,)
    assert list(ready.tokens) == list(given.prepared.tokens)


OTHER = "/month/μ.ipynb"
FIRST = Thumbnail("image/webp", 48, 36, b"first picture" * 900)
SECOND = Thumbnail("image/png", 10, 20, b"second picture")


def cell(text, *thumbnails, place=0, path=NOTEBOOK):
    shown = Pictures(tuple(thumbnails))
    return Draft(text=text, kind="cell", source=path, location=f"#{place}", lang="python", pictures=shown)


def read_cells(storage, *drafts, pictures=None):
    path = drafts[0].source
    state = FileState(path, 1, len(drafts), "-".join(draft.text for draft in drafts), pictures=pictures)
    storage.writer.replace_files([(state, prepare(drafts, None))], None, "")
    return sorted(everything(storage, path=(path,)), key=lambda memory: memory.location)


def test_a_picture_comes_back_by_its_place(storage):
    """Each memory, a note too, has its own pictures in their order, and says how many; none is at any other place."""
    plots, table = read_cells(storage, cell("plot(λ)", FIRST, SECOND), cell("λ.head()", place=1))
    [note] = add(storage, Draft(text="λ", pictures=Pictures((SECOND,))))
    assert (plots.thumbnails, table.thumbnails, note.thumbnails) == (2, 0, 1)
    assert [storage.thumbnails.get(plots.id, place) for place in range(3)] == [FIRST, SECOND, None]
    assert (storage.thumbnails.get(table.id, 0), storage.thumbnails.get(note.id, 0)) == (None, SECOND)
    with pytest.raises(UnknownMemory):
        storage.thumbnails.get("none", 0)


def test_an_edited_cell_has_the_new_picture(storage):
    """A cell that keeps its id takes the picture that its file has now; one without a picture loses it."""
    known = replace(FIRST, origin="f1")
    [before, _] = read_cells(storage, cell("plot(λ)", known), cell("plot(μ)", replace(SECOND, origin="s2"), place=1))
    # By its origin, a picture that is still in a changed file need not be made again; others have their own.
    found = storage.thumbnails.of_file(NOTEBOOK, "")
    assert sorted(found) == ["f1", "s2"] and found["f1"] == known
    assert storage.thumbnails.of_file(NOTEBOOK, "other") == storage.thumbnails.of_file("/gone.ipynb", "") == {}
    [edited] = read_cells(storage, cell("plot(λ, 'μ')", SECOND))
    assert edited.id == before.id and storage.thumbnails.get(edited.id, 0) == SECOND
    [without] = read_cells(storage, cell("plot(λ, 'ν')"))
    assert without.id == before.id and without.thumbnails == 0


def test_a_picture_goes_with_its_memory(storage):
    """Forgetting a memory, or its file, leaves nothing of its pictures; a file to be replaced counts for nothing."""
    [one] = read_cells(storage, cell("plot(λ)", FIRST))
    read_cells(storage, cell("plot(μ)", SECOND, path=OTHER))
    first, second = len(FIRST.image), len(SECOND.image)
    size = storage.thumbnails.size
    # A file of another space is another file.
    assert (size((), ""), size([NOTEBOOK], ""), size([NOTEBOOK], "other")) == (first + second, second, first + second)
    storage.writer.forget([one.id])
    assert size((), "") == second
    storage.writer.forget_files([OTHER], "")
    assert size((), "") == 0


def test_pictures_that_follow_their_texts(storage):
    """They go to the memories that say the same, which stay; of a file that changed meanwhile they stay unread."""
    shown = "plot(λ)\n\nOut:\n[image/png]"
    for path, content in ((NOTEBOOK, shown), (OTHER, "what it was before")):
        [before] = read_cells(storage, cell(shown, path=path), pictures=False)
        read = (
            FileState(path, 1, 1, content),
            prepare([cell(shown, FIRST, path=path), cell("gone", SECOND)], None),
            True,
        )
        storage.thumbnails.add([read], "")
        [memory] = everything(storage, path=(path,))
        assert (memory.id, memory.thumbnails) == (before.id, 1) and storage.thumbnails.get(memory.id, 0) == FIRST
    assert storage.thumbnails.unread([NOTEBOOK, OTHER], "") == {OTHER}


def test_which_files_have_unread_pictures(storage):
    """A file whose text shows a picture that nobody read is named, until it was read with its pictures."""
    shown, named = "plot(λ)\n\nOut:\n[image/png]", [NOTEBOOK, OTHER, "/gone.ipynb"]
    read_cells(storage, cell(shown), pictures=False)
    read_cells(storage, cell("1 + 1", path=OTHER), pictures=False)
    assert storage.thumbnails.unread(named, "") == {NOTEBOOK} and storage.thumbnails.unread([OTHER], "") == set()
    [memory] = read_cells(storage, cell(shown, FIRST, SECOND), pictures=True)
    assert storage.thumbnails.unread(named, "") == set()
    storage.writer.touch_file(FileState(NOTEBOOK, 2, 1, shown), "")
    assert storage.thumbnails.unread(named, "") == set()
    assert storage.thumbnails.clear() == 2 and storage.thumbnails.clear() == 0
    assert storage.thumbnails.get(memory.id, 0) is None and storage.thumbnails.unread(named, "") == {NOTEBOOK}


LATER = NOW + timedelta(minutes=10)


@pytest.fixture
def keeping(storage):
    """A store that keeps what is forgotten for a while, as one in a file does."""
    if not isinstance(storage.path, Path):
        pytest.skip("what is forgotten on a server is gone: tests/storage/postgres/test_storage.py")
    return storage


def holds(storage, word):
    return seen(storage, lambda snapshot: snapshot.corpus.holds_word(word, ["text", "title", "tags", "ident"]))


def test_everything_of_a_memory_comes_back(keeping):
    """Id, pin, tags, vectors, words, feedback, searches, pictures and counts are as they were."""
    storage = keeping
    whole = replace(NOTE, pinned=True, pictures=Pictures((FIRST,)), metadata={"ü": [1]})
    [note, _] = add(storage, whole, Draft(text="Prices fell."), embedder=Hashing())
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
    assert storage.thumbnails.get(note.id, 0) == FIRST and holds(storage, "zürich")
    assert seen(storage, _vectors) == vectors
    assert [one.memory_id for one in seen(storage, lambda snapshot: snapshot.feedback())] == [note.id]
    assert [one.query for one in seen(storage, lambda snapshot: snapshot.recent_searches(9))] == ["zürich"]
    assert storage.forgotten.pending("") == [] and storage.forgotten.undo("") == 0
    assert list(storage.problems()) == []


def _vectors(snapshot):
    model = snapshot.active_model()
    keys = snapshot.keys(Filters())
    return model, snapshot.cosines(model, Hashing().vector("zürich"), keys)


def test_after_its_time_it_is_gone(keeping):
    """Nothing is kept unless told until when; what has more time stays, each in its space; without a time all goes."""
    storage = keeping
    ours, other, first, second, gone = add(storage, Draft(text="λ", space="a"), *(Draft(text=text) for text in "μνξο"))
    storage.writer.forget([gone.id])
    assert storage.forgotten.pending("") == [] and storage.forgotten.undo("") == 0
    storage.writer.forget([ours.id], until=LATER, space="a")
    for memory, until in ((other, NOW), (first, LATER), (second, LATER + timedelta(days=1))):
        storage.writer.forget([memory.id], until=until)
    assert storage.forgotten.undo("a") == 1 and [one.text for one in everything(storage)] == ["λ"]
    assert storage.forgotten.undo("a") == 0
    assert storage.forgotten.drop(NOW) == 1 and storage.forgotten.drop(NOW) == 0
    assert [one.until for one in storage.forgotten.pending("")] == [LATER + timedelta(days=1), LATER]
    assert storage.forgotten.drop(None) == 2 and storage.forgotten.undo("") == 0


@pytest.mark.parametrize("filters", [Filters(path=("/week/λ.ipynb",)), Filters(path=("/week",))])
def test_a_file_that_was_indexed_again(keeping, filters):
    """Its cells are one memory each, with the ids of before; and its file is read once more."""
    storage = keeping
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


def test_runs_come_back(keeping):
    """What was run comes back with its runs, also those that a text had in a forgotten notebook alone."""
    storage = keeping

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
