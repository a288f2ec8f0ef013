"""Several kernels, a server and a command line at one store: nothing is lost, and every retriever agrees."""

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import apsw
import pytest
from inside import faults

from jupyter_memory import JupyterMemory, MemoryStore, StoreClosed, StoreLocked
from jupyter_memory.storage import open_storage

SPAWN = multiprocessing.get_context("spawn")
ROUNDS = 12
# Waits for other writers as long as it takes: what is asked here is not how fast they are.
PATIENT = JupyterMemory(busy_seconds=120)


def in_step(store):
    """Check that every chunk has its row in the keyword index, a vector and a code, and that nothing else has one."""
    assert faults(store) == []


@contextmanager
def telling(answers, name):
    """Tell the error with which a process ends."""
    try:
        yield
    except BaseException as error:
        answers.put((name, repr(error)))
        raise


def work(path, name, folder, start, answers):
    """Add, index, change, forget and search for a while, as one of several processes; tell what should be there."""
    with telling(answers, name), MemoryStore(path, settings=PATIENT) as store:
        start.wait(100)
        kept = {}
        for round_ in range(ROUNDS):
            text = f"{name} saw λ {round_} in Zürich"
            memory = store.add(text, title=f"{name} {round_}", tags=[name])
            kept[memory.id] = text
            assert memory.id in {hit.memory.id for hit in store.hits(f"{name} λ {round_}", limit=200).hits}
            if round_ % 3 == 0:
                (folder / f"{name}.md").write_text(f"# {name}\n\nRound {round_} of the deliveries to Malmö")
                assert store.index(folder / f"{name}.md", progress=False).failed == ()
            if round_ % 4 == 1:
                gone = next(iter(kept))
                assert store.forget(gone) == 1
                del kept[gone]
            if round_ % 4 == 2:
                changed = store.update(memory.id, text=text + ", twice")
                kept[changed.id] = changed.text
            # What everybody knows is one memory with everybody's tags.
            store.add("Prices are net of tax", title="Shared", tags=[name])
        answers.put((name, kept))


def watch(path, start, stop, answers):
    """Search, browse and count as long as the others work, as a server would; they begin after the first look."""
    with telling(answers, "reader"), MemoryStore(path, settings=PATIENT) as store:
        looks = 0
        while not stop.is_set():
            answer = store.hits("λ in Zürich, deliveries to Malmö, prices", limit=100)
            assert len({hit.memory.id for hit in answer.hits}) == len(answer.hits)
            for hit in answer.hits[:3]:
                assert abs(sum(seen.contribution for seen in hit.signals.values()) - hit.score) < 1e-12
            stats = store.stats()
            assert [model["vectors"] for model in stats["models"]] in ([], [stats["chunks"]])
            looks += 1
            start.set()
        answers.put(("reader", looks))


def test_several_processes(tmp_path):
    """Two writers and a reader at once: every memory is there, as it was last written, and found by every retriever."""
    path, folder = tmp_path / "store" / "memory.sqlite", tmp_path / "notes"
    folder.mkdir()
    start, stop, answers = SPAWN.Event(), SPAWN.Event(), SPAWN.Queue()
    processes = [SPAWN.Process(target=work, args=(path, name, folder, start, answers)) for name in ("Ada", "Jürgen")]
    processes += [SPAWN.Process(target=watch, args=(path, start, stop, answers))]
    for process in processes:
        process.start()
    told = dict(answers.get(timeout=100) for _ in range(2))
    stop.set()
    told |= dict([answers.get(timeout=100)])
    for process in processes:
        process.join(300)
    assert not [one for one in told.values() if isinstance(one, str)]
    expected = told["Ada"] | told["Jürgen"]
    with MemoryStore(path) as store:
        held = {hit.memory.id: hit.memory for hit in store.browsed(limit=1000).hits}
        assert {key: held[key].text for key in expected} == expected
        others = sorted((memory.title, memory.tags) for key, memory in held.items() if key not in expected)
        assert ("Shared", ("Ada", "Jürgen")) in others and len(others) == 3 and store.stats()["files"] == 2
        assert "Round 9 of the deliveries" in held[next(k for k, m in held.items() if m.source.endswith("Ada.md"))].text
        in_step(store)


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
    in_step(memory)


def hold_lock(path, held, let_go):
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("begin immediate")
        held.set()
        let_go.wait(100)


def test_a_process_that_keeps_the_lock(week_store):
    """Longer than the busy time nobody waits: the error says who and what; searches do not wait at all."""
    held, let_go = SPAWN.Event(), SPAWN.Event()
    (process := SPAWN.Process(target=hold_lock, args=(week_store.path, held, let_go))).start()
    try:
        assert held.wait(100)
        with MemoryStore(week_store.path, settings=JupyterMemory(busy_seconds=0.15)) as store:
            begun = time.monotonic()
            with pytest.raises(StoreLocked, match=r"locked by another process .* Nothing was changed; try again"):
                store.add("not now")
            assert time.monotonic() - begun > 0.1
            assert process.is_alive() and not let_go.is_set()  # the other has it as before
            with pytest.raises(StoreLocked):
                store.forget(everything=True)
            assert store.hits("Poisson").hits and store.stats()["memories"] == 10
    finally:
        let_go.set()
        process.join(300)
    week_store.add("now")
    in_step(week_store)


def die_writing(path, begun):
    with closing(open_storage(path, busy_seconds=5)) as storage, storage.database.write() as connection:
        connection.execute("delete from texts")
        connection.execute("insert into counters values ('half', 1)")
        begun.set()
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_while_writing(week_store):
    """What a killed process had begun is as if it had never been, and its lock is gone with it."""
    begun = SPAWN.Event()
    (process := SPAWN.Process(target=die_writing, args=(week_store.path, begun))).start()
    process.join(300)
    assert begun.is_set() and process.exitcode != 0
    week_store.add("goes on")
    with closing(apsw.Connection(str(week_store.path))) as connection:
        assert connection.execute("select count(*) from counters where name = 'half'").get == 0
    in_step(week_store)


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
    in_step(store())
