"""What every storage must do with memories that go into another store and come from one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from contract import CELL, EVERYTHING, NOW, RATE
from hashing import Hashing

from jupyter_memory import FileState
from jupyter_memory.ingest import prepare
from jupyter_memory.storage import Arriving, NotedFile, NotedFolder
from jupyter_memory.types import Draft, Feedback, Filters, Pictures, Recent, Run, RunError, Thumbnail

EARLIER = NOW - timedelta(days=400)
RAN = Draft(text="fit(λ)", kind="history", tier="file", event_at=NOW, session="k1", lang="python")
FAILED = Run("", NOW, "k1", 1, "error", error=RunError("KeyError", "'rate'"))


def arriving(draft, id_="a1", embedder=None, **values):
    [prepared] = prepare([draft], embedder)
    return Arriving(id_, prepared, EARLIER, **values)


def held(storage, space=""):
    with storage.transfer.contents(space) as contents:
        return list(contents.memories())


def test_what_arrives_keeps_id_time_count_and_tier(storage):
    """A memory has the id, the times and the count that it had elsewhere, and its tier below the pin."""
    pinned = replace(RATE, pinned=True, tier="mcp")
    assert storage.transfer.put([arriving(pinned, accessed=7)], Hashing(), update=False) == ["added"]
    [found] = held(storage)
    memory = found.memory
    assert (memory.id, memory.indexed_at, memory.accessed, memory.tags) == ("a1", EARLIER, 7, RATE.tags)
    assert (memory.tier, found.tier, memory.pinned) == ("core", "mcp", True)
    assert [(chunk.start, chunk.end) for chunk in found.chunks] == [(0, len(RATE.text))]


def test_many_memories_are_put_in_between_begin_and_finish(storage):
    """The model is there before the first memory, and all are found by words and vectors after the last."""
    embedder = Hashing()
    model = storage.transfer.begin(embedder)
    assert storage.transfer.begin(embedder) == model
    storage.transfer.put([arriving(RATE, embedder=embedder)], embedder, update=False)
    storage.transfer.finish()
    storage.transfer.finish()
    with storage.snapshot() as snapshot:
        assert snapshot.active_model() == model
        query = embedder.embed_query("rate")
        assert len(snapshot.vector_matches(model, query, Filters(), 5, None)) == 1


def test_runs_arrive_with_their_memory_once(storage):
    """A memory of the history comes with its runs, is found by their errors, and gets none of them twice."""
    one = arriving(RAN, runs=(FAILED,))
    assert storage.transfer.put([one], None, update=False) == ["added"]
    assert storage.transfer.put([one], None, update=False) == ["kept"]
    [found] = held(storage)
    assert [(run.number, run.error.name) for run in found.runs] == [(1, "KeyError")]
    with storage.snapshot() as snapshot:
        assert snapshot.holds_word("keyerror", ["ident"])


def test_known_ids_and_contents(storage):
    """An id that is known stays or is updated; known content under another id is merged."""
    storage.transfer.put([arriving(RATE), arriving(CELL, "c1")], None, update=False)
    other = arriving(replace(RATE, text="Prices rose."))
    assert storage.transfer.put([other], None, update=False) == ["kept"]
    assert storage.transfer.put([other], None, update=True) == ["updated"]
    assert storage.transfer.put([other], None, update=True) == ["kept"]
    same = arriving(replace(CELL, tags=("new",)), "c2")
    assert storage.transfer.put([same], None, update=False) == ["merged"]
    assert {one.memory.id: (one.memory.text, one.memory.tags) for one in held(storage)} == {
        "a1": ("Prices rose.", RATE.tags),
        "c1": (CELL.text, ("new",)),
    }


def test_two_alike_at_once_are_one(storage):
    """Of two memories with the same content, the first is stored."""
    assert storage.transfer.put([arriving(RATE), arriving(RATE, "a2")], None, update=False) == ["added", "merged"]
    with storage.snapshot() as snapshot:
        assert snapshot.count(EVERYTHING) == 1


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
    """What was indexed and said comes along; what the store knows stays, and feedback on what is not there is left."""
    storage.transfer.put([arriving(RATE)], None, update=False)
    file = NotedFile("", FileState("/week/a.md", 5, 6, "hash", 7, True, True))
    folder = NotedFolder("/week", "", True, EARLIER)
    said = Feedback("a1", True, "rate", "q1", "auto", 1, EARLIER)
    storage.transfer.note([file], [folder], [said, replace(said, memory_id="gone")])
    other = NotedFile("", FileState("/week/a.md", 9, 9, "other", 9))
    storage.transfer.note([other], [folder._replace(watched=False)], [replace(said, accepted=False)])
    with storage.transfer.contents("") as contents:
        assert list(contents.files()) == [file]
        assert list(contents.folders()) == [folder]
        assert list(contents.feedback()) == [said]


def test_a_space_alone(storage):
    """The contents of a space are those of no other one."""
    storage.transfer.put([arriving(RATE), arriving(replace(RATE, space="work"), "w1")], None, update=False)
    assert [one.memory.id for one in held(storage, "work")] == ["w1"]


def test_spaces_that_hold_something(storage):
    """The spaces of the contents are those with memories, and whoever may write in all of them is refused none."""
    storage.transfer.put([arriving(RATE), arriving(replace(RATE, space="alpha"), "w1")], None, update=False)
    with storage.transfer.contents("") as contents:
        assert sorted(contents.spaces()) == ["", "alpha"]
    with storage.transfer.contents("alpha") as contents:
        assert list(contents.spaces()) == ["alpha"]
    assert storage.transfer.refused(["", "alpha"]) == []


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
    assert [one.to_bytes() for one in ready.tokens] == [one.to_bytes() for one in given.prepared.tokens]


def test_searches_come_out_in_their_order(storage):
    """The recent searches come with the ids of their hits, the oldest first."""
    storage.transfer.put([arriving(RATE)], None, update=False)
    for number, query in enumerate(("λ", "rate")):
        storage.writer.note_search(Recent(f"q{number}", query, "auto", NOW, "python", 1), ["a1"], 0.1)
    with storage.transfer.contents("") as contents:
        found = [(one.search.query, one.hits) for one in contents.searches()]
    assert found == [("λ", ("a1",)), ("rate", ("a1",))]
