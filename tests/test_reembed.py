"""Changing models: the new vectors beside the old, nothing lost on the way, no two models ever mixed."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from jupyter_memory import MemoryStore
from jupyter_memory.errors import EmbedderError, EmbeddingMismatch, InputError, StoreFull
from jupyter_memory.prepare import embedding_text


class Hashing:
    """A model whose vectors follow from the digest of a text; ``before`` is called with each batch."""

    threshold = -1.0

    def __init__(self, name="λ-one", dimensions=16, before=lambda texts: None):
        self.name, self.dimensions, self.fingerprint = name, dimensions, f"{name}/{dimensions}"
        self.before = before
        self.batches = []

    def embed_documents(self, texts, /):
        self.before(texts)
        self.batches.append(len(texts))
        return np.stack([self.vector(text) for text in texts])

    def embed_query(self, text, /):
        return self.vector(text)

    def vector(self, text):
        seed = hashlib.sha256((self.fingerprint + text).encode()).digest()[:8]
        drawn = np.random.default_rng(int.from_bytes(seed, "big")).normal(size=self.dimensions).astype(np.float32)
        return drawn / np.linalg.norm(drawn)


def notes(count, start=0):
    return [{"text": f"Note {i} of λ in Zürich"} for i in range(start, start + count)]


def held(store):
    """Return what the store says of its models: name, vectors, in use."""
    return [(model["name"], model["vectors"], model["active"]) for model in store.stats()["models"]]


def check_vectors(store, embedders):
    """Check that every vector is the one that its own model gives for its chunk, and that no chunk lacks one."""
    with store._database.read() as connection:
        texts = {
            row[0]: embedding_text(*row[1:])
            for row in connection.execute(
                """
                select chunks.id, memories.kind, chunk_texts.title, chunk_texts.context, chunk_texts.text
                from chunk_texts join chunks on chunks.id = chunk_texts.id join memories on key = chunks.memory
                """
            )
        }
        models = connection.execute("select id, fingerprint, active from models").fetchall()
        for model, fingerprint, active in models:
            vectors = dict(connection.execute(f"select chunk, embedding from vectors_{model}").fetchall())
            codes = {row[0] for row in connection.execute(f"select chunk from codes_{model}")}
            assert set(vectors) == codes <= set(texts)
            assert not active or codes == set(texts)
            for chunk, vector in vectors.items():
                assert vector == embedders[fingerprint].vector(texts[chunk]).tobytes()
    assert sum(active for _, _, active in models) <= 1


# -- the way there -----------------------------------------------------------------------------------------------------


def test_searches_go_on_with_the_old_model(store):
    """While vectors are written this store, and others, find by meaning; at the end all of them use the new model."""
    memory, other = store(embedder="static-64"), store()
    memory.add_many(notes(300), progress=False)
    seen = []

    def search(texts):
        for one in (memory, other):
            answer = one.hits("Note 7 of λ", profile="trovella")
            seen.append((answer.counts["vector"] > 0, answer.notices, one.stats()["models"][0]["active"]))

    new = Hashing("λ-two", before=search)
    assert memory.reembed(new, progress=False) == 300
    assert seen == [(True, (), True)] * 4
    assert new.batches == [256, 44]
    assert held(memory) == [("static", 300, False), ("λ-two", 300, True)]
    (hit, *_), notices = (answer := memory.hits("Note 7 of λ")).hits, answer.notices
    vector = new.vector(embedding_text("note", hit.memory.title, "", hit.memory.text))
    assert hit.cosine == pytest.approx(float(vector @ new.vector("Note 7 of λ")), abs=1e-6) and notices == ()


def test_added_meanwhile(store):
    """What others add while vectors are written, with the old model, has the new one's after the switch."""
    memory, other = store(embedder="static-64"), store()
    memory.add_many(notes(300), progress=False)
    new = Hashing(before=lambda texts: other.add_many(notes(5, 1000 + len(new.batches) * 5), progress=False))

    # The batch of those that came during the second is the third, during which five more come, and are known then.
    new.before = lambda texts: (
        len(new.batches) < 3 and other.add_many(notes(5, 1000 + len(new.batches) * 5), progress=False)
    )
    assert memory.reembed(new, progress=False) == 315
    assert [model["vectors"] for model in memory.stats()["models"]] == [315, 315]
    assert memory.doctor() == []


