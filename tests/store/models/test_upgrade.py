"""A store with the vectors of the former static model: searched at once, and taken to today's in the background."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from blocked import run_without

from jupyter_memory import InputError, JupyterMemory, MemoryStore, StoreError
from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.interface import models
from jupyter_memory.store.models import reembedding, upgrade

OLD = Path(__file__).parents[2] / "golden" / "store_98f57c3" / "memory.sqlite.gz"
QUESTION = "how did we normalise the prices"
WITHOUT = """
from jupyter_memory import MemoryStore
from jupyter_memory.config import JupyterMemory
with MemoryStore(sys.argv[1], settings=JupyterMemory()) as store:
    {}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A copy of a store that was written with the former model."""
    copy = tmp_path / "memory.sqlite"
    copy.write_bytes(gzip.decompress(OLD.read_bytes()))
    copy.chmod(0o600)
    return copy


@pytest.fixture
def opened(path: Path) -> Callable[..., MemoryStore]:
    return lambda **options: MemoryStore(path, settings=JupyterMemory(), **options)


def active(store: MemoryStore) -> str:
    [found] = [one["fingerprint"] for one in store.stats()["models"] if one["active"]]
    return str(found)


def gone_over(store: MemoryStore) -> None:
    """Wait for the thread that writes the new vectors."""
    thread = store._model._upgrade._thread
    assert thread is not None
    thread.join(60)


@pytest.mark.parametrize("embedder", ["auto", "static"])
def test_it_goes_over(opened, embedder):
    """The first search is answered with the old vectors; then those of today's model are there, of every memory."""
    pytest.importorskip("wordllama")
    with opened(embedder=embedder) as store:
        ids = {hit.memory.id for hit in store.browsed(limit=100).hits}
        first = store.hits(QUESTION)
        gone_over(store)
        second = store.hits(QUESTION)

        assert not any("anew" in notice for notice in (*first.notices, *second.notices))
        assert not any("words only" in notice for notice in (*first.notices, *second.notices))
        assert first.hits[0].memory.id == second.hits[0].memory.id
        assert active(store) == StaticEmbedder().fingerprint
        assert {hit.memory.id for hit in store.browsed(limit=100).hits} == ids
        assert store.doctor() == []
        with store._storage.snapshot() as snapshot:
            assert snapshot.chunks_without_tokens(9) == []


def test_opened_again(opened):
    """A store that went over is one of today's: nothing is written again."""
    with opened() as store:
        store.hits(QUESTION)
        gone_over(store)
    with opened() as store:
        store.hits(QUESTION)

        assert store._model._upgrade._thread is None


def test_added_meanwhile(opened):
    """What is added before the change is through is found, with vectors of today's model."""
    with opened() as store:
        store.hits(QUESTION)
        added = store.add("λ is 0.3 in the new ridge", title="Ridge")
        gone_over(store)

        assert active(store) == StaticEmbedder().fingerprint
        assert store.hits("new ridge").hits[0].memory.id == added.id
        assert store.doctor() == []


def test_closed_meanwhile(opened, monkeypatch):
    """A store that is closed in the middle goes on from there when it is opened the next time."""
    monkeypatch.setattr(reembedding, "_BATCH", 2)
    with opened() as store:
        store.hits(QUESTION)
    with opened() as store:
        store.hits(QUESTION)
        if store._model._upgrade._thread is not None:
            gone_over(store)

        assert active(store) == StaticEmbedder().fingerprint
        assert store.doctor() == []


def test_words_where_the_old_model_is_not_installed(path):
    """Without the old model's package, words are searched until the new vectors are there, and a notice says so."""
    said = run_without(
        ["wordllama", "tokenizers"],
        WITHOUT.format(
            "first = store.hits(sys.argv[2])\n"
            "    store._model._upgrade._thread.join(60)\n"
            "    second = store.hits(sys.argv[2])\n"
            "    print([any('anew' in one for one in answer.notices) for answer in (first, second)])\n"
            "    print(['The search used words only, not meaning.' in one.notices for one in (first, second)])"
        ),
        str(path),
        QUESTION,
    )

    assert said.splitlines()[0] == "[True, False]"
    assert said.splitlines()[1] == "[True, False]"


