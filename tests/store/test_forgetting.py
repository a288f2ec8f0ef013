"""Forgetting: by id, source, filters or everything; what would go; and taking it back while a setting keeps it."""

import json
import time
from datetime import UTC, datetime, timedelta
from functools import partial

import apsw
import pytest
from inside import run_sql
from results import titles, words_of_the_index

from jupyter_memory import InputError, JupyterMemory, MemoryStore, UnknownMemory
from jupyter_memory.types import Filters, as_tuple


def test_forget_by_id(week_store, week_memories):
    ids = [week_memories[title].id for title in ("Poisson λ", "Late deliveries", "Lost events")]
    assert week_store.forget([*ids, ids[0]], dry_run=True) == 3
    for dry_run in (True, False):
        with pytest.raises(UnknownMemory, match="'nobody'"):
            week_store.forget([ids[0], "nobody"], dry_run=dry_run)
    assert week_store.stats()["memories"] == 10
    assert week_store.forget(ids[0]) == 1
    assert week_store.forget([ids[1], ids[2], ids[1]]) == 2
    assert words_of_the_index(week_store) == (7, 7) and week_store.stats()["memories"] == 7
    assert "Poisson λ" not in titles(week_store.search("Poisson λ", profile="trovella"))


def test_forget_by_source(week_store, week_memories):
    """A file goes with its memories, a folder with all below it; filters beside it choose among them."""
    source = week_memories["Holdout results"].source
    assert week_store.forget(source=source, filters={"tag": "pandas"}) == 0
    assert week_store.forget(source=source, filters={"tag": "model"}) == 1
    assert week_store.forget(source=source.rpartition("/notes/")[0]) == 1
    assert week_store.forget(source=source) == 0
    assert week_store.stats()["memories"] == 8


def test_forget_by_a_relative_source(store, tmp_path):
    """A relative source begins at the folder of the store, and may be just what a note names as its own."""
    opened = store(folder=tmp_path / "Zürich")
    for source in (str(tmp_path / "Zürich" / "preise.md"), "paper.pdf", "a.md", "b.md", "c.md"):
        opened.add(f"prices of {source}", source=source)
    assert opened.forget(source="elsewhere") == 0
    assert opened.forget(source="preise.md") == opened.forget(source="paper.pdf") == 1
    # Several are forgotten together; an empty one among them is nothing.
    assert opened.forget(source=["a.md", "", "b.md"]) == 2
    assert opened.browse()["source"].tolist() == ["c.md"]
    with pytest.raises(InputError, match="needs to know what"):
        opened.forget(source=[""])


@pytest.mark.parametrize("value", ["no", "yes", "True", 1, 0, None, [True]])
@pytest.mark.parametrize("more", [{}, {"filters": {"kind": "note"}}])
def test_only_true_is_everything(store, value, more):
    """A value that merely counts as true, such as "no", forgets and counts nothing; the error says what to type."""
    opened = store()
    opened.add("λ is 3.2")
    for call in (opened.selection, opened.forget, partial(opened.forget, dry_run=True)):
        with pytest.raises(InputError, match="Write everything=True"):
            call(everything=value, **more)
    assert opened.count() == 1


@pytest.mark.parametrize("facet", ["tag", "lang", "space", "session", "not_space", "not_tag"])
@pytest.mark.parametrize("value", ["", " ", ["λ", ""]])
def test_an_empty_filter_selects_nothing(store, facet, value):
    """The memories without a space may be all there are: an empty variable must not forget or give them."""
    opened = store()
    opened.add("λ is 3.2")
    name = facet.removeprefix("not_")
    for filters in ({facet: value}, {"kind": "note", facet: value}, Filters(also=Filters(**{facet: as_tuple(value)}))):
        for call in (opened.selection, opened.forget):
            with pytest.raises(InputError, match=f"The filter '{name}' is empty. Give it a value, or leave it out"):
                call(filters=filters)
    assert opened.count() == 1


