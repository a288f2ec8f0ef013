"""Several threads, and a process that dies, at one store: nothing is lost, and every retriever agrees."""

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import apsw
from inside import faults

from jupyter_memory import JupyterMemory, StoreClosed
from jupyter_memory.storage import open_storage

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
