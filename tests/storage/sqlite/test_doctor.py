"""What a store says of itself: counts, bytes by kind, and what is wrong, with what to do about it."""

from __future__ import annotations

import random
import shutil
from contextlib import closing
from datetime import UTC, datetime

import apsw
import pytest
from inside import run_sql
from pictures import plot, plotting, saved

from jupyter_memory import JupyterMemory, MemoryStore, StoreDamaged, StoreLocked
from jupyter_memory.types import Run


# -- counts and bytes --------------------------------------------------------------------------------------------------
def test_counts(week_store, sqlite):
    """Counts by kind, tier and space, with pinned memories under core, and the bytes of every file of the store."""
    stats = week_store.stats()
    assert (stats["memories"], stats["chunks"], stats["files"], stats["pinned"]) == (10, 10, 0, 1)
    assert stats["kinds"] == {"note": 8, "cell": 1, "file": 1}
    assert stats["tiers"] == {"note": 6, "file": 2, "core": 1, "mcp": 1}
    assert stats["spaces"] == {"": 8, "shops": 2}
    assert [(model["name"], model["vectors"], model["active"]) for model in stats["models"]] == [("static", 10, True)]
    assert stats["bytes"] == on_disk(week_store) and stats["version"] >= 1000
    assert (stats["journal"], stats["read_only"]) == ("wal", False)
    assert week_store.tags()[:4] == ["prices", "decision", "model", "bug"]  # the most used first, then by letters
    # A file that others can read is named with the command that closes it.
    week_store.path.chmod(0o644)
    (problem,) = week_store.doctor()
    assert f"chmod 600 '{week_store.path}'" in problem
    # An error that is not the store's stays what it was.
    with pytest.raises(ZeroDivisionError), sqlite().snapshot():
        1 / 0  # noqa: B018


@pytest.fixture
def memory(store):
    return store(embedder="static")


@pytest.fixture
def sizes(memory):
    """Return what the bytes of the store are for at this moment."""
    return lambda: dict(memory.stats(sizes=True)["sizes"])


def on_disk(memory: MemoryStore) -> int:
    return sum(file.stat().st_size for file in memory.path.parent.glob(f"{memory.path.name}*"))


def test_sizes_add_up_to_the_bytes_on_disk(memory, sizes):
    """The parts are all of the file and its log: of an empty store, a full one, opened anew, and after a forgetting."""
    assert sum(sizes().values()) == on_disk(memory)
    memory.add_many([{"text": f"λ {i} " * 500, "tags": [f"t{i}"]} for i in range(60)], progress=False)
    stats = memory.stats(sizes=True)
    assert sum(stats["sizes"].values()) == stats["bytes"] == on_disk(memory)
    assert stats["held"] == stats["bytes"] - stats["sizes"]["free"] - stats["sizes"]["log"]
    memory.close()
    with MemoryStore(memory.path, "static") as again:
        assert sum(again.stats(sizes=True)["sizes"].values()) == on_disk(again)
        # What is forgotten no longer counts as held; what comes next uses that room.
        again.forget(everything=True)
        left = again.stats(sizes=True)
        assert left["held"] < stats["held"] / 2 and sum(left["sizes"].values()) == left["bytes"]


def test_each_kind_is_counted_where_it_belongs(memory, sizes, tmp_path):
    """Texts, words and vectors grow with notes, pictures with a notebook, history with runs, searches with a search."""
    before = sizes()
    memory.add_many([{"text": f"{i} prices of region {i * 7}, " * 60} for i in range(60)], progress=False)
    noted = sizes()
    assert all(noted[kind] > before[kind] for kind in ("texts", "words", "vectors"))
    assert noted["pictures"] == before["pictures"] and noted["history"] == before["history"]
    saved(tmp_path / "nb" / "λ.ipynb", *[plotting(f"plot({i})", plot(i)) for i in range(4)])
    memory.index(tmp_path / "nb", progress=False)
    shown = sizes()
    assert shown["pictures"] > noted["pictures"] + memory.stats()["thumbnails"]["bytes"] / 2
    at = datetime(2026, 3, 2, tzinfo=UTC)
    runs = [Run(f"x = {i}", at, session="s", number=i, outcome="ok") for i in range(300)]
    memory.history.record(runs)
    assert sizes()["history"] > shown["history"]
    for i in range(80):
        memory.note_search(memory.hits(f"prices {i}"), "python")
    assert sizes()["searches"] > before["searches"]


