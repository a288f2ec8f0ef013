"""Definitions and tokens are stored with texts: always those of the present text, gone with it, mended by rebuild."""

import nbformat
import numpy as np
import pytest
from inside import run_sql, storage_of

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import tokens
from jupyter_memory.text import definitions, embedding_text

CLIENT = "class QuarzClient:\n    def zwischenspeichern(self): ...\n\nQUARZRATE = 3\n"


def kept(store):
    memories = [hit.memory for hit in store.browsed(limit=1_000).hits if hit.memory.lang.lower() == "python"]
    with storage_of(store) as storage, storage.snapshot() as snapshot:
        keys = {snapshot.key_of(one.id): one.id for one in memories}
        found = snapshot.definitions(list(keys))
    return {keys[key]: one for key, one in found.items()}, {
        one.id: definitions(one.kind, one.lang, one.text) for one in memories
    }


@pytest.fixture
def folder(tmp_path):
    """A file, a notebook with a magic and an output, and a page that is not in Python."""
    root = tmp_path / "lib"
    root.mkdir()
    (root / "client.py").write_text(CLIENT, encoding="utf-8")
    (root / "page.md").write_text("# Client\n\nclass Prose: of its own\n", encoding="utf-8")
    cell = nbformat.v4.new_code_cell("%time\ndef mean(prices): ...\nλ = 3\n")
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text="def printed(): ...\n")]
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), root / "book.ipynb")
    return root


@pytest.fixture
def filled(store, folder):
    memories = store()
    memories.index(folder, progress=False)
    memories.add_many([{"text": "def noted(): ...", "lang": "python"}, {"text": "a note"}], progress=False)
    return memories


def test_with_what_is_stored(filled):
    """Files, cells and notes in Python are stored with what they define, others without; known ones keep it."""
    found, read = kept(filled)
    assert found == read
    names = {name for one in found.values() for names in one for name in names.split()}
    assert names == {"QuarzClient", "zwischenspeichern", "QUARZRATE", "mean", "λ", "noted"}
    filled.add_many([{"text": "def noted(): ...", "lang": "python", "tags": ["two"]}], progress=False)
    assert kept(filled)[0] == found and filled.tags() == ["two"]


def test_after_every_change(filled, folder):
    """An edit, a move, a new name, a changed text or language: the definitions are those of what is there."""
    moved = folder.parent / "moved"
    folder.rename(moved)
    (moved / "client.py").write_text(CLIENT + "def added(): ...\n", encoding="utf-8")
    filled.index(moved, progress=False)
    (moved / "client.py").rename(moved / "session.py")
    filled.rename(moved / "client.py", moved / "session.py")
    note = next(hit.memory for hit in filled.browsed(limit=9, filters={"kind": "note"}).hits if hit.memory.lang)
    other = filled.add("rate = 2")
    filled.update(note.id, text="def renoted(): ...", title="λ")
    filled.update(other.id, lang="python")
    filled.pin(note.id)
    found, read = kept(filled)
    assert found == read and len(found) == 4
    assert found[note.id].defined == "renoted" and found[other.id].assigned == "rate"
    filled.update(other.id, lang=None)
    found, read = kept(filled)
    assert found == read and other.id not in found
    assert filled.doctor() == []


def test_where_they_lack(filled):
    """`rebuild` stores them again, in as many batches as it takes, and changes nothing else."""
    notes = [{"text": f"def noted_{number}(): ...", "lang": "python"} for number in range(520)]
    filled.add_many(notes, progress=False)
    told = [(hit.memory.id, hit.memory.indexed_at) for hit in filled.browsed(limit=600).hits]
    run_sql(filled, "delete from definitions")
    filled.rebuild()
    found, read = kept(filled)
    assert found == read and len(found) == 523
    assert [(hit.memory.id, hit.memory.indexed_at) for hit in filled.browsed(limit=600).hits] == told


def test_what_another_program_wrote(filled, tmp_path):
    """Who changes a text without its definitions loses these; `rebuild` mends that and damage; copies have them."""
    run_sql(filled, "update texts set text = replace(text, 'QuarzClient', 'ServiceClient')")
    assert kept(filled)[0] == {}
    filled.rebuild()
    found, read = kept(filled)
    assert found == read and "ServiceClient" in {one.defined for one in found.values()}
    run_sql(filled, "update definitions set defined = 'QuarxClient' where defined = 'ServiceClient'")
    [said] = [one for one in filled.doctor() if "define" in one]
    assert said.startswith("The names that 1 memory should define are not in the text.") and "store.rebuild()" in said
    filled.rebuild()
    found, read = kept(filled)
    assert found == read and not any("define" in one for one in filled.doctor())
    copy = MemoryStore.restore(filled.backup(tmp_path / "copy.sqlite"), tmp_path / "again.sqlite")
    with MemoryStore(copy) as again:
        assert kept(again)[0] == found


