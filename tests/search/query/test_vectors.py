"""Questions that were asked before: their vectors come from the store, their words are nowhere."""

from __future__ import annotations

import numpy as np
import pytest

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.storage.sqlite.tables import query_vectors

QUESTION = "Walrossherde auf Spitzbergen"


class Counting:
    """The static model under another name, which is not quick and counts the questions that it is asked."""

    name, dimensions, threshold = "counting", 64, 0.1

    def __init__(self, fingerprint="counting/64"):
        self.fingerprint = fingerprint
        self.asked = []
        self._static = StaticEmbedder(64)

    def embed_documents(self, texts, /):
        return self._static.embed_documents(texts)

    def embed_query(self, text, /):
        self.asked.append(text)
        return self._static.embed_query(text)


@pytest.fixture
def asked(store):
    """A store with a model that counts, and one memory."""
    memory = store(embedder=Counting())
    memory.add("Die Kühlkette der Walrosse hat λ = 3.2.")
    return memory


def counting(memory):
    return memory._model.embedder()


def kept(memory):
    """Return how many questions the store keeps."""
    return memory._storage.database.connection.execute("select count(*) from query_vectors").get


def test_asked_once(asked, store):
    """A question is embedded once, for this process and those to come, and has the same answer each time."""
    first = asked.hits(QUESTION)
    second = asked.hits(QUESTION)
    again = store(embedder=Counting())
    third = again.hits(QUESTION)

    assert counting(asked).asked == [QUESTION] and counting(again).asked == []
    assert (
        [hit.cosine for hit in first.hits] == [hit.cosine for hit in second.hits] == [hit.cosine for hit in third.hits]
    )
    assert again.explain(QUESTION, first.hits[0].memory.id).hit.cosine == first.hits[0].cosine
    assert counting(again).asked == [] and kept(again) == 1


def test_each_model_for_itself(asked):
    """A vector of one model never answers for another, also after a change there and back."""
    asked.hits(QUESTION)
    one, other = counting(asked), Counting("counting/other")
    asked.reembed(other, progress=False)
    asked.hits(QUESTION)
    assert (one.asked, other.asked) == ([QUESTION], [QUESTION])
    asked.reembed(one, progress=False)
    asked.hits(QUESTION)
    assert (one.asked, kept(asked)) == ([QUESTION], 2)
    assert asked.drop_vectors() == 1 and kept(asked) == 1


def test_no_word_is_kept(asked, bytes_on_disk):
    """The words of a question are in no file of the store, nor is a digest that could be made without its key."""
    asked.hits(QUESTION)
    content = bytes_on_disk(asked)

    assert counting(asked).embed_query(QUESTION).tobytes()[:64] in content
    assert not any(word.encode() in content for word in QUESTION.split())
    with MemoryStore(asked.path.parent / "other.sqlite", embedder=Counting()) as other:
        other.add("λ")
        other.hits(QUESTION)
        digests = [
            one._storage.database.connection.execute("select digest from query_vectors").get for one in (asked, other)
        ]
    assert digests[0] != digests[1]


@pytest.fixture
def bytes_on_disk():
    return lambda memory: b"".join(file.read_bytes() for file in memory.path.parent.glob(f"{memory.path.name}*"))


@pytest.mark.parametrize("choice", ["everything", "ids"])
def test_forgetting_forgets_the_questions(asked, bytes_on_disk, choice):
    """What is forgotten may have been asked about: the vectors of all questions go with it, and no byte stays."""
    memory = asked.hits(QUESTION).hits[0].memory
    vector, digest, key = asked._storage.database.connection.execute(
        "select embedding, digest, key from query_vectors, query_key"
    ).fetchone()
    asked.forget(**({"everything": True} if choice == "everything" else {"ids": memory.id}))

    assert kept(asked) == 0
    content = bytes_on_disk(asked)
    assert not any(part in content for part in (vector, digest, key))


def test_switched_off(asked):
    """Switched off, nothing is kept, and what was is gone with the next search."""
    asked.hits(QUESTION)
    off = MemoryStore(asked.path, Counting(), settings=JupyterMemory(cache_queries=False))
    assert kept(off) == 1
    off.hits(QUESTION)
    off.hits(QUESTION)
    assert counting(off).asked == [QUESTION] * 2 and kept(off) == 0
    off.close()


def test_a_quick_model(store):
    """A model that is quicker than the store is asked each time."""
    memory = store()
    memory.add("λ")
    memory.hits(QUESTION)
    assert kept(memory) == 0


def test_a_busy_store(asked):
    """While another writes a search does not wait to keep its question; it is kept with the next one."""
    asked._storage.database._busy = 60_000
    with MemoryStore(asked.path) as other:
        with other._storage.database.write():
            asked.hits(QUESTION)
            assert kept(asked) == 0
        asked.hits("another question")
    assert kept(asked) == 2
    connection = asked._storage.database.connection
    assert connection.pragma("synchronous") == 2 and connection.pragma("busy_timeout") == 60_000


def test_without_a_log(store, tmp_path):
    """Where each write waits for the disk, nothing is kept."""
    memory = store(embedder=Counting())
    memory.add("λ")
    memory._storage.database._file.has_log = False
    memory.hits(QUESTION)
    assert kept(memory) == 0


class Plain(Counting):
    """A model without MLX, which does not work in a forked process."""

    def embed_query(self, text, /):
        self.asked.append(text)
        return np.full(64, 1 / 8, np.float32)


def test_read_only(asked, as_user, common_folder):
    """A store that cannot be written answers from what is kept, and keeps nothing."""
    path = common_folder / "memory.sqlite"
    asked.hits(QUESTION)
    asked.backup(path)
    path.chmod(0o444)
    common_folder.chmod(0o555)

    def search():
        with MemoryStore(path, Plain(), settings=JupyterMemory()) as memory:
            assert memory.stats()["read_only"]
            memory.hits(QUESTION), memory.hits("another question")
            return counting(memory).asked, kept(memory)

    assert as_user(search) == (["another question"], 1)


def test_bounded(asked, monkeypatch):
    """The thousand asked last are kept: one that is asked again stays, one that is not makes room."""
    monkeypatch.setattr(query_vectors, "KEPT", 10)
    asked.hits(QUESTION)
    for number in range(40):
        asked.hits(f"question {number}")
        asked.hits(QUESTION)
    assert counting(asked).asked.count(QUESTION) == 1
    assert 5 <= kept(asked) <= 10
    asked.hits("question 39")
    asked.hits("question 0")
    assert counting(asked).asked.count("question 39") == 1 and counting(asked).asked.count("question 0") == 2


def test_a_vector_that_does_not_fit(asked):
    """A vector of another length than the model's is not used."""
    with asked._storage.database.write() as connection:
        query_vectors.put(connection, "counting/64", QUESTION, np.ones(3, np.float32))
    assert asked.hits(QUESTION).hits[0].badges == "SEM"
    assert counting(asked).asked == [QUESTION]