NOT_A_NUMBER = "c07f" * 512


# -- damage to rows ----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A store of six notes, one of them long."""
    path = tmp_path_factory.mktemp("sound") / "memory.sqlite"
    notes = [{"text": f"The λ of Zürich is {i}", "title": f"λ {i}", "tags": ["two"]} for i in range(5)]
    with MemoryStore(path, "static") as store:
        store.add_many([*notes, {"text": "The prices of Malmö are net of tax. " * 200}], progress=False)
    return path


@pytest.fixture
def changed(sound, tmp_path):
    """Return a copy of the store after statements of plain SQL."""

    def make(*statements):
        path = tmp_path / "memory.sqlite"
        shutil.copy(sound, path)
        with closing(apsw.Connection(str(path))) as connection:
            connection.execute("pragma foreign_keys = off")
            for statement in statements:
                connection.execute(statement)
        return path

    return make


RUN = "insert into runs (memory, session, number, started, outcome) values"
VECTOR, TEXT = "1 vector of static is damaged", "1 memory has another text or title"
PART, TOKENS = "chunks that are no part of the text", "The tokens of 1 chunks are damaged"


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("select 1", None),
        ("drop table vectors_1", "The table vectors_1 is missing"),
        ("drop view chunk_texts", "The view chunk_texts is missing"),
        ("drop index memories_identity", "The index memories_identity is missing"),
        ("delete from models", "The vectors in codes_1 belong to no model"),
        ("update models set active = 0", "0 models are in use instead of one"),
        ("delete from texts where memory = 2", "1 row of memories has no text"),
        ("delete from chunks where memory = 2", "1 row of memories has no chunk"),
        ("delete from memories where key = 2", "1 row of texts belongs to no row of memories"),
        ("insert into tags values (99, 'lost')", "1 row of tags belongs to no row of memories"),
        ("update memories set metadata = '{'", "6 rows of memories have metadata that is no JSON object"),
        ("update memories set metadata = '[1]' where key = 1", "metadata that is no JSON object"),
        ("update memories set id = 'abc', kind = 'kund' where key = 1", "an unknown kind"),
        ("update memories set id = 'abc', kind = 'kund' where key = 1", "or forget them: jupyter-memory forget abc"),
        ("update memories set tier = 'tear' where key = 1", "an unknown tier"),
        ("update memories set severity = 'odd' where key = 1", "an unknown severity"),
        ("update memories set event_at = 9e17 where key = 1", "a time beyond the calendar in event_at"),
        ("update memories set event_at = 'soon' where key = 1", "no integer in event_at"),
        ("update texts set text = x'c3' where memory = 1", "no text in text"),
        ("insert into trust values (1, 5, 'much')", "no real in value"),
        ("insert into searches values (1, 'a', 'b', 'auto', 'x', 5, '[', '', '')", "a list of hits that is no JSON"),
        (f"{RUN} (1, 'k', 1, 5, 'fine')", "an unknown outcome"),
        (f"{RUN} (1, 'k', 1, 9e17, 'ok')", "a time beyond the calendar in started"),
        (f"{RUN} (99, 'k', 1, 5, 'ok')", "1 row of runs belongs to no row of memories"),
        ("delete from counters", "The counter of removals is missing"),
        ("delete from query_keys", "The key of the stored questions is missing"),
        ("update texts set text = replace(text, 'Zürich', 'Zurich') where memory = 1", TEXT),
        ("update memories set title = 'mu' where key = 1", TEXT),
        ("update memories set content_hash = 'feed' where key = 1", TEXT),
        ("update texts set text = cast(x'c3c3' as text) where memory = 1", TEXT),
        ("update chunks set text = 'not a part' where id = 7", PART),
        ("update chunks set start = 90000, stop = 90010 where id = 7", PART),
        ("update chunks set stop = start where id = 7", PART),
        ("update chunks set text = null where id = 7", PART),
        ("update chunk_tokens set ids = substr(ids, 1, 3) where chunk = 1", TOKENS),
        ("update chunk_tokens set ids = x'fe7c01000500ff' where chunk = 1", TOKENS),
        ("update chunk_tokens set ids = x'fe7c0100ffff' where chunk = 1", TOKENS),
        ("update chunk_tokens set ids = x'fe7c020002000100' where chunk = 1", TOKENS),
        ("update vectors_1 set embedding = substr(embedding, 1, 400) where chunk = 1", VECTOR),
        ("update vectors_1 set embedding = cast(embedding || 'abcd' as blob) where chunk = 1", VECTOR),
        ("update vectors_1 set embedding = x'' where chunk = 1", VECTOR),
        ("update vectors_1 set embedding = zeroblob(1024) where chunk = 1", VECTOR),
        (f"update vectors_1 set embedding = x'{NOT_A_NUMBER}' where chunk = 1", VECTOR),
        ("update vectors_1 set embedding = (select embedding from vectors_1 where chunk = 7) where chunk = 1", VECTOR),
        ("update codes_1 set code = zeroblob(128) where chunk = 1", VECTOR),
        ("update codes_1 set code = substr(code, 1, 100) where chunk = 1", VECTOR),
        ("delete from vectors_1 where chunk = 1", VECTOR),
        ("insert into vectors_1 select 99, embedding from vectors_1 where chunk = 1", VECTOR),
    ],
)
def test_damage(changed, sqlite, statement, named):
    """What no row of a sound store has is named, with what to do about it; of a sound store nothing is said."""
    findings = list(sqlite(changed(statement)).problems())
    assert any(named in finding for finding in findings) if named else findings == [], findings
    assert all("jupyter-memory " in finding or "store." in finding for finding in findings)


