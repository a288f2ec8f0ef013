"""The model of a store: none, a later one, another one."""

from __future__ import annotations

import pytest

from jupyter_memory import EmbedderError, EmbeddingMismatch, InputError, UnknownEmbedder
from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.ingest import prepare
from jupyter_memory.ingest.chunking import with_chunks
from jupyter_memory.types import Draft


class Broken:
    """An embedder that stops in the middle of its work."""

    def __init__(self, dimensions, batches):
        self._inner, self._left = StaticEmbedder(dimensions), batches
        self.name, self.dimensions, self.threshold = "static", dimensions, self._inner.threshold
        self.fingerprint = self._inner.fingerprint

    def embed_documents(self, texts, /):
        if self._left == 0:
            raise EmbedderError("The model has run out of λ.")
        self._left -= 1
        return self._inner.embed_documents(texts)

    def embed_query(self, text, /):
        return self._inner.embed_query(text)


def test_without_a_model(store, week):
    """embedder=None searches by words alone and says so; nothing is embedded."""
    memory = store(embedder=None)
    memory.add_many(week, progress=False)
    answer = memory.hits("joining orders")

    assert {hit.badges for hit in answer.hits} == {"KW"}
    assert answer.hits[0].memory.title == "Joining orders"
    assert answer.notices == ("The search used words only, not meaning.",)
    assert answer.counts["vector"] == 0 and memory.stats()["models"] == []
    with pytest.raises(InputError, match="opened with embedder=None"):
        memory.reembed(progress=False)


def test_a_model_that_comes_later(store, week):
    """What was stored without a model is found by words; doctor says how to embed it, and reembed does."""
    store(embedder=None).add_many(week, progress=False)
    memory = store()
    memory.add("λ of the walrus")

    assert memory.doctor() == [
        "10 chunks have no vector, so the search by meaning cannot find them. Compute the vectors with store.reembed()."
    ]
    assert memory.hits("joining orders").hits[0].badges == "KW"
    assert memory.reembed(progress=False) == 10
    assert memory.hits("joining orders").hits[0].badges == "KW+SEM"
    assert memory.doctor() == []


def test_another_model(store, week):
    """Opened with another model a store searches by words, says why, and takes nothing new until it is re-embedded."""
    store().add_many(week, progress=False)
    other = store(embedder="static-128")
    answer = other.hits("joining orders")

    assert {hit.badges for hit in answer.hits} == {"KW"}
    assert "written with static (256 dimensions), and the embedder is static (128)" in answer.notices[0]
    assert "store.reembed()" in answer.notices[0] and other.doctor() == [answer.notices[0]]
    with pytest.raises(EmbeddingMismatch, match=r"store\.reembed\(\)"):
        other.add("λ is 3.2")
    with pytest.raises(EmbeddingMismatch):
        other.update(answer.hits[0].memory.id, text="λ is 3.2")
    assert other.pin(answer.hits[0].memory.id).pinned  # what needs no vector works

    assert other.reembed(progress=False) == len(week)
    assert other.hits("joining orders").hits[0].badges == "KW+SEM" and other.hits("joining orders").notices == ()
    assert other.stats()["model"] == "static"
    assert [(model["dimensions"], model["active"]) for model in other.stats()["models"]] == [(256, False), (128, True)]
    assert other.reembed(progress=False) == 0


def test_auto_is_the_model_of_the_store(store, week):
    """ "auto" opens what the store was written with, whatever the default is."""
    store(embedder="static-64").add_many(week, progress=False)
    memory = store()

    assert memory.add("λ is 3.2").id
    assert memory.hits("joining orders").hits[0].badges == "KW+SEM"
    assert [model["dimensions"] for model in memory.stats()["models"]] == [64]


def test_reembedding_goes_on_where_it_stopped(store):
    """Interrupted, the old vectors keep serving, and the next call writes only what is left."""
    memory = store()
    memory.add_many(
        [{"text": f"λ {i}: orders of shop {i % 7} in Zürich", "title": f"Note {i}"} for i in range(600)], progress=False
    )
    before = memory.search("orders in Zürich")

    with pytest.raises(EmbedderError, match="run out of λ"):
        store(embedder=Broken(128, batches=1)).reembed(progress=False)
    known = {model["dimensions"]: (model["active"], model["vectors"]) for model in memory.stats()["models"]}
    assert known == {256: (True, 600), 128: (False, 256)}
    assert memory.search("orders in Zürich")["cosine"].equals(before["cosine"])
    memory.add("λ 600: orders of shop 5 in Zürich", title="Note 600")  # in the middle of it, life goes on

    resumed = store(embedder="static-128")
    assert resumed.reembed(progress=False) == 601 - 256
    assert [(model["dimensions"], model["vectors"]) for model in resumed.stats()["models"]] == [(256, 601), (128, 601)]
    assert resumed.hits("orders in Zürich", profile="trovella").counts["vector"] == 40


def test_a_model_that_does_not_exist(store):
    """An unknown model is an error with the names of those that exist."""
    with pytest.raises(UnknownEmbedder, match=r"No embedder has the name 'nomic-λ'\..* Known are: auto, static"):
        store(embedder="nomic-λ").add("λ is 3.2")


def test_a_model_switched_again_and_again(store):
    """What is written while others switch the model several times gets the vectors of the last one."""
    memory, other = store(embedder="auto"), store()
    other.add("λ of the walrus")
    asked = []

    def write(embedder):
        asked.append(embedder.dimensions)
        if len(asked) <= 3:
            other.reembed(("static-64", "static-128")[len(asked) % 2], progress=False)
        draft = Draft(text="prices are net of tax")
        return memory._storage.writer.add(prepare(with_chunks([draft]), embedder), embedder)

    memory._model.writing(write)
    assert asked == [256, 128, 64, 128]
    assert memory.doctor() == []
