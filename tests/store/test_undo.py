"""Taking back what was forgotten: off unless a setting asks for it, and gone to the last byte after its time."""

from __future__ import annotations

import json
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from jupyter_memory import InputError, JupyterMemory, MemoryStore
from jupyter_memory.mcp.bound import Bound
from jupyter_memory.storage.sqlite.database import Database

SECRET = "Walrossherde auf Spitzbergen"


@pytest.fixture
def made(tmp_path):
    """Give a function that opens the same store with other settings, and closes it in the end."""
    opened = []

    def open_(**settings):
        opened.append(MemoryStore(tmp_path / "memory.sqlite", settings=JupyterMemory(**settings)))
        return opened[-1]

    yield open_
    for store in opened:
        store.close()


def held(store):
    """Return whether the bytes of a store's files hold the secret."""
    return any(SECRET.encode() in file.read_bytes() for file in store.path.parent.glob(f"{store.path.name}*"))


def test_off_by_default(made):
    """Without the setting what is forgotten is gone at once, and the error says how to change that."""
    store = made()
    memory = store.add(SECRET)
    store.forget(memory.id)

    assert not held(store) and store.undoable() is None
    with pytest.raises(InputError, match="undo_minutes is 0"):
        store.undo()


def test_what_comes_back_is_what_went(made):
    """A folder of notebooks with all that people gave its cells, forgotten and taken back: nothing is different."""
    store = made(undo_minutes=10)
    folder = store.path.parent / "week"
    folder.mkdir()
    (folder / "a.md").write_text(f"# Prices\n\n{SECRET}\n\n# Merge\n\nleft join\n", encoding="utf-8")
    store.index(folder, progress=False)
    [memory] = [one.memory for one in store.browsed(limit=9).hits]
    store.update(memory.id, tags=["a", "b"], metadata={"n": 1})
    store.pin(memory.id)
    store.feedback(memory.id, True, query="prices")
    before = store.get(memory.id), store.feedbacks(), store.folders(), store.stats(), scores(store)
    assert store.forget(source=str(folder)) == 1 and store.folders() == []

    assert store.undo() == 1
    after = store.get(memory.id), store.feedbacks(), store.folders(), store.stats(), scores(store)
    assert [one for one in map(differing, before, after) if one] == []
    assert store.index(folder, progress=False).unchanged == 1
    assert store.doctor() == []


def scores(store):
    return [(hit.memory.id, hit.score) for hit in store.hits("prices join", now=datetime(2026, 3, 6, tzinfo=UTC)).hits]


def differing(one, other):
    """Return what differs, but for the size of the file."""
    if isinstance(one, dict):
        return {name for name in one if one[name] != other[name]} - {"bytes"}
    return one != other and (one, other)


def test_while_it_is_pending_nothing_shows_it(made, tmp_path):
    """No search, list, count, export, backup, or part that an agent sees has it; the file itself still does."""
    store = made(undo_minutes=10)
    store.add("prices are net")
    memory = store.add(SECRET, title="Eisbären", tags=["polar"])
    store.hits("Walrossherde")
    store.forget(memory.id)

    assert held(store) and store.undoable().memories == 1
    assert [hit.memory.text for hit in store.hits("Walrossherde polar").hits if hit.badges.startswith("KW")] == []
    assert len(store.browse(limit=9)) == store.count() == store.stats()["memories"] == 1 and store.tags() == []
    assert store.related_to(SECRET).hits == () and store.feedbacks() == []
    part = store.part(Bound().filters("agent"))
    assert all(hit.memory.id != memory.id for hit in part.hits("Walrossherde").hits)
    store.backup(tmp_path / "copy.sqlite")
    store.export(tmp_path / "export")
    copies = [tmp_path / "copy.sqlite", *(one for one in (tmp_path / "export").rglob("*") if one.is_file())]
    assert [one.name for one in copies if SECRET.encode() in one.read_bytes()] == []
    assert "undo" in json.dumps(store.stats())


@pytest.mark.parametrize("how", ["now", "alone", "off", "searches", "history"])
def test_gone_at_once(made, how):
    """With now=True, with the setting off, and where searches or the history are cleared, nothing can be taken back."""
    store = made(undo_minutes=10)
    memory, other = store.add(SECRET), store.add("prices are net")
    store.hits("prices")
    store.forget(memory.id)
    assert held(store)
    match how:
        case "now":
            store.forget(other.id, now=True)
        case "alone":
            assert store.forgetting.finish() == 1
        case "off":
            made(undo_minutes=0).forget(other.id)
        case "searches":
            store.forget_recent()
        case "history":
            store.history.clear()

    assert not held(store)
    with pytest.raises(InputError, match="nothing to take back"):
        store.undo()


def test_at_the_end_of_its_time_it_is_gone(made):
    """The program that forgot it removes it when the time is over, though nobody asks for anything."""
    store = made(undo_minutes=0.01)
    store.forget(store.add(SECRET).id)
    assert held(store)
    for _ in range(100):
        if not held(store):
            break
        time.sleep(0.1)

    assert not held(store)


def test_the_next_program_removes_what_is_over(made):
    """A program that ended before the time was over leaves it to the next that opens the store."""
    store = made(undo_minutes=10)
    store.forget(store.add(SECRET).id)
    store.close()
    again = made()
    assert held(again) and again.undoable().memories == 1
    again.close()
    with closing(Database(again.path)) as database, database.write() as connection:
        connection.execute("update forgotten set until = 1")

    assert not held(made()) and made().undoable() is None


def test_the_last_first(made):
    """Called again, it takes the forgetting before back; a store of one space only what it forgot itself."""
    store = made(undo_minutes=10)
    first, second = store.add("λ"), store.add("μ", space="shops")
    store.forget(first.id)
    with MemoryStore(store.path, space="shops", settings=JupyterMemory(undo_minutes=10)) as shops:
        shops.forget(everything=True)
        assert shops.undo() == 1
        with pytest.raises(InputError):
            shops.undo()
    store.forget(second.id)

    assert store.undo() == store.undo() == 1
    assert {one.id for one in store.get([first.id, second.id])} == {first.id, second.id}


def test_everything_comes_back(made, week):
    """Also the whole store can be taken back, with its searches."""
    store = made(undo_minutes=10)
    store.add_many(week, progress=False)
    store.note_search(store.hits("prices"), "magic")
    before = {one.memory.id: one.memory for one in store.browsed(limit=99).hits}, store.recent(), scores(store)
    assert store.forget(everything=True) == len(before[0]) and store.recent() == []
    store.undo()

    assert (
        {one.memory.id: one.memory for one in store.browsed(limit=99).hits},
        store.recent(),
        scores(store),
    ) == before


def test_too_much_to_keep(made, monkeypatch):
    """What SQLite could not hold in one row is refused before anything is forgotten."""
    monkeypatch.setattr("jupyter_memory.storage.sqlite.undo._MOST", 1_000)
    store = made(undo_minutes=10)
    memory = store.add(SECRET * 200)
    with pytest.raises(InputError, match="nothing was forgotten"):
        store.forget(memory.id)

    assert store.get(memory.id) == memory
    assert store.forget(memory.id, now=True) == 1 and not held(store)


def test_times_are_said_in_words(made):
    """What can be taken back says how much and until when."""
    store = made(undo_minutes=10)
    store.forget(store.add(SECRET).id)
    pending = store.undoable()

    assert pending.until - datetime.now(UTC) <= timedelta(minutes=10)
    assert str(pending).startswith("1 memory until 20")
