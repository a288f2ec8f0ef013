"""The store itself: what it says of itself, where it lies, its parts, its copies, its budget, and many at one store."""

import inspect
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import apsw
import pytest
from inside import faults
from pictures import plot, plotting, saved
from results import titles

from jupyter_memory import JupyterMemory, MemoryStore, StoreClosed, open_store
from jupyter_memory.storage import open_storage
from jupyter_memory.types import Filters


def test_a_store_closes_itself(store, tmp_path):
    """A store is a context manager; closed, it says how to open it again; closing twice is fine."""
    with MemoryStore(tmp_path / "λ.sqlite") as memory:
        memory.add("λ is 3.2")
        assert repr(memory) == f"MemoryStore({str(tmp_path / 'λ.sqlite')!r})"
    assert memory.closed and repr(memory).endswith(", closed)")
    for use in (lambda: memory.search("λ"), lambda: memory.add("x"), memory.stats, memory.browse):
        with pytest.raises(StoreClosed, match=r"open_store\(\) or MemoryStore\(path\)"):
            use()
    memory.close()
    assert titles(store("../λ.sqlite").browse()) == ["λ is 3.2"]


def test_one_store_for_one_path(tmp_path, monkeypatch, home):
    """Within a process a path gives the same store until it is closed; the default one is where the settings say."""
    with open_store() as memory:  # without any setting
        assert memory.path == home / "data" / "memory" / "memory.sqlite" and memory.path.exists()
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "mine.sqlite"))
    default = open_store()
    other = open_store(tmp_path / "other.sqlite")
    assert default.path == tmp_path / "mine.sqlite"
    assert open_store() is default and open_store(str(tmp_path / "other.sqlite")) is other is not default
    default.close()
    again = open_store()
    assert again is not default and not again.closed
    again.close()
    other.close()


def test_a_store_whose_file_is_another_is_closed_when_its_path_is_opened(tmp_path):
    """The old store is let go of, and nothing of the new file goes with it, nor of the log that others write."""
    path = tmp_path / "memory.sqlite"
    old = open_store(path)
    old.add("λ was 0.3")
    for file in list(tmp_path.iterdir()):
        file.unlink()
    with MemoryStore(path) as other:
        other.add("λ is 0.4")
        new = open_store(path)
        assert old.closed and not new.closed
        assert [hit.memory.text for hit in new.browsed().hits] == ["λ is 0.4"]
        other.add("λ will be 0.5")
        assert new.count() == 2 and new.doctor() == []
    new.close()


def test_settings_of_ones_own(tmp_path):
    shared = open_store(tmp_path / "memory.sqlite")
    settings = JupyterMemory(limit=1, profile="trovella", space="lab")
    mine = open_store(tmp_path / "memory.sqlite", settings=settings)
    mine.add_many([{"text": "λ one"}, {"text": "λ two"}], progress=False)
    assert mine is not shared and open_store(tmp_path / "memory.sqlite") is shared
    assert len(mine.search("λ")) == 1 and mine.hits("λ").profile == "trovella"
    assert {hit.memory.space for hit in shared.browsed().hits} == {"lab"}
    mine.close()
    shared.close()


def test_backup_and_restore(week_store, week_memories, tmp_path, monkeypatch):
    """A backup has everything, uses too, whatever is forgotten later; it comes back where the settings say, or told."""
    assert week_store.note_access(week_memories["Poisson λ"].id)
    copy = week_store.backup(tmp_path / "Sicherung λ.sqlite")
    week_store.forget(everything=True)
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "mine.sqlite"))
    assert MemoryStore.restore(copy) == tmp_path / "mine.sqlite"
    with MemoryStore(MemoryStore.restore(copy, to=tmp_path / "new" / "memory.sqlite")) as restored:
        assert restored.stats()["memories"] == 10 and restored.doctor() == []
        assert restored.get(week_memories["Poisson λ"].id).accessed == 1


