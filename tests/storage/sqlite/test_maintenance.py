"""What a store says of itself, and how it notices that something is wrong."""

from __future__ import annotations

import random

import pytest

from jupyter_memory import MemoryStore, StoreDamaged, StoreLocked


def test_counts(week_store, week):
    """Counts by kind, tier and space, with pinned memories under core, and the bytes of every file of the store."""
    stats = week_store.stats()
    files = [week_store.path.with_name(week_store.path.name + ending) for ending in ("", "-wal", "-shm")]

    assert (stats["memories"], stats["chunks"], stats["files"], stats["pinned"]) == (10, 10, 0, 1)
    assert stats["kinds"] == {"note": 8, "cell": 1, "file": 1}
    assert stats["tiers"] == {"note": 6, "file": 2, "core": 1, "mcp": 1}
    assert stats["spaces"] == {"": 8, "shops": 2}
    assert [(model["name"], model["vectors"], model["active"]) for model in stats["models"]] == [("static", 10, True)]
    assert stats["bytes"] == sum(file.stat().st_size for file in files)
    assert (stats["journal"], stats["read_only"]) == ("wal", False)
    assert stats["version"] >= 1000


def test_an_empty_store(store):
    """A store without memories is well, and says that it holds nothing."""
    memory = store()

    assert (memory.stats()["memories"], memory.stats()["models"], memory.stats()["model"]) == (0, [], None)
    assert memory.doctor() == [] and memory.tags() == []


def test_tags_by_use(week_store):
    """The most used tags come first, equal ones by their letters."""
    assert week_store.tags()[:4] == ["prices", "decision", "model", "bug"]


def test_an_index_that_does_not_fit(week_store):
    """When the keyword index lost a row, doctor says so, and rebuild mends it."""
    with week_store._storage.database.write() as connection:
        connection.execute("insert into keyword (keyword, rowid, text) values ('delete', 1, 'electricity')")
    (problem,) = week_store.doctor()
    assert "keyword index does not match the memories. Repair it with store.rebuild()" in problem

    week_store.rebuild()
    assert week_store.doctor() == []
    assert week_store.hits("electricity").hits[0].kw_rank == 1


def test_chunks_without_vectors(store, week):
    """Memories that were stored without a model are named with the way to embed them."""
    with store(embedder=None) as without:
        without.add_many(week[:4], progress=False)
    memory = store()
    memory.add("with a model")

    assert ["4 chunks have no vector" in problem for problem in memory.doctor()] == [True]
    memory.reembed(progress=False)
    assert memory.doctor() == []


def test_open_to_others(week_store):
    """A file that others can read is named with the command that closes it."""
    week_store.path.chmod(0o644)

    (problem,) = week_store.doctor()
    assert f"chmod 600 '{week_store.path}'" in problem


def test_damage(path):
    """Damage that SQLite finds is reported with what to do, and does not make doctor fail."""
    with MemoryStore(path, embedder=None) as store:
        store.add_many(({"text": f"λ {i} " * 100} for i in range(200)), progress=False)
    content = path.read_bytes()
    rng = random.Random(3)
    reported = 0
    for page in rng.sample(range(8, len(content) // 4096), 8):
        path.write_bytes(content[: page * 4096] + rng.randbytes(4096) + content[(page + 1) * 4096 :])
        with MemoryStore(path, embedder=None) as store:
            reported += any("SQLite found damage" in problem and "restore" in problem for problem in store.doctor())
    assert reported >= 6


def test_no_backup_of_damage(path, tmp_path):
    """A store whose pages are damaged is not copied as if it were sound."""
    with MemoryStore(path, embedder=None) as store:
        store.add_many(({"text": f"λ {i} " * 100} for i in range(200)), progress=False)
    content = bytearray(path.read_bytes())
    content[80 * 4096 : 100 * 4096] = bytes(20 * 4096)  # behind the pages of the schema
    path.write_bytes(content)
    with MemoryStore(path, embedder=None) as store, pytest.raises(StoreDamaged, match=r"doctor.*restore"):
        store.backup(tmp_path / "copy.sqlite")
    assert not (tmp_path / "copy.sqlite").exists()


def test_an_unexpected_error_over_damage(week_store):
    """What a damaged value breaks in a search is an error that names the damage, and doctor names it too."""
    with week_store._storage.database.write() as connection:
        connection.execute("update vectors_1 set embedding = x'00' where chunk = 1")
    with pytest.raises(StoreDamaged, match=r"is damaged\. 1 vector of static .* store\.reembed\(\).*doctor"):
        week_store.hits("electricity")
    assert any("1 vector of static is damaged" in problem for problem in week_store.doctor())

    week_store.reembed(progress=False)
    assert week_store.hits("electricity").hits and week_store.doctor() == []


def test_an_unexpected_error_over_a_sound_store(week_store):
    """An error that is not the store's stays what it was."""
    with pytest.raises(ZeroDivisionError), week_store._storage.snapshot():
        1 / 0  # noqa: B018


def test_while_another_writes(week_store, store):
    """While another process writes, counts are still returned; only doctor, which checks the index, fails as locked."""
    other = store()
    week_store._storage.database._busy = 50
    week_store._storage.database.connection.set_busy_timeout(50)
    with other._storage.database.write():
        assert week_store.stats()["memories"] == 10
        assert week_store.tags()
        with pytest.raises(StoreLocked, match="try again"):
            week_store.doctor()