def test_written_to_where_the_old_model_is_not_installed(path):
    """Without that package, what is added first waits for the change, and has a vector like the rest."""
    said = run_without(
        ["wordllama", "tokenizers"],
        WITHOUT.format(
            "print(store.add('λ is 0.3 in the new ridge').text, store.doctor(), store.stats()['models'][-1]['active'])"
        ),
        str(path),
    )

    assert said == "λ is 0.3 in the new ridge [] True"


def test_read_only_where_the_old_model_is_not_installed(path):
    """A store that cannot be written is searched by words, and the notice says what to install."""
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        said = run_without(
            ["wordllama", "tokenizers"],
            WITHOUT.format("answer = store.hits(sys.argv[2])\n    print(store._storage.read_only, answer.notices)"),
            str(path),
            QUESTION,
        )
    finally:
        path.parent.chmod(0o700)
    if said.startswith("False"):
        pytest.skip("this user may write everywhere")

    assert (
        "This store is read-only and has the vectors of the former static model, so words alone are searched. Install "
        "that model (pip install 'jupyter-memory[wordllama]'), or open the store once where it can be written."
    ) in said
    assert "reembed" not in said


def test_a_change_that_fails(path):
    """Where the new vectors cannot be written, the notice says why, and does not say that they are being written."""
    said = run_without(
        ["wordllama", "tokenizers"],
        "from jupyter_memory.errors import StoreError\n"
        "from jupyter_memory.store.models import upgrade\n"
        "def full(*arguments, **options):\n"
        "    raise StoreError('The disk is full.')\n"
        "upgrade.reembed = full\n"
        + WITHOUT.format(
            "store.hits(sys.argv[2])\n"
            "    store._model._upgrade._thread.join(60)\n"
            "    print([one for one in store.hits(sys.argv[2]).notices if 'vectors' in one])"
        ),
        str(path),
        QUESTION,
    )

    assert "could not be written" in said and "The disk is full. The next opening tries again." in said
    assert "anew" not in said


def test_the_switch_comes_last(opened, monkeypatch):
    """A change that ends before the new vectors are there goes on at the next opening: the tokens come first."""

    def ends(*arguments, **options):
        raise StoreError("The disk is full.")

    with monkeypatch.context() as failing, opened() as store:
        failing.setattr(upgrade, "reembed", ends)
        store.hits(QUESTION)
        gone_over(store)
        with store._storage.snapshot() as snapshot:
            assert snapshot.chunks_without_tokens(9) == []
        assert active(store) != StaticEmbedder().fingerprint
    with opened() as store:
        store.hits(QUESTION)
        gone_over(store)
        assert active(store) == StaticEmbedder().fingerprint


def test_two_models_have_two_names(opened, path):
    """The former model's vectors are called `wordllama`: in use before, kept after, and dropped by that name."""
    with opened() as store:
        assert store.stats()["model"] == "wordllama"
        assert [row["name"] for row in models.listed(path.parent, store.stats()) if row["in_use"]] == ["wordllama"]
        said = models.switch(store, models.Wanted.of("static", None, path.parent), path.parent, progress=False)

        assert "13 vectors written. The vectors of wordllama are kept" in said
        assert {one["name"] for one in store.stats()["models"]} == {"static", "wordllama"}
        with pytest.raises(InputError, match="The vectors of static are in use"):
            store.drop_vectors("static")
        assert "of wordllama (256 dimensions)" in models.drop(store, "wordllama")


def test_tokens_of_before_are_not_read(opened):
    """The tokens of the former model are of another vocabulary: they count as missing."""
    with opened(embedder=None) as store:
        with store._storage.database.write() as connection:
            connection.execute("insert or replace into chunk_tokens select id, x'05000700' from chunks")
        with store._storage.snapshot() as snapshot:
            chunks = snapshot.sample(1_000)
            assert len(chunks) == 13 and snapshot.tokens(chunks) == {}
            assert snapshot.chunks_without_tokens(1_000) == sorted(chunks)


def test_the_old_model_by_its_name(opened):
    """A store may stay with the old model: it is asked for by its name, and reads the vectors that are there."""
    pytest.importorskip("wordllama")
    with opened(embedder="wordllama") as store:
        answer = store.hits(QUESTION)

        assert not any("words" in notice for notice in answer.notices)
        assert store._model._upgrade._thread is None