METHODS = {
    "memories": "add add_many get among thumbnail update pin unpin",
    "forgetting": "selection forget undoable",
    "sources": "index folders described_folders describe_folder watch remove_folder forget_gone stale rename",
    "searching": "browsed trace pooled explain explain_in related related_to listed context",
    "activity": "note_search note_call note_access recent forget_recent feedback feedbacks",
    "maintenance": "stats count known tags doctor reembed drop_vectors rebuild backup restore",
    "transfer": "export import_ copy_to",
    "runnables": "runnable",
}
# These are written out in the store itself.
OWN = "search hits browse explore give undo part interrupt close notices greeting model_offer profile closed replaced"


def test_a_method_of_a_part(week_store):
    """A method of the store looks like that of its part: `store.add?` shows what `store.memories.add?` shows."""
    for part, names in METHODS.items():
        for name in names.split():
            ours, theirs = getattr(MemoryStore, name), getattr(type(getattr(week_store, part)), name)
            assert inspect.signature(ours) == inspect.signature(theirs), name
            assert ours.__doc__ == theirs.__doc__ and ours.__doc__, name


def test_nothing_else_is_public(week_store):
    """The store has these methods, its parts, and where it lies; only history and fixes keep their methods apart."""
    methods = {name for names in (*METHODS.values(), OWN) for name in names.split()}
    assert {name for name in dir(week_store) if not name.startswith("_")} == methods | set(METHODS) | {
        *("fixes", "history", "path", "space")
    }
    own = {"close", "bound", "within", "expire", "facets", "finish", "forget_found", "is_kept", "last_search"}
    # Of several stores together, and of a rating.
    own |= {"present", "scale", "became", "check_leaving", "leaving", "held_by", "moved"}
    own |= {"can_undo", "asked", "described", "said"}
    for part in METHODS:
        public = {name for name in dir(type(getattr(week_store, part))) if not name.startswith("_")}
        assert public - own <= methods


def test_what_a_part_does_the_store_sees(week_store):
    memory = week_store.memories.add("μ is 4", tags=["new"])
    assert week_store.get(memory.id) == memory
    assert week_store.searching.hits("μ").hits[0].memory.id == memory.id
    assert "new" in week_store.tags()
    assert week_store.tags() == week_store.maintenance.tags()


@pytest.fixture
def limited(store):
    return lambda **settings: store(embedder="static", settings=JupyterMemory(**settings))


def megabytes_held(memory):
    return memory.stats(sizes=True)["held"] / 1_000_000


def test_a_store_says_when_it_comes_near_its_budget_and_when_it_is_beyond(limited, tmp_path):
    """At 90 % and beyond 100 % the notices name the setting, and so does the report of an index run; texts go on."""
    memory = limited()
    memory.add("Prices are per MWh.")
    held = megabytes_held(memory)
    assert memory.notices == () and memory.stats(sizes=True)["budget"] is None
    memory.close()
    (tmp_path / "notes").mkdir()
    for share, says in ((2.0, None), (1.05, "`status`"), (0.5, "New texts are still stored")):
        (tmp_path / "notes" / f"{share}.md").write_text(f"# λ\n\nShare {share}.\n")
        memory = limited(max_store_mb=held * share)
        assert [says in notice for notice in memory.notices] == ([True] if says else [])
        report = memory.index(tmp_path / "notes", progress=False)
        assert report.files == 1 and (says or "") in report.notice
        assert (says in str(report)) if says else report.notice == ""
        memory.close()
    assert limited(max_store_mb=held / 2).doctor() == []


def test_beyond_its_budget_a_store_takes_no_new_pictures_and_keeps_those_that_it_has(limited, tmp_path):
    """Left out pictures are counted by reason; a notebook that was edited keeps its own; with room they are read."""
    saved(tmp_path / "nb" / "a.ipynb", plotting("a()", plot(1), id="a"))
    memory = limited()
    assert memory.index(tmp_path / "nb", progress=False).pictures.kept == 1
    full = megabytes_held(memory)
    memory.close()
    memory = limited(max_store_mb=full / 2)
    saved(tmp_path / "nb" / "a.ipynb", plotting("a(1)", plot(1), id="a"))
    saved(tmp_path / "nb" / "b.ipynb", plotting("b()", plot(2), id="b"))
    report = memory.index(tmp_path / "nb", progress=False)
    [(why, number)] = report.pictures.left_out
    assert (report.files, report.pictures.kept, number) == (2, 1, 1)
    assert "max_store_mb" in why and f"1 picture {why}" in str(report)
    shown = {hit.memory.text: hit.memory.thumbnails for hit in memory.browsed(limit=5).hits}
    assert [count for text, count in shown.items() if text.startswith("a(1)")] == [1]
    # They are not read again each time while there is no room.
    assert memory.index(tmp_path / "nb", progress=False).unchanged == 2
    memory.close()
    assert limited(max_store_mb=full * 10).index(tmp_path / "nb", progress=False).pictures.kept == 1