def test_repaired(changed):
    """What doctor says mends it: reembed computes damaged vectors anew, and rebuild damaged tokens."""
    path = changed(
        "update vectors_1 set embedding = substr(embedding, 1, 400) where chunk = 1",
        "insert into vectors_1 select 99, embedding from vectors_1 where chunk = 1",
        "update chunk_tokens set ids = x'fe7c01' where chunk = 2",
    )
    with MemoryStore(path, "static") as store:
        assert len(store.doctor()) == 2
        assert store.reembed(progress=False) == 1
        store.rebuild()
        assert store.doctor() == []
        assert store.hits("the λ of Zürich is 0").hits[0].memory.title == "λ 0"


def test_damaged_pages(path, tmp_path):
    """Damage that SQLite finds is reported with what to do, does not make doctor fail, and is not backed up."""
    with MemoryStore(path, embedder=None) as store:
        store.add_many(({"text": f"λ {i} " * 100} for i in range(200)), progress=False)
    content, rng, reported = path.read_bytes(), random.Random(3), 0
    for page in rng.sample(range(50, len(content) // 4096), 8):  # behind the pages of the schema
        path.write_bytes(content[: page * 4096] + rng.randbytes(4096) + content[(page + 1) * 4096 :])
        with MemoryStore(path, embedder=None) as store:
            reported += any("SQLite found damage" in problem and "restore" in problem for problem in store.doctor())
    assert reported >= 6
    path.write_bytes(content[: 80 * 4096] + bytes(20 * 4096) + content[100 * 4096 :])
    with MemoryStore(path, embedder=None) as store, pytest.raises(StoreDamaged, match=r"doctor.*restore"):
        store.backup(tmp_path / "copy.sqlite")
    assert not (tmp_path / "copy.sqlite").exists()


def test_an_unexpected_error_over_damage(week_store):
    """What a damaged value breaks in a search is an error that names the damage; doctor names it, and what mends it."""
    run_sql(week_store, "update vectors_1 set embedding = x'00' where chunk = 1")
    with pytest.raises(StoreDamaged, match=r"is damaged\. 1 vector of static .* store\.reembed\(\).*doctor"):
        week_store.hits("electricity")
    assert any("1 vector of static is damaged" in problem for problem in week_store.doctor())
    week_store.reembed(progress=False)
    assert week_store.hits("electricity").hits and week_store.doctor() == []
    run_sql(week_store, "insert into keyword (keyword, rowid, text) values ('delete', 1, 'electricity')")
    (problem,) = week_store.doctor()
    assert "keyword index does not match the memories. Repair it with store.rebuild()" in problem
    week_store.rebuild()
    assert week_store.doctor() == [] and week_store.hits("electricity").hits[0].kw_rank == 1


def test_while_another_writes(week_store, store):
    """While another process writes, counts are still returned; only doctor, which checks the index, fails as locked."""
    hasty = store(settings=JupyterMemory(busy_seconds=0.05))
    with closing(apsw.Connection(str(week_store.path))) as other:
        other.execute("begin immediate")
        assert hasty.stats()["memories"] == 10
        assert hasty.tags()
        with pytest.raises(StoreLocked, match="try again"):
            hasty.doctor()