def test_what_is_not_forgotten_is_not_read_again(store, tmp_path):
    """Files without memories, empty or broken, are no news after a forget elsewhere; in a forgotten folder they go."""
    notes, other = tmp_path / "notes", tmp_path / "other"
    for folder in (notes, other):
        folder.mkdir()
        (folder / "λ.md").write_text("prices in Zürich", encoding="utf-8")
        (folder / "empty.md").write_text("", encoding="utf-8")
        (folder / "broken.ipynb").write_text("{", encoding="utf-8")
    opened = store()
    opened.index(tmp_path, progress=False)
    unchanged = opened.stale(tmp_path)
    assert opened.forget(source=str(other / "λ.md")) == 1
    assert (opened.stale(notes), opened.stale(other)) == (unchanged, unchanged + 1)
    opened.forget(source=str(other))
    assert opened.stale(notes) == unchanged
    assert b"other/empty.md" not in opened.path.read_bytes()
    opened.forget(everything=True)
    assert b"empty.md" not in opened.path.read_bytes()


@pytest.mark.parametrize(
    ("choice", "count"),
    [
        ({"filters": {"tag": "prices"}}, 3), ({"filters": {"tag": "prices", "space": "shops"}}, 2),
        ({"filters": {"until": "2026-03-02"}}, 2), ({"source": "/projects/week"}, 2), ({"everything": True}, 10),
    ],
)  # fmt: skip
def test_what_is_chosen_is_counted_and_goes(week_store, choice, count):
    """A dry run counts what the same call then removes, and nothing else; it removes nothing itself."""
    chosen = week_store.selection(**choice)
    assert week_store.forget(**choice, dry_run=True) == len(chosen) == count
    assert words_of_the_index(week_store) == (10, 10)
    left = {hit.memory.id for hit in week_store.browsed(limit=20).hits} - set(chosen.ids)
    assert week_store.forget(**choice) == count and words_of_the_index(week_store) == (10 - count, 10 - count)
    assert {hit.memory.id for hit in week_store.browsed(limit=20).hits} == left and week_store.doctor() == []


def test_what_was_counted_goes_and_nothing_else(store):
    """What is added or tagged between the count and the removal stays; what is gone or fits no longer is not missed."""
    opened = store()
    gone, untagged, kept = (opened.add(text, tags=["draft"]) for text in ("λ is 3.2", "μ is 4", "ν is 5"))
    late = opened.add("ξ is 6")
    counted = opened.selection(filters={"tag": "draft"})
    opened.forget(gone.id)
    opened.update(untagged.id, tags=[])
    opened.update(late.id, tags=["draft"])
    opened.add("ο is 7", tags=["draft"])
    assert opened.forget(counted, dry_run=True) == opened.forget(counted) == 1
    assert {"μ is 4", "ξ is 6", "ο is 7"} == set(opened.browse()["snippet"])
    assert kept.id not in set(opened.browse()["memory_id"])
    # Everything that was counted goes, with the searches.
    opened.note_search(opened.hits("μ"), "python")
    everything = opened.selection(everything=True)
    opened.add("π is 8")
    assert opened.forget(everything) == 3
    assert opened.recent() == [] and opened.browse()["snippet"].tolist() == ["π is 8"]
    with pytest.raises(InputError, match="not both"):
        opened.forget(everything, filters={"tag": "draft"})


SECRET = "Walrossherde auf Spitzbergen"


@pytest.fixture
def made(store):
    return lambda **settings: store(settings=JupyterMemory(**settings))


def held(store):
    return any(SECRET.encode() in file.read_bytes() for file in store.path.parent.glob(f"{store.path.name}*"))


@pytest.mark.parametrize("everything", [False, True])
def test_what_comes_back_is_what_went(made, week, everything):
    """A folder with all that people gave its texts, or everything, forgotten and taken back: nothing is different."""
    store = made(undo_minutes=10)
    folder = store.path.parent / "week"
    folder.mkdir()
    (folder / "a.md").write_text(f"# Prices\n\n{SECRET}\n\n# Merge\n\nleft join\n", encoding="utf-8")
    store.index(folder, progress=False)
    [memory] = [one.memory for one in store.browsed(limit=9).hits]
    store.update(memory.id, tags=["a", "b"], metadata={"n": 1})
    store.pin(memory.id)
    store.feedback(memory.id, True, query="prices")
    if everything:
        store.add_many(week, progress=False)
        store.note_search(store.hits("prices"), "magic")
    before = state(store)
    gone = store.forget(**({"everything": True} if everything else {"source": str(folder)}))
    assert gone == len(before[0]) and store.folders() == store.recent() == []
    assert str(store.undoable()).startswith("1 memory until 20") is not everything
    assert store.undoable().until - datetime.now(UTC) <= timedelta(minutes=10)
    assert store.undo() == gone and state(store) == before
    assert store.index(folder, progress=False).unchanged == 1 and store.doctor() == []