def test_added_at_the_moment_of_the_switch(store):
    """A memory that was embedded with the old model before the switch, and written after it, is embedded anew."""
    memory = store(embedder="static-64")
    memory.add_many(notes(3), progress=False)
    with MemoryStore(memory.path) as other:
        library, done = other._library, []
        add = library.add

        def late(prepared, embedder):
            if not done:
                done.append(memory.reembed("static-128", progress=False))
            return add(prepared, embedder)

        library.add = late
        other.add("Net of tax in Genève")
    assert done == [3]
    assert held(memory) == [("static", 3, False), ("static", 4, True)]
    assert memory.doctor() == []


def test_killed_in_the_middle(store):
    """After kill -9 the old model is in use, and the next run embeds only the chunks that are left."""
    memory = store(embedder="static-64")
    memory.add_many(notes(600), progress=False)
    program = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from test_reembed import Hashing
from jupyter_memory import MemoryStore
new = Hashing(before=lambda texts: len(new.batches) == 2 and os.kill(os.getpid(), signal.SIGKILL))
MemoryStore(sys.argv[1]).reembed(new, progress=False)
"""
    folder = str(Path(__file__).parent)
    ended = subprocess.run([sys.executable, "-c", program, str(memory.path), folder], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr

    assert held(memory) == [("static", 600, True), ("λ-one", 512, False)]
    assert memory.hits("Note 7 of λ", profile="trovella").counts["vector"] == 40
    new = Hashing()
    assert memory.reembed(new, progress=False) == 88
    assert new.batches == [88]
    assert held(memory) == [("static", 600, False), ("λ-one", 600, True)]
    assert memory.doctor() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, EmbedderError, MemoryError])
def test_stopped_in_the_middle(store, error):
    """Ctrl-C or an error of the model leaves the old one in use, here and when the store is opened again."""

    def stop(texts):
        if len(new.batches) == 1:
            raise error("no λ left")

    memory, new = store(embedder="static-64"), Hashing(before=stop)
    memory.add_many(notes(300), progress=False)
    with pytest.raises(error, match="no λ left"):
        memory.reembed(new, progress=False)
    for one in (memory, store()):
        assert held(one) == [("static", 300, True), ("λ-one", 256, False)]
        assert one.hits("Note 7 of λ", profile="trovella").counts["vector"] == 40
    memory.add("Net of tax in Genève")
    new.before = lambda texts: None
    assert memory.reembed(new, progress=False) == 45


def test_a_full_disk(store):
    """When the disk is full the old model stays in use, the error says so, and with room it goes on."""
    memory, new = store(embedder="static-64"), Hashing(dimensions=256)
    memory.add_many(notes(600), progress=False)
    connection = memory._database.connection
    connection.pragma("max_page_count", connection.pragma("page_count") + 150)
    with pytest.raises(StoreFull, match="make room and try again"):
        memory.reembed(new, progress=False)
    assert held(memory)[0] == ("static", 600, True)
    assert memory.hits("Note 7 of λ", profile="trovella").counts["vector"] == 40
    left = 600 - held(memory)[1][1]

    connection.pragma("max_page_count", 1_000_000)
    assert 0 < left < 600 and memory.reembed(new, progress=False) == left


def test_progress(store, capsys, monkeypatch):
    """Progress is shown by chunks in a terminal, unless it is not wanted."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    memory = store(embedder="static-64")
    memory.add_many(notes(3), progress=False)
    memory.reembed("static-128", progress=False)
    assert capsys.readouterr().err == ""
    memory.reembed("static", progress=True)
    assert "Embedding" in (shown := capsys.readouterr().err) and "/3 " in shown


# -- old vectors -------------------------------------------------------------------------------------------------------


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


# -- others ------------------------------------------------------------------------------------------------------------


def test_another_process_changes_the_model(store):
    """When the command line changes the model, an open kernel searches, adds and changes with the new one."""
    kernel = store()
    first = kernel.add("The λ of the Poisson model is 3.2.", title="Poisson λ")
    program = "import sys; from jupyter_memory import MemoryStore; MemoryStore(sys.argv[1]).reembed('static-64')"
    subprocess.run([sys.executable, "-c", program, str(kernel.path)], check=True, capture_output=True)

    answer = kernel.hits("Poisson λ")
    assert answer.hits[0].badges == "KW+SEM" and answer.notices == ()
    kernel.add("Net of tax in Genève")
    kernel.update(first.id, text="The λ of the Poisson model is 3.3.")
    assert held(kernel) == [("static", 0, False), ("static", 2, True)]
    assert kernel.doctor() == []


