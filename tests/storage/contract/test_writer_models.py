"""What every storage must do with models, their vectors and the tokens of chunks."""

from __future__ import annotations

import numpy as np
import pytest
from contract_writing import NOTE, add, everything, seen
from hashing import Hashing

from jupyter_memory import EmbeddingMismatch
from jupyter_memory.storage.base import Calibration
from jupyter_memory.types import ChunkTokens, Draft


def chunk_tokens(different, order):
    """Return the tokens of a chunk, given the different ones and the places among them of its text's."""
    return ChunkTokens(np.array(different, np.uint16), bytes(order))


def test_changing_the_model(storage):
    """Vectors of another model are written beside the old ones; it is used once no chunk lacks one."""
    old, new = Hashing("old", 8), Hashing("new", 16)
    add(storage, *(Draft(text=f"Day {day}") for day in range(3)), embedder=old)
    with pytest.raises(EmbeddingMismatch, match="written with old"):
        add(storage, NOTE, embedder=new)
    assert len(everything(storage)) == 3

    model = storage.writer.register_model(new)
    chunks = seen(storage, lambda snapshot: snapshot.chunks_without_vectors(model, 9))
    assert len(chunks) == seen(storage, lambda snapshot: snapshot.count_without_vectors(model)) == 3
    assert seen(storage, lambda snapshot: snapshot.chunks_without_vectors(model, 9, chunks[0])) == chunks[1:]
    vectors = {chunk: new.vector(str(chunk)) for chunk in chunks}
    assert storage.writer.add_vectors(new, {chunks[0]: vectors[chunks[0]]}) == 1
    assert not storage.writer.activate_model(new)
    # The first has its vector, and the last was never a chunk.
    assert storage.writer.add_vectors(new, {**vectors, 99_999: new.vector("none")}) == 2
    assert storage.writer.activate_model(new)
    assert seen(storage, lambda snapshot: snapshot.active_model()) == model

    both = seen(storage, lambda snapshot: snapshot.models())
    assert [one.name for one in both] == ["old", "new"]
    assert storage.writer.drop_models(both) == 3
    assert seen(storage, lambda snapshot: snapshot.models()) == [model]


def test_calibration_and_tokens(storage):
    """A model's calibration is replaced; tokens are kept of chunks that are there."""
    embedder = Hashing()
    [memory] = add(storage, NOTE, embedder=embedder)
    model = storage.writer.register_model(embedder)
    for calibration in (Calibration(100, 0.4), Calibration(200, 0.5)):
        storage.writer.keep_calibration(model, *calibration)
    assert seen(storage, lambda snapshot: snapshot.calibration(model)) == Calibration(200, 0.5)

    key = seen(storage, lambda snapshot: snapshot.key_of(memory.id))
    [chunk] = seen(storage, lambda snapshot: snapshot.chunks_of([key]))
    assert storage.writer.keep_tokens({chunk: chunk_tokens([3, 7], [1, 0, 1]), 99_999: chunk_tokens([1], [0])}) == 1
    kept = seen(storage, lambda snapshot: snapshot.tokens([chunk, 99_999]))
    assert {one: (of_it.different.tolist(), of_it.text.tolist()) for one, of_it in kept.items()} == {
        chunk: ([3, 7], [7, 3, 7])
    }
    assert seen(storage, lambda snapshot: snapshot.chunks_without_tokens(9)) == []


def test_a_note_is_made_once(storage):
    """The first note of something is told from every later one, and other notes are other things."""
    assert [storage.writer.note_once(what) for what in ("one", "one", "other")] == [True, False, True]
    assert list(storage.problems()) == []


def test_damaged_vectors_and_tokens_are_dropped(storage):
    """A vector that is not of length 1 and tokens out of order count as missing once dropped; others stay."""
    embedder = Hashing()
    add(storage, *(Draft(text=f"Day {day}") for day in range(3)), embedder=embedder)
    model = seen(storage, lambda snapshot: snapshot.active_model())
    damaged, sound, _ = seen(
        storage, lambda snapshot: snapshot.chunks_of([snapshot.key_of(memory.id) for memory in everything(storage)])
    )
    storage.writer.keep_tokens({damaged: chunk_tokens([7, 3], [0]), sound: chunk_tokens([3, 7], [0])})
    assert storage.writer.drop_damaged_tokens() == 1
    assert damaged in seen(storage, lambda snapshot: snapshot.chunks_without_tokens(9))
    assert sound not in seen(storage, lambda snapshot: snapshot.chunks_without_tokens(9))

    other = Hashing("other", 8)
    second = storage.writer.register_model(other)
    storage.writer.add_vectors(other, {damaged: 2 * other.vector("a"), sound: other.vector("b")})
    assert storage.writer.drop_damaged_vectors(other) == 1
    lacking = seen(storage, lambda snapshot: snapshot.chunks_without_vectors(second, 9))
    assert damaged in lacking and sound not in lacking
    assert storage.writer.drop_damaged_vectors(embedder) == 0
    assert seen(storage, lambda snapshot: snapshot.count_without_vectors(model)) == 0