def test_forgetting_brings_a_store_below_its_budget_at_once(limited):
    """The notice goes with what was forgotten, although SQLite keeps the room in the file."""
    memory = limited()
    memory.add_many([{"text": f"{i} λ " * 1_000, "tags": ["long"]} for i in range(40)], progress=False)
    full = megabytes_held(memory)
    memory.close()
    memory = limited(max_store_mb=full * 0.9)
    assert len(memory.notices) == 1
    memory.forget(filters={"tag": "long"})
    assert memory.notices == ()


def test_a_part_answers_as_if_it_were_alone(week_store, store, week):
    """Strength, verdict and notices of a part are those of a store that holds nothing else."""
    alone = store("alone.sqlite")
    alone.add_many([one for one in week if one.get("space") == "shops"], progress=False)
    shops = week_store.part(Filters(space=("shops",)))
    for query in ("sales in Zürich", "join orders on customer", "zurich salez"):
        here, there = shops.hits(query), alone.hits(query)
        assert (here.verdict, here.strength, here.notices) == (there.verdict, there.strength, there.notices)
        assert here.facets == there.facets and here.counts == there.counts


# Waits for other writers as long as it takes: what is asked here is not how fast they are.
PATIENT = JupyterMemory(busy_seconds=120)


def test_several_threads(store):
    """One store object in eight threads at once: nothing is lost, every retriever agrees."""
    memory, together = store(settings=PATIENT), threading.Barrier(8, timeout=60)

    def take_part(number):
        together.wait(100)  # so that no thread does the work of two
        for round_ in range(8):
            added = memory.add(f"Thread {number} saw λ {round_}", tags=[f"t{number}"])
            assert memory.get(added.id) == added
            assert memory.hits(f"thread {number} λ").hits
            if round_ % 4 == 3:
                assert memory.forget(added.id) == 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(take_part, range(8)))
    assert memory.stats()["memories"] == 8 * 6
    assert faults(memory) == []


def die_writing(path, begun):
    with closing(open_storage(path, busy_seconds=5)) as storage, storage.database.write() as connection:
        connection.execute("delete from texts")
        connection.execute("insert into counters values ('half', 1)")
        begun.set()
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_while_writing(week_store):
    """What a killed process had begun is as if it had never been, and its lock is gone with it."""
    spawn = multiprocessing.get_context("spawn")
    begun = spawn.Event()
    (process := spawn.Process(target=die_writing, args=(week_store.path, begun))).start()
    process.join(300)
    assert begun.is_set() and process.exitcode != 0
    week_store.add("goes on")
    with closing(apsw.Connection(str(week_store.path))) as connection:
        assert connection.execute("select count(*) from counters where name = 'half'").get == 0
    assert faults(week_store) == []


def test_closed_while_others_are_at_work(store):
    """Closing a store ends what its other threads do with one clear error, and half-writes nothing."""
    memory = store(settings=PATIENT)
    memory.add_many([{"text": f"Note {i} on λ in Zürich " * 20} for i in range(200)], progress=False)
    ready = threading.Barrier(4, timeout=60)

    def busy(number):
        ready.wait(100)
        while True:
            memory.hits("λ in Zürich") if number else memory.add(f"one more {time.monotonic_ns()}")

    with ThreadPoolExecutor(3) as pool:
        at_work = [pool.submit(busy, number) for number in range(3)]
        ready.wait(100)
        time.sleep(0.1)
        memory.close()
    assert [type(one.exception()) for one in at_work] == [StoreClosed] * 3
    assert faults(store()) == []