def test_a_model_that_is_not_here(store):
    """When others changed to a model that cannot be opened here, words are searched, and what to type is said."""
    kernel = store()
    kernel.add("The λ of the Poisson model is 3.2.")
    with MemoryStore(kernel.path) as other:
        other.reembed(Hashing("only-there"), progress=False)

    answer = kernel.hits("Poisson λ")
    assert answer.hits[0].badges == "KW"
    assert "only-there (16 dimensions), which cannot be opened here" in answer.notices[0]
    assert "store.reembed('static')" in answer.notices[0] and answer.notices[0] in kernel.doctor()
    with pytest.raises(EmbedderError, match="cannot be opened here"):
        kernel.add("Net of tax in Genève")
    assert kernel.reembed("static", progress=False) == 0
    assert kernel.hits("Poisson λ").hits[0].badges == "KW+SEM"


def test_a_model_of_its_own(store):
    """A store that was opened with a model of its own keeps to it, and says so when the file's is another."""
    fixed, memory = store(embedder="static-128"), store()
    fixed.add("The λ of the Poisson model is 3.2.")
    memory.reembed("static-64", progress=False)

    assert "written with static (64 dimensions), and the embedder is static (128)" in fixed.hits("λ").notices[0]
    with pytest.raises(EmbeddingMismatch):
        fixed.add("Net of tax in Genève")
    fixed.reembed(progress=False)
    assert fixed.hits("Poisson λ").hits[0].badges == "KW+SEM" == memory.hits("Poisson λ").hits[0].badges


# -- whatever happens --------------------------------------------------------------------------------------------------


class Changing(RuleBasedStateMachine):
    """Two connections that add, change models, stop half-way, forget and drop, in any order."""

    @initialize()
    def begin(self):
        self.folder = tempfile.TemporaryDirectory()
        self.models = {name: Hashing(name, 8) for name in ("a", "b", "c")}
        self.stores = [MemoryStore(f"{self.folder.name}/memory.sqlite", self.models["a"]) for _ in range(2)]
        self.count = 0

    def one(self, which):
        """Return a store as one that follows the file's model, as "auto" does with models that have a name."""
        store = self.stores[which]
        with store._database.read() as connection:
            active = store._vectors.active(connection)
        if active is not None:
            store._model.adopt(self.models[active.name])
        return store

    @rule(which=st.integers(0, 1), count=st.integers(1, 4))
    def add(self, which, count):
        self.one(which).add_many(notes(count, self.count), progress=False)
        self.count += count

    @rule(which=st.integers(0, 1), name=st.sampled_from("abc"), keep=st.booleans(), meanwhile=st.booleans())
    def change(self, which, name, keep, meanwhile):
        model = self.models[name]

        def add(texts):
            model.before = lambda texts: None
            if meanwhile:
                self.add(1 - which, 1)

        model.before = add
        self.stores[which].reembed(model, progress=False, keep=keep)
        model.before = lambda texts: None

    @rule(which=st.integers(0, 1), name=st.sampled_from("abc"))
    def stop(self, which, name):
        model = self.models[name]

        def fail(texts):
            raise EmbedderError("no λ left")

        model.before = fail
        with suppress(EmbedderError):
            self.stores[which].reembed(model, progress=False)
        model.before = lambda texts: None

    @precondition(lambda self: self.count)
    @rule(which=st.integers(0, 1), newest=st.booleans())
    def forget(self, which, newest):
        memories = [hit.memory.id for hit in self.stores[which].browsed(limit=100).hits]
        if memories:
            self.stores[which].forget(memories[0 if newest else -1])

    @rule(which=st.integers(0, 1))
    def drop(self, which):
        self.stores[which].drop_vectors()

    @invariant()
    def every_vector_is_of_its_own_model(self):
        if hasattr(self, "stores"):
            for store in self.stores:
                check_vectors(store, {model.fingerprint: model for model in self.models.values()})

    def teardown(self):
        if hasattr(self, "stores"):
            for store in self.stores:
                store.close()
            self.folder.cleanup()


Changing.TestCase.settings = settings(max_examples=12, stateful_step_count=12)
TestChanging = Changing.TestCase