def state(store):
    hits = store.hits("prices join", now=datetime(2026, 3, 6, tzinfo=UTC)).hits
    memories = {one.memory.id: one.memory for one in store.browsed(limit=99).hits}
    stats = {name: value for name, value in store.stats().items() if name not in ("bytes", "undo")}
    scores = [(hit.memory.id, hit.score) for hit in hits]
    return memories, store.feedbacks(), store.folders(), store.recent(), stats, scores


def test_while_it_is_pending_nothing_shows_it(made, tmp_path):
    """No search, list, count, export, backup, or part that an agent sees has it; the file itself still does."""
    store = made(undo_minutes=10)
    store.add("prices are net")
    memory = store.add(SECRET, title="Eisbären", tags=["polar"])
    store.forget(memory.id)
    assert held(store) and store.undoable().memories == 1 and "undo" in json.dumps(store.stats())
    assert [hit.memory.text for hit in store.hits("Walrossherde polar").hits if hit.badges.startswith("KW")] == []
    assert len(store.browse(limit=9)) == store.count() == store.stats()["memories"] == 1 and store.tags() == []
    assert store.related_to(SECRET).hits == () and store.feedbacks() == []
    part = store.part(Filters(not_kind=("history",)))
    assert all(hit.memory.id != memory.id for hit in part.hits("Walrossherde").hits)
    store.backup(tmp_path / "copy.sqlite")
    store.export(tmp_path / "export")
    copies = [tmp_path / "copy.sqlite", *(one for one in (tmp_path / "export").rglob("*") if one.is_file())]
    assert [one.name for one in copies if SECRET.encode() in one.read_bytes()] == []


@pytest.mark.parametrize("how", ["now", "alone", "off", "searches", "history"])
def test_gone_at_once(made, how):
    """With now=True, with the setting off, and where searches or the history are cleared, nothing can be taken back."""
    store = made(undo_minutes=10)
    memory, other = store.add(SECRET), store.add("prices are net")
    store.hits("prices")
    store.forget(memory.id)
    assert held(store)
    {
        "now": lambda: store.forget(other.id, now=True), "alone": store.forgetting.finish,
        "off": lambda: made(undo_minutes=0).forget(other.id), "searches": store.forget_recent,
        "history": store.history.clear,
    }[how]()  # fmt: skip
    assert not held(store)
    with pytest.raises(InputError, match="nothing to take back"):
        store.undo()


def test_at_the_end_of_its_time_it_is_gone(made):
    """The program that forgot it removes it when the time is over, though nobody asks for anything."""
    store = made(undo_minutes=0.01)
    store.forget(store.add(SECRET).id)
    assert held(store)
    until = time.monotonic() + 10
    while held(store) and time.monotonic() < until:
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
    run_sql(again, "update forgotten set until = 1")
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


def test_too_much_to_keep(made, monkeypatch):
    """What SQLite could not hold in one row is refused before anything is forgotten."""
    # As a SQLite that was built for shorter rows.
    monkeypatch.setattr(apsw, "connection_hooks", [lambda one: one.limit(apsw.SQLITE_LIMIT_LENGTH, 100_000)])
    store = made(undo_minutes=10)
    memory = store.add(SECRET * 3_000)
    with pytest.raises(InputError, match="nothing was forgotten"):
        store.forget(memory.id)
    assert store.get(memory.id) == memory
    assert store.forget(memory.id, now=True) == 1 and not held(store)


@pytest.mark.parametrize(
    "chosen", [{"source": "prices.md"}, {"filters": {"path": "prices.md"}}, {"source": ["b", "/w"]}]
)
def test_a_part_of_a_path_is_not_enough(store, chosen):
    """`forget` takes whole paths: for a part of one it says what that could be, and forgets nothing."""
    memory = store()
    for path in ("/w/a/prices.md", "/w/b/prices.md"):
        memory.add(f"The samovar of {path} boils.", source=path)
    assert len(memory.hits("samovar", filters={"path": "prices.md"}).hits) == 2
    for dry in (True, False):
        with pytest.raises(InputError, match=r"Nothing was done: .* is not a whole path\. It could be /w/"):
            memory.forget(**chosen, dry_run=dry)
    assert memory.count() == 2 and memory.forget(source="/w/a/prices.md") == 1
