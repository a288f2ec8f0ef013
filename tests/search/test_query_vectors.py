"""Questions that were asked before: their vectors come from the store, their words are nowhere."""

from contextlib import closing

import apsw
import numpy as np
import pytest
from inside import while_another_writes

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.embedders import StaticEmbedder

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
def model():
    return Counting()


@pytest.fixture
def asked(store, model):
    memory = store(embedder=model)
    memory.add("Die Kühlkette der Walrosse hat λ = 3.2.")
    return memory


def row(memory, select="count(*) from query_vectors"):
    with closing(apsw.Connection(str(memory.path))) as file:
        found = file.execute(f"select {select}").fetchone()
    return found[0] if len(found) == 1 else found


def test_asked_once(asked, model, store):
    later = Counting()
    first, second = asked.hits(QUESTION), asked.hits(QUESTION)
    again = store(embedder=later)
    assert {hit.cosine for answer in (second, again.hits(QUESTION)) for hit in answer.hits} == {first.hits[0].cosine}
    assert again.explain(QUESTION, first.hits[0].memory.id).hit.cosine == first.hits[0].cosine
    assert (model.asked, later.asked, row(again)) == ([QUESTION], [], 1)


def test_each_model_for_itself(asked, model):
    """A vector of one model never answers for another, also after a change there and back."""
    other = Counting("counting/other")
    asked.hits(QUESTION)
    asked.reembed(other, progress=False)
    asked.hits(QUESTION), asked.hits(QUESTION)
    assert (model.asked, other.asked) == ([QUESTION], [QUESTION])
    asked.reembed(model, progress=False)
    asked.hits(QUESTION)
    assert (model.asked, row(asked)) == ([QUESTION], 2)
    assert asked.drop_vectors() == 1 and row(asked) == 1


def test_no_word_is_kept(asked, model, bytes_of):
    """The words of a question are in no file of the store, nor is a digest that could be made without its key."""
    asked.hits(QUESTION)
    content = bytes_of(asked.path)
    assert model.embed_query(QUESTION).tobytes()[:64] in content
    assert not any(word.encode() in content for word in QUESTION.split())
    with MemoryStore(asked.path.parent / "other.sqlite", embedder=Counting()) as other:
        other.add("λ")
        other.hits(QUESTION)
        assert row(asked, "digest from query_vectors") != row(other, "digest from query_vectors")


@pytest.mark.parametrize("choice", ["everything", "ids"])
def test_forgetting_forgets_the_questions(asked, bytes_of, choice):
    """What is forgotten may have been asked about: the vectors of all questions go with it, and no byte stays."""
    memory = asked.hits(QUESTION).hits[0].memory
    traces = row(asked, "embedding, digest, key from query_vectors, query_keys")
    asked.forget(**({"everything": True} if choice == "everything" else {"ids": memory.id}))
    assert row(asked) == 0 and not any(part in bytes_of(asked.path) for part in traces)


def test_nothing_is_kept(asked, store, tmp_path):
    """Switched off, nothing is kept, and what was is gone; a model quicker than the store is asked each time."""
    asked.hits(QUESTION)
    again = Counting()
    with MemoryStore(asked.path, again, settings=JupyterMemory(cache_queries=False)) as off:
        assert row(off) == 1
        off.hits(QUESTION), off.hits(QUESTION)
        assert again.asked == [QUESTION] * 2 and row(off) == 0
    quick = store("quick.sqlite")
    quick.add("λ")
    quick.hits(QUESTION)
    assert row(quick) == 0
    # Where the file system has no write-ahead log, each write waits for the disk.
    usual, slow = apsw.vfs_names()[0], Counting()
    apsw.set_default_vfs("unix-dotfile")
    try:
        with MemoryStore(tmp_path / "λ.sqlite", embedder=slow) as memory:
            memory.add("λ")
            memory.hits(QUESTION), memory.hits(QUESTION)
    finally:
        apsw.set_default_vfs(usual)
    assert slow.asked == [QUESTION] * 2


def test_a_busy_store(asked):
    """While another writes a search does not wait to keep its question; it is kept with the next one."""
    with while_another_writes(asked):
        assert asked.hits(QUESTION).hits and row(asked) == 0
    asked.hits("another question")
    assert row(asked) == 2


class Plain(Counting):
    """A model without MLX, which does not work in a forked process."""

    def embed_query(self, text, /):
        self.asked.append(text)
        return np.full(64, 1 / 8, np.float32)


def test_read_only(asked, as_user, common_folder):
    """A store that cannot be written answers from what is kept, and keeps nothing."""
    path, plain = common_folder / "memory.sqlite", Plain()
    asked.hits(QUESTION)
    asked.backup(path)
    path.chmod(0o444)
    common_folder.chmod(0o555)

    def search():
        with MemoryStore(path, plain, settings=JupyterMemory()) as memory:
            memory.hits(QUESTION), memory.hits("another question"), memory.hits("another question")
            return memory.stats()["read_only"], plain.asked

    assert as_user(search) == (True, ["another question"] * 2)


def test_bounded(asked, model):
    """The thousand asked last are kept: one that is asked again stays, one that is not makes room."""
    asked.hits(QUESTION)
    for number in range(1_100):
        asked.hits(f"question {number}")
        if number % 300 == 299:
            asked.hits(QUESTION)
    assert model.asked.count(QUESTION) == 1
    assert 500 <= row(asked) <= 1_000
    asked.hits("question 1099")
    asked.hits("question 0")
    assert model.asked.count("question 1099") == 1 and model.asked.count("question 0") == 2
    # A vector of another length than the model's is not used.
    with closing(apsw.Connection(str(asked.path))) as file:
        file.execute("update query_vectors set embedding = zeroblob(12)")
    assert asked.hits(QUESTION).hits[0].badges == "SEM" and model.asked.count(QUESTION) == 2
