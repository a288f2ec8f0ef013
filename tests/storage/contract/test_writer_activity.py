"""What every storage must do with searches, feedback, counts of use and the vectors of questions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from contract_writing import NOTE, NOTEBOOK, NOW, add, everything, read_file, seen
from hashing import Hashing

from jupyter_memory import UnknownMemory
from jupyter_memory.storage import QueryVector
from jupyter_memory.types import Feedback, Recent


def test_searches_and_feedback(storage):
    """Searches come newest first; feedback needs a memory, and goes with it."""
    [memory] = add(storage, NOTE)
    for number, query in enumerate(("λ", "μ", "λ")):
        storage.writer.note_search(Recent(f"id{number}", query, "auto", NOW, "python", 1), [memory.id], 0.1)
    assert [search.query_id for search in seen(storage, lambda snapshot: snapshot.recent_searches(9))] == ["id2", "id1"]
    assert seen(storage, lambda snapshot: (snapshot.query_of("id1"), snapshot.query_of("id0"))) == ("μ", "")

    said = Feedback(memory.id, True, "λ", "id2", "auto", 1, NOW)
    storage.writer.judge(said)
    storage.writer.judge(replace(said, accepted=False))
    assert seen(storage, lambda snapshot: snapshot.feedback()) == [replace(said, accepted=False)]
    assert seen(storage, lambda snapshot: snapshot.accepted()) == (0, 1)
    with pytest.raises(UnknownMemory):
        storage.writer.judge(replace(said, memory_id="none"))

    assert storage.writer.forget_searches() == 2 and storage.writer.forget_searches() == 0
    assert seen(storage, lambda snapshot: snapshot.feedback()) == []


def test_uses_are_counted(storage):
    """Each use of a memory counts one, of that memory alone; what does not exist is not counted."""
    one, other = add(storage, NOTE, replace(NOTE, text="The μ of Genève."))
    assert [storage.writer.note_access(one.id, 0.1) for _ in range(3)] == [True] * 3
    assert not storage.writer.note_access("none", 0.1) and not storage.writer.note_access("\ud800", 0.1)

    assert {memory.id: memory.accessed for memory in everything(storage)} == {one.id: 3, other.id: 0}


def test_an_edited_cell_keeps_its_count(storage):
    """Uses stay counted when the file is read again, whether the cell was edited, moved or renamed with its file."""
    _, second = read_file(storage, "λ = orders.mean()", "prices.plot()")
    storage.writer.note_access(second.id, 0.1)

    *_, edited = read_file(storage, "import pandas", "λ = orders.mean()", "prices.plot(title='€')")
    assert (edited.id, edited.accessed) == (second.id, 1)
    storage.writer.rename(NOTEBOOK, "/week/orders.ipynb")
    storage.writer.update(second.id, {"pinned": True})
    assert {one.id: one.accessed for one in everything(storage) if one.accessed} == {second.id: 1}


def test_counts_of_use_are_forgotten_with_the_searches(storage):
    """Forgetting the searches sets every count to 0, also where no search was noted."""
    [memory] = add(storage, NOTE)
    storage.writer.note_access(memory.id, 0.1)
    assert storage.writer.forget_searches() == 0

    assert [one.accessed for one in everything(storage)] == [0]


def test_query_vectors(storage):
    """The vectors of questions are kept for models that the store has."""
    embedder = Hashing()
    storage.writer.register_model(embedder)
    vector = embedder.vector("λ")
    storage.writer.keep_query_vectors(
        QueryVector(fingerprint, "λ", vector) for fingerprint in (embedder.fingerprint, "unknown")
    )
    found, _ = seen(storage, lambda snapshot: snapshot.query_vector(embedder.fingerprint, "λ"))
    assert np.array_equal(found, vector)
    assert seen(storage, lambda snapshot: snapshot.query_vector("unknown", "λ")) is None

    storage.writer.clear_query_vectors()
    assert not seen(storage, lambda snapshot: snapshot.has_query_vectors())


def test_the_last_search_from_one_place(storage):
    """It has the ids of its hits in their order; searches from elsewhere and calls of programs are others."""

    def note(query, origin, hits, client=""):
        search = Recent(query, query, "auto", NOW, origin, len(hits), client)
        storage.writer.note_search(search, hits, 1)

    assert seen(storage, lambda snapshot: snapshot.last_search("command line")) is None
    note("λ", "command line", ["b", "a"])
    note("μ", "magic", ["c"])
    note("ν", "command line", ["d"], client="agent")
    found, ids = seen(storage, lambda snapshot: snapshot.last_search("command line"))
    assert (found.query, found.query_id, ids) == ("λ", "λ", ("b", "a"))
