"""The vectors of a model that is no longer in use: kept to go back to, dropped on request, forgotten with the rest."""

from __future__ import annotations

import pytest
from hashing import Hashing, check_vectors, held, notes

from jupyter_memory import InputError, MemoryStore


def test_back_in_a_moment(store):
    """Going back embeds what was added since and nothing else."""
    one, two = Hashing(), Hashing("λ-two", 32)
    memory = store(embedder=one)
    memory.add_many(notes(300), progress=False)
    memory.reembed(two, progress=False)
    memory.add("Net of tax in Genève")

    assert memory.reembed(one, progress=False) == 1
    assert held(memory) == [("λ-one", 301, True), ("λ-two", 301, False)]
    check_vectors(memory, {model.fingerprint: model for model in (one, two)})


def test_dropping(store):
    """Old vectors go on request, by name or all; those in use stay, and the bytes are told before and after."""
    memory = store(embedder=Hashing())
    memory.add_many(notes(20), progress=False)
    two = Hashing("λ-two", 256)
    memory.reembed(two, progress=False)
    memory.reembed("static", progress=False)
    assert [model["bytes"] for model in memory.stats()["models"]] == [20 * (64 + 128), *2 * [20 * (1024 + 128)]]
    vector = two.vector("Note 3 of λ in Zürich").tobytes()
    files = [memory.path, memory.path.with_name(memory.path.name + "-wal")]

    with pytest.raises(InputError, match="in use"):
        memory.drop_vectors("static")
    with pytest.raises(InputError, match=r"no vectors of 'ü'; it has those of: λ-one, λ-two, static"):
        memory.drop_vectors("ü")
    assert memory.drop_vectors("λ-one") == 20
    assert held(memory) == [("λ-two", 20, False), ("static", 20, True)]
    assert memory.drop_vectors() == 20 and memory.drop_vectors() == 0
    assert held(memory) == [("static", 20, True)]
    assert not any(vector[:16] in file.read_bytes() for file in files)
    assert memory.doctor() == []


def test_not_kept(store):
    """With keep=False the others' vectors are gone after the switch."""
    memory = store(embedder=Hashing())
    memory.add_many(notes(20), progress=False)
    memory.reembed("static-64", keep=False, progress=False)
    assert held(memory) == [("static", 20, True)]


def test_forgotten_in_every_model(store):
    """What is forgotten leaves the vectors of models that are not in use, too, and backups hold what is left of all."""
    one, two = Hashing(), Hashing("λ-two", 32)
    memory = store(embedder=one)
    memory.add_many(notes(20), progress=False)
    memory.reembed(two, progress=False)
    texts = [f"Note {i} of λ in Zürich" for i in range(20)]
    backup = memory.backup(memory.path.parent / "copy.sqlite")
    memory.forget(everything=True)
    content = b"".join(file.read_bytes() for file in memory.path.parent.glob("memory.sqlite*"))
    assert not any(model.vector(text).tobytes() in content for model in (one, two) for text in texts)

    again = MemoryStore.restore(backup, memory.path.parent / "again.sqlite")
    with MemoryStore(again, embedder=two) as restored:
        assert held(restored) == [("λ-one", 20, False), ("λ-two", 20, True)]
        check_vectors(restored, {model.fingerprint: model for model in (one, two)})
        content = again.read_bytes()
    assert all(model.vector(text).tobytes()[:8] in content for model in (one, two) for text in texts)
