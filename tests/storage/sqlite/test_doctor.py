"""What a store says of itself: counts, bytes by kind, and what is wrong, with what to do about it."""

import random
import shutil
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from inside import run_sql, while_another_writes
from pictures import plot, plotting, saved

from jupyter_memory import InputError, JupyterMemory, MemoryStore, StoreDamaged, StoreLocked
from jupyter_memory.types import Run


def test_counts(week_store, sqlite):
    """Counts by kind, tier and space, with pinned memories under core, and the bytes of every file of the store."""
    assert week_store.doctor() == [] and week_store.notices == ()
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
    return lambda: dict(memory.stats(sizes=True)["sizes"])


def on_disk(memory):
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


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "memory.sqlite"
    notes = [{"text": f"The λ of Zürich is {i}", "title": f"λ {i}", "tags": ["two"]} for i in range(5)]
    with MemoryStore(path, "static") as store:
        store.add_many([*notes, {"text": "The prices of Malmö are net of tax. " * 200}], progress=False)
    return path


@pytest.fixture
def changed(sound, tmp_path):

    def make(*statements):
        path = tmp_path / "memory.sqlite"
        shutil.copy(sound, path)
        run_sql(path, f"pragma foreign_keys = off; {'; '.join(statements)}")
        return path

    return make


DAMAGES = tomllib.loads(Path(__file__).with_name("damages.toml").read_text(encoding="utf-8"))
STATEMENTS = [(statement, named) for named, statements in DAMAGES.items() for statement in statements]


@pytest.mark.parametrize(("statement", "named"), [("select 1", None), *STATEMENTS])
def test_damage(changed, sqlite, statement, named):
    """What no row of a sound store has is named, with what to do about it; of a sound store nothing is said."""
    findings = list(sqlite(changed(statement.replace("<not a number>", NOT_A_NUMBER))).problems())
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
    with while_another_writes(week_store):
        assert hasty.stats()["memories"] == 10
        assert hasty.tags()
        with pytest.raises(StoreLocked, match="try again"):
            hasty.doctor()


OURS = "definitions_of_text"


@pytest.mark.parametrize(
    ("made", "name"),
    [
        ("create trigger keeper after delete on texts begin insert into kept values (old.text); end", "trigger keeper"),
        ("create trigger keyword_x after delete on texts begin select 1; end", "trigger keyword_x"),
        (f"drop trigger {OURS}; create trigger {OURS} after delete on texts begin select 1; end", f"trigger {OURS}"),
        *(("create table kept (text)", "table kept"), ("create table keyword_kept (text)", "table keyword_kept")),
        ("create table vectors_kept (text)", "table vectors_kept"),
        ("create view seen as select text from texts", "view seen"),
    ],
)
def test_what_somebody_put_into_a_store(week_store, tmp_path, made, name):
    """Tables and triggers from elsewhere are named by doctor, and keep a backup from being restored."""
    run_sql(week_store, made)
    week_store.backup(tmp_path / "backup.sqlite")
    assert any(f"The {name} comes from elsewhere" in finding for finding in week_store.doctor())
    with pytest.raises(InputError, match=f"was not restored. The {name} comes from elsewhere"):
        MemoryStore.restore(tmp_path / "backup.sqlite", to=tmp_path / "new.sqlite")
    assert not (tmp_path / "new.sqlite").exists()


def test_a_memory_that_lost_its_text_is_stepped_over(week_store):
    """Others are found as before, the notices say that something is left out, and doctor names it."""
    lost, *others = [hit.memory.id for hit in week_store.hits("prices").hits]
    run_sql(week_store, "delete from texts where memory = (select key from memories where id = ?)", lost)
    answer = week_store.hits("prices")
    assert [hit.memory.id for hit in answer.hits] == others and others
    assert any("`jupyter-memory doctor` names it" in notice for notice in answer.notices)
    assert any(lost in problem for problem in week_store.doctor())
    with pytest.raises(StoreDamaged):
        week_store.get(lost)