def test_nothing_is_left_of_what_is_forgotten(filled, folder, bytes_of):
    names = [b"QuarzClient", b"zwischenspeichern", b"QUARZRATE"]
    assert all(name in bytes_of(filled.path) for name in names)
    filled.forget(source=str(folder / "client.py"))
    assert not any(name in bytes_of(filled.path) for name in names)
    (folder / "client.py").write_text(CLIENT, encoding="utf-8")
    filled.index(folder, progress=False)
    assert b"QUARZRATE" in bytes_of(filled.path)
    (folder / "client.py").write_text("x = 1\n", encoding="utf-8")
    filled.index(folder, progress=False)
    assert not any(name in bytes_of(filled.path) for name in names)


def test_no_secret_is_a_name(store, tmp_path):
    """Names are read after secrets were hidden."""
    (tmp_path / "keys.py").write_text('api_key = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"\n', encoding="utf-8")
    memories = store()
    memories.index(tmp_path / "keys.py", progress=False)
    assert [one.assigned for one in kept(memories)[0].values()] == ["api_key"]
    assert "4f9a8b7c" not in memories.get(memories.hits("api key").hits[0].memory.id).text


def test_the_file_that_defines_it_comes_first(store, tmp_path):
    """A class is found where it is defined, though others name it more often; the explanation says so."""
    root = tmp_path / "lib"
    root.mkdir()
    (root / "client.py").write_text("class Session:\n    def close(self): ...\n", encoding="utf-8")
    for number in range(3):
        (root / f"use_{number}.py").write_text(f"print(Session, Session, Session, {number})\n", encoding="utf-8")
    memories = store()
    memories.index(root, progress=False)
    answer = memories.hits("Session")
    first = answer.hits[0].memory
    told = memories.explain("Session", first.id).details
    assert first.title == "client.py" and told == memories.explain_in(answer, first.id).details
    assert "2.000000 for its definition of `Session` (defines, 1st, value 1)." in told
    assert "0.500000 for its definition of `Session` (defined_names, 1st, value 0.5)." in told
    assert "Nothing for file_stem: the names of its file and folder are not in the query." in told


NOTE = "λ rose to 3.2 orders an hour in Zürich. " * 120


def kept_tokens(store):
    """Return the tokens that a store keeps by chunk, the different and the text's, and those that its texts have."""
    chunks = [row[0] for row in run_sql(store, "select id from chunks order by id")]
    with storage_of(store) as storage, storage.snapshot() as snapshot:
        found, parts = snapshot.tokens(chunks), snapshot.embedded_parts(chunks)
    told = {chunk: np.unique(tokens([embedding_text(*parts[chunk])]).ids).tolist() for chunk in chunks}
    in_order = {chunk: tokens([parts[chunk].text]).ids.tolist() for chunk in chunks}
    return (
        {chunk: (one.different.tolist(), one.text.tolist()) for chunk, one in found.items()},
        {chunk: (told[chunk], in_order[chunk]) for chunk in chunks},
    )


@pytest.fixture
def prices(store, week, tmp_path):
    memories = store()
    memories.add_many([*week, {"title": "Poisson", "text": NOTE}], progress=False)
    text = "# Prices\n\nNet of tax, in Zürich.\n\n## λ\n\nThree orders.\n"
    (tmp_path / "prices.md").write_text(text, encoding="utf-8")
    memories.index(tmp_path / "prices.md", progress=False)
    return memories


def test_those_of_what_is_embedded(prices, store, week):
    """Notes, long ones too, and documents keep the tokens of exactly what is embedded, with a model or without."""
    found, told = kept_tokens(prices)
    assert found == told and len(told) > prices.stats()["memories"]
    words = store("words.sqlite", embedder=None)
    words.add_many(week, progress=False)
    found, told = kept_tokens(words)
    assert found == told and told


def test_after_a_change(prices, tmp_path):
    """What is rewritten or edited keeps the tokens of what it says now, and what is forgotten none."""
    first = prices.hits("Poisson").hits[0].memory.id
    prices.update(first, text="μ fell.", title="Mean")
    (tmp_path / "prices.md").write_text("# Prices\n\nGross, in Genève.\n", encoding="utf-8")
    prices.index(tmp_path / "prices.md", progress=False)
    prices.forget(filters={"tag": "bug"})
    found, told = kept_tokens(prices)
    assert found == told
    assert run_sql(prices, "select count(*) from chunk_tokens") == [(len(told),)]


def test_where_tokens_lack(prices):
    """A store without tokens, or with some, ranks alike; `rebuild` stores them all, in as many batches as it takes."""
    prices.add_many([{"text": f"Orders of day {number}"} for number in range(1_100)], progress=False)
    ask = {"now": prices.hits("λ").query.now, "profile": "auto"}

    def scores():
        with MemoryStore(prices.path) as again:
            hits = again.hits("orders in Zürich", **ask).hits
            return [(hit.memory.id, hit.signals["max_sim"].value, hit.score) for hit in hits]

    before = scores()
    run_sql(prices, "delete from chunk_tokens where chunk % 2")
    half = scores()
    run_sql(prices, "delete from chunk_tokens")
    assert before and half == scores() == before
    prices.rebuild()
    found, told = kept_tokens(prices)
    assert found == told and scores() == before
