"""The tokens kept with each chunk: always those of what was embedded, gone with it, and told anew where they lack."""

from __future__ import annotations

import numpy as np
import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import tokens
from jupyter_memory.storage.sqlite.tables import memories as chunk_rows
from jupyter_memory.store import maintenance
from jupyter_memory.text.markdown import embedding_text

NOTE = "λ rose to 3.2 orders an hour in Zürich. " * 120


def kept(store):
    """Return the tokens that a store keeps by chunk, the different and the text's, and those that its texts have."""
    with store._storage.database.read() as connection:
        chunks = [row[0] for row in connection.execute("select id from chunks order by id")]
        of_chunks = chunk_rows.tokens_of(connection, chunks)
        parts = chunk_rows.embedded_parts(connection, chunks)
    told = {chunk: np.unique(tokens([embedding_text(*parts[chunk])]).ids).tolist() for chunk in chunks}
    in_order = {chunk: tokens([parts[chunk].text]).ids.tolist() for chunk in chunks}
    return (
        {chunk: (one.different.tolist(), one.text.tolist()) for chunk, one in of_chunks.items()},
        {chunk: (told[chunk], in_order[chunk]) for chunk in chunks},
    )


def lose(store):
    """Take all tokens out of a store."""
    with store._storage.database.write() as connection:
        connection.execute("delete from chunk_tokens")


@pytest.fixture
def filled(store, week, tmp_path):
    memories = store()
    memories.add_many([*week, {"title": "Poisson", "text": NOTE}], progress=False)
    (tmp_path / "prices.md").write_text(
        "# Prices\n\nNet of tax, in Zürich.\n\n## λ\n\nThree orders.\n", encoding="utf-8"
    )
    memories.index(tmp_path / "prices.md", progress=False)
    return memories


def test_those_of_what_is_embedded(filled):
    """Notes, long ones too, and documents keep the tokens of exactly what is embedded of each chunk."""
    found, told = kept(filled)

    assert found == told
    assert len(told) > filled.stats()["memories"]


def test_after_a_change(filled, tmp_path):
    """What is rewritten or edited keeps the tokens of what it says now, and what is forgotten none."""
    first = filled.hits("Poisson").hits[0].memory.id
    filled.update(first, text="μ fell.", title="Mean")
    (tmp_path / "prices.md").write_text("# Prices\n\nGross, in Genève.\n", encoding="utf-8")
    filled.index(tmp_path / "prices.md", progress=False)
    filled.forget(filters={"tag": "bug"})
    found, told = kept(filled)

    assert found == told
    assert filled._storage.database.connection.execute("select count(*) from chunk_tokens").get == len(told)


def test_without_a_model(tmp_path, week):
    """A store that is written without a model keeps tokens too: soft match needs none."""
    with MemoryStore(tmp_path / "words.sqlite", embedder=None) as store:
        store.add_many(week, progress=False)
        found, told = kept(store)

    assert found == told
    assert told


def test_where_they_lack(filled):
    """A store without tokens, or with some, ranks alike; `rebuild` stores them all."""
    ask = {"now": filled.hits("λ").query.now, "profile": "auto"}

    def scores():
        with MemoryStore(filled.path) as again:
            return [
                (hit.memory.id, hit.signals["max_sim"].value, hit.score)
                for hit in again.hits("orders in Zürich", **ask).hits
            ]

    before = scores()
    with filled._storage.database.write() as connection:
        connection.execute("delete from chunk_tokens where chunk % 2")
    half = scores()
    lose(filled)
    none = scores()
    filled.rebuild()
    found, told = kept(filled)

    assert before
    assert half == none == before
    assert found == told
    assert scores() == before


def test_in_several_batches(filled, monkeypatch):
    """However many chunks lack their tokens, `rebuild` stores those of each."""
    monkeypatch.setattr(maintenance, "_BATCH", 2)
    lose(filled)
    filled.rebuild()
    found, told = kept(filled)

    assert found == told
