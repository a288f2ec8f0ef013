"""Memories go from one store to another: whole, without secrets and history, and back again; nothing is lost."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hashing import Hashing
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import faults, run_sql, storage_of, words_left
from kernel_runs import run
from pictures import plot, plotting, saved
from transferred import NOTES, PLAIN, carried

from jupyter_memory import InputError, JupyterMemory, MemoryStore, StoreError, StoreReadOnly, UnknownMemory

SECRET = "Walrossherde"
TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
KEPT = JupyterMemory(undo_minutes=10)


@pytest.fixture(params=["file to file", "file to server", "server to file"])
def pair(request, tmp_path):
    places = [tmp_path / "a.sqlite", tmp_path / "b.sqlite"]
    if "server" in request.param:
        places[request.param == "file to server"] = request.getfixturevalue("emptied_postgres")
    with MemoryStore(places[0], Hashing(), settings=PLAIN) as a, MemoryStore(places[1], Hashing(), settings=PLAIN) as b:
        yield a, b


@pytest.fixture
def two(store):
    return store("a.sqlite", embedder=Hashing(), settings=KEPT), store("b.sqlite", embedder=Hashing(), settings=KEPT)


def held(store):
    return {hit.memory.id: replace(hit.memory, indexed_at=None) for hit in store.browsed(limit=1000).hits}


def give(source, ids, target, **options):
    return source.give(ids, target, progress=False, **options)


def test_everything_goes_along(pair):
    """Id, title, tags, pin, dates, validity and source are as they were, and so are the vectors of the same model."""
    a, b = pair
    day = datetime(2026, 3, 2, 9, tzinfo=UTC)
    first = a.add(
        "Prices are net of tax.", title="Prices", tags=["decision", "λ"], tier="mcp", event_at=day, valid_from=day,
        valid_until="2027-01-01", severity="critical", domain="sales", session="monday", metadata={"a": [1]},
        source="/work/prices.md", space="work",
    )  # fmt: skip
    a.pin(first.id)
    second, third = a.add("We scaled the table."), a.add("It stays.")
    a.note_access(first.id)
    before, vectors = held(a), carried(a)[0]
    assert str(give(a, a.selection([first.id, second.id]), b)) == f"copied 2 memories to {b.path}"
    assert held(a) == before and held(b) == {one: before[one] for one in (first.id, second.id)}
    assert carried(b)[0] == vectors[:2]
    assert b.unpin(first.id).tier == "mcp" and "We scaled the table." in b.search("table")["snippet"].tolist()
    b.pin(first.id)
    report = give(a, [first.id, second.id], b, move=True)
    assert (report.memories.kept, report.removed, report.stayed) == (2, 2, 0)
    assert set(held(a)) == {third.id} and held(b) == {one: before[one] for one in (first.id, second.id)}
    assert a.doctor() == b.doctor() == []


@given(st.lists(NOTES, max_size=8))
@settings(max_examples=15)
def test_there_and_back(tmp_path_factory, notes):
    """Any notes moved to a store with another model, and back, are what they were; both stores are sound."""
    folder = tmp_path_factory.mktemp("store")
    with (
        MemoryStore(folder / "a.sqlite", Hashing(), settings=PLAIN) as a,
        MemoryStore(folder / "b.sqlite", Hashing("λ-two", 8), settings=PLAIN) as b,
    ):
        # Of two notes with the same text, either may stand for both.
        ids = [a.add(**note | {"text": f"{note['text']} no {number}"}).id for number, note in enumerate(notes)]
        before, vectors = held(a), set(carried(a)[0])
        if ids:
            assert give(a, ids, b, move=True).removed == len(ids)
        assert held(b) == before and held(a) == {} and faults(b) == []
        if ids:
            assert give(b, ids, a, move=True).removed == len(ids)
        assert held(a) == before and set(carried(a)[0]) == vectors and faults(a) == faults(b) == []


def test_what_was_run_stays(two):
    """History does not leave unless it is asked for, whoever names it; then it comes with its runs."""
    a, b = two
    note = a.add("Prices are net of tax.")
    a.history.record([run("df.prices.mean()"), run("1 / 0", number=2, outcome="error")])
    every = a.selection(everything=True)
    assert give(a, every, b).memories.added == 1 and set(held(b)) == {note.id}
    report = give(a, [one for one in every.ids if one != note.id], b, move=True)
    assert (report.memories.added, report.removed) == (0, 0) and a.count() == 3
    assert give(a, every, b, move=True, history=True).removed == 3
    assert a.count() == 0 and {run.source for run in b.history.runs()} == {"df.prices.mean()", "1 / 0"}


def test_secrets_are_looked_for_again(store):
    """What was stored while redaction was off is masked on the way, in the text and what surrounds it, and counted."""
    careless, careful = JupyterMemory(redact=False), JupyterMemory()
    with MemoryStore(path := store("a.sqlite").path, Hashing(), settings=careless) as a:
        words = {"text": f"I use {TOKEN}.", "title": f"# {TOKEN}", "session": TOKEN, "domain": TOKEN}
        ids = [a.add(**words, tags=[TOKEN], metadata={"password": TOKEN}, source=f"https://me:{TOKEN}@host/").id]
        ids.append(a.add("Prices are net of tax.").id)
    b = store("b.sqlite", embedder=Hashing(), settings=careful)
    with MemoryStore(path, Hashing(), settings=careful) as a:
        report = give(a, ids, b)
        assert report.masked == 1 and "secrets redacted in 1" in str(report)
        assert words_left(b.path, [TOKEN]) == [] and "[redacted: " in b.get(ids[0]).text
        assert give(a, ids, b, move=True).removed == 2
    with MemoryStore(path, Hashing(), settings=careless) as a:
        assert give(a, [a.add(**words).id], b).masked == 0


def test_a_secret_that_another_store_holds_unmasked_is_a_difference(store):
    """The memory is not moved there, and `undo` leaves there one into which somebody put the secret again."""
    careless = JupyterMemory(redact=False)
    paths = [store(f"{name}.sqlite").path for name in "ab"]
    with MemoryStore(paths[0], Hashing(), settings=careless) as a, MemoryStore(paths[1], None, settings=careless) as b:
        known, moved = (a.add(f"{said} {TOKEN}.").id for said in ("I use", "The token is"))
        give(a, known, b)
    a, b = (store(f"{name}.sqlite", embedder=Hashing(), settings=KEPT) for name in "ab")
    report = give(a, [known, moved], b, move=True)
    assert (report.removed, report.stayed) == (1, 1) and set(held(a)) == {known}
    with MemoryStore(paths[1], None, settings=careless) as there:
        there.update(moved, text=f"The token is {TOKEN}.")
    assert a.undo() == 1 and set(held(a)) == set(held(b)) == {known, moved}


def test_no_byte_of_a_move_stays(store):
    """As after forgetting; with time for `undo`, once that is over."""
    for undo in (0, 10):
        a, b = (store(f"{one}{undo}", embedder=Hashing(), settings=JupyterMemory(undo_minutes=undo)) for one in "ab")
        ids = [a.add(f"{SECRET} {number}", title=SECRET, tags=[SECRET]).id for number in range(9)]
        give(a, ids, b, move=True)
        assert bool(words_left(a.path, [SECRET])) == bool(undo)
        a.forgetting.finish()
        assert words_left(a.path, [SECRET]) == [] and b.count() == 9 and faults(a) == faults(b) == []


def test_what_is_not_whole_there_is_kept(two):
    """Another text, tag or picture under the same id, or a file that is indexed there: it stays in both stores."""
    a, b = two
    same, text, tag = (a.add(f"Prices of {name}") for name in ("Köln", "Zürich", "Wien"))
    give(a, [same.id, text.id, tag.id], b)
    a.update(text.id, text="Prices of Genève"), b.update(tag.id, tags=["there"])
    report = give(a, [same.id, text.id, tag.id], b, move=True)
    assert (report.removed, report.stayed) == (1, 2) and "but not 2 that differ there" in str(report)
    assert b.get(text.id).text == "Prices of Zürich" and b.get(tag.id).tags == ("there",)
    assert give(a, [text.id, tag.id], b, move=True, update=True).removed == 2
    assert b.get(text.id).text == "Prices of Genève" and b.get(tag.id).tags == () and a.count() == 0
    # The same words under another id are one memory, with the tags of both.
    twin = a.add("Prices of Köln", tags=["here"])
    assert give(a, twin.id, b, move=True).memories.merged == 1
    assert b.get(same.id).tags == ("here",) and a.count() == 0


def test_what_is_changed_meanwhile_is_kept(pair):
    """Another program may give a memory another text after it was copied: only what was copied is forgotten."""
    a, b = pair
    first, second = (a.add(text).id for text in ("Prices are net of tax.", "We scaled the table."))
    begun = datetime.now(UTC)
    give(a, [first, second], b)
    a.update(first, text="Prices are gross.")
    assert a.forgetting.moved([first, second], begun, str(b.path), []) == 1
    assert a.get(first).text == "Prices are gross."


def test_cells_with_their_pictures(store, tmp_path):
    """A cell takes its pictures along; where there is no room for them it stays, and where its file is indexed, too."""
    saved(tmp_path / "work" / "plots.ipynb", plotting("c1", plot()))
    a, b = store("a.sqlite"), store("b.sqlite")
    c = store("c.sqlite", settings=JupyterMemory(thumbnails_max_mb=0))
    a.index(tmp_path / "work", progress=False)
    ids = a.selection(everything=True).ids
    assert give(a, ids, c, move=True).removed == 0
    assert give(a, ids, b, move=True).removed == len(ids) and a.count() == 0
    assert b.thumbnail(ids[0]) is not None and a.index(tmp_path / "work", progress=False).files == 1
    saved(tmp_path / "work" / "plots.ipynb", plotting("c1", plot()) | {"source": "other()"})
    a.index(tmp_path / "work", progress=False)
    report = give(b, ids, a, move=True)
    assert report.memories.left_out == report.stayed == b.count() == len(ids)


def test_what_is_refused_before_anything_is_written(two, store):
    """The store itself by whatever name, one that is read-only on either side, and an unknown id."""
    a, b = two
    memory = a.add("Prices are net of tax.")
    (link := a.path.with_name("link.sqlite")).symlink_to(a.path)
    for same in (a, store(link.name, embedder=Hashing())):
        with pytest.raises(InputError, match=r"store itself\. Name another one to move it to"):
            give(a, memory.id, same, move=True)
    bound = store("b.sqlite", embedder=Hashing(), read_only=True)
    for move in (False, True):
        with pytest.raises(StoreReadOnly, match=r"b\.sqlite is read-only"):
            give(a, memory.id, bound, move=move)
    for wrong in (str(b.path), None):
        with pytest.raises(InputError, match=r"give\(\) takes an open store, such as MemoryStore\(path\), not"):
            give(a, memory.id, wrong)
    with pytest.raises(InputError, match=r"give\(\) needs to know what: ids, or a selection"):
        give(a, None, b)
    with pytest.raises(UnknownMemory):
        give(a, [memory.id, "0123456789abcdef"], b)
    source = store("a.sqlite", embedder=Hashing(), read_only=True)
    with pytest.raises(StoreReadOnly, match=r"a\.sqlite is read-only"):
        give(source, memory.id, b, move=True)
    assert b.count() == 0 and set(held(a)) == {memory.id}
    assert give(source, memory.id, b).memories.added == 1


def test_what_leaves_is_looked_at_some_at_a_time(two, monkeypatch):
    """Of a hundred thousand chosen memories, no more are in memory at once than go in one transaction."""
    a, b = two
    ids = [memory.id for memory in a.add_many([{"text": f"Prices of shop {n}"} for n in range(300)], progress=False)]
    with storage_of(a) as storage, storage.snapshot() as snapshot:
        kind = type(snapshot)
    sizes, by_id = [], kind.by_id

    def counted(self, *args):
        sizes.append(len(found := by_id(self, *args)))
        return found

    monkeypatch.setattr(kind, "by_id", counted)
    a.transfer.check_leaving(ids, b.transfer, history=True, move=True)
    assert sum(sizes) == 300 and max(sizes) < 150


def test_a_database_is_known_by_its_other_names(postgres_server, emptied_postgres):
    """A move within one database, by another name of its server, would remove what it has just found there."""
    with MemoryStore(emptied_postgres, None, settings=PLAIN) as a:
        memory = a.add("Prices are net of tax.")
        with MemoryStore(f"{emptied_postgres}&connect_timeout=9", None, settings=PLAIN) as same:
            assert str(a.path) != str(same.path)
            with pytest.raises(InputError, match="store itself"):
                give(a, memory.id, same, move=True)
        assert a.count() == 1


def test_undo_of_a_move(two):
    """It comes back as it was, and leaves the other store but for what that had before or changed since."""
    a, b = two
    new, before, changed = (a.add(f"Prices of {name}", tags=["λ"]) for name in ("Köln", "Zürich", "Wien"))
    give(a, before.id, b)
    whole, forgotten = held(a), b.add("It was there.")
    give(a, [new.id, before.id, changed.id], b, move=True)
    b.pin(changed.id)
    assert a.undoable().moved == (str(b.path), new.id, changed.id)
    assert a.undo() == 3 and held(a) == whole
    assert set(held(b)) == {before.id, changed.id, forgotten.id} and b.undo() == 1 and new.id in held(b)
    assert faults(a) == faults(b) == []


def test_undo_where_the_other_store_is_gone(two):
    """What was moved comes back all the same, and the error says what stays where."""
    a, b = two
    memory = a.add("Prices are net of tax.")
    give(a, memory.id, b, move=True)
    b.close()
    b.path.rename(b.path.with_name("elsewhere.sqlite"))
    with pytest.raises(StoreError, match=r"1 came back, and what was moved to .*b\.sqlite is still there"):
        a.undo()
    assert set(held(a)) == {memory.id}


def test_undo_takes_it_out_of_a_server(store, emptied_postgres):
    """A file takes back what went to a server; what leaves a server is gone there at once."""
    a = store("a.sqlite", embedder=Hashing(), settings=KEPT)
    with MemoryStore(emptied_postgres, Hashing(), settings=KEPT) as b:
        memory = a.add("Prices are net of tax.")
        give(a, memory.id, b, move=True)
        assert a.undo() == 1 and b.count() == 0
        give(a, memory.id, b, move=True)
        assert give(b, memory.id, a, move=True).removed == 1 and b.undoable() is None
        assert set(held(a)) == {memory.id}


def test_a_store_of_a_space_gives_what_is_in_it(store):
    a, b = store("a.sqlite", embedder=Hashing(), space="work"), store("b.sqlite", embedder=Hashing())
    ids = [a.add("Prices.").id, a.add("A private price.", space="private").id]
    assert give(a, ids, b, move=True).removed == 1 and [one.space for one in held(b).values()] == ["work"]
    assert run_sql(a, "select space from memories") == [("private",)]
