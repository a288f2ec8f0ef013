"""Changing models: the new vectors beside the old, nothing lost on the way, whoever else has the store open."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hashing import Hashing, held, notes

from jupyter_memory import EmbedderError, EmbeddingMismatch, MemoryStore, StoreFull
from jupyter_memory.text import embedding_text


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
        library, done = other._storage.writer, []
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
from hashing import Hashing
from jupyter_memory import MemoryStore
new = Hashing(before=lambda texts: len(new.batches) == 2 and os.kill(os.getpid(), signal.SIGKILL))
MemoryStore(sys.argv[1]).reembed(new, progress=False)
"""
    folder = str(Path(__file__).parents[2] / "helpers")
    ended = subprocess.run(
        [sys.executable, "-c", program, str(memory.path), folder], capture_output=True, text=True, timeout=100
    )
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
    connection = memory._storage.database.connection
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


# -- others ------------------------------------------------------------------------------------------------------------


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
