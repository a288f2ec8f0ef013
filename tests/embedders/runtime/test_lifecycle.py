"""Models leave memory when no text has come for a while, and come back with the next text."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from jupyter_memory.embedders import computing
from jupyter_memory.embedders.nomic.embedder import NomicEmbedder
from jupyter_memory.embedders.nomic.folder import open_folder
from jupyter_memory.embedders.runtime import lifecycle
from jupyter_memory.embedders.runtime.lifecycle import Computing
from jupyter_memory.embedders.runtime.mlx import mx

SOON = 0.05 / 60


@pytest.fixture(autouse=True)
def as_before():
    """Let go of what a test has read, and go on with the usual time."""
    yield
    computing.release_after(15)
    computing.release()


def until(true, seconds=60.0):
    """Wait for something that another thread does."""
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return true()


def test_released_when_idle(wide_folder):
    """Some time after the last text the memory of a model is free again; the next text has the vector it had."""
    computing.release()
    gc.collect()
    mx.clear_cache()
    before = mx.get_active_memory()
    embedder = NomicEmbedder(wide_folder)
    vector = embedder.embed_query("the λ of Zürich")
    loaded = mx.get_active_memory() - before
    assert loaded > 5_000_000 and open_folder.cache_info().currsize == 1

    computing.release_after(SOON)
    assert until(lambda: open_folder.cache_info().currsize == 0 and mx.get_active_memory() - before < loaded / 100)
    assert np.array_equal(embedder.embed_query("the λ of Zürich"), vector)


def test_kept_for_good(small_folder):
    """With 0 minutes a model stays, and no thread waits for anything."""
    computing.release_after(0)
    NomicEmbedder(small_folder, 64).embed_query("λ")

    assert open_folder.cache_info().currsize == 1 and computing._timer is None


def test_not_before_its_time(monkeypatch):
    """What is used again and again stays, however often its time would have been over; then it goes."""
    now = [time.monotonic()]
    monkeypatch.setattr(lifecycle, "monotonic", lambda: now[0])
    own = Computing(0.05 / 60)
    read = own.kept(lambda: object())
    for _ in range(10):
        with own:
            read()
        now[0] += 0.04
        timer = own._timer
        assert until(lambda timer=timer: own._timer is not timer), "nobody looked"
    assert read.cache_info() == (9, 1, 1, 1)
    now[0] += 0.05
    assert until(lambda: read.cache_info().currsize == 0)


def test_never_during_a_computation():
    """While a model computes for longer than the time it is not let go; afterwards it is."""
    own = Computing(SOON)
    read = own.kept(lambda: object())
    with own:
        read()
    with own:
        read()
        time.sleep(0.2)
        assert read.cache_info().currsize == 1
    assert until(lambda: read.cache_info().currsize == 0)


def test_used_by_many_threads_while_it_goes(small_folder):
    """Threads that embed while the model goes again and again all have the right vectors."""
    embedder = NomicEmbedder(small_folder, 64)
    texts = [f"note {i} on λ" for i in range(4)]
    wanted = [embedder.embed_query(text) for text in texts]
    computing.release_after(0.0001 / 60)
    right = []

    def work(number):
        for _ in range(5):
            right.append(np.array_equal(embedder.embed_query(texts[number]), wanted[number]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        computing.release()
    for thread in threads:
        thread.join(100)
    assert right == [True] * 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_a_timer_of_its_own():
    """A child that is forked while its parent computes can compute, too, and lets go when it is idle."""
    program = """
import os, threading, time
from jupyter_memory.embedders.runtime.lifecycle import Computing
own = Computing(0.05 / 60)
read = own.kept(lambda: object())
inside, done = threading.Event(), threading.Event()
def work():
    with own:
        read(), inside.set(), done.wait(100)
thread = threading.Thread(target=work)
thread.start(), inside.wait(100)
child = os.fork()
if child == 0:
    with own:
        assert read.cache_info().currsize == 1
    for _ in range(6000):
        time.sleep(0.01)
        if not read.cache_info().currsize:
            os._exit(0)
    os._exit(1)
done.set(), thread.join(100)
print(os.waitpid(child, 0)[1])
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert (found.stdout.strip(), found.returncode) == ("0", 0), found.stderr


def test_no_program_waits_for_the_time():
    """A program ends when it is done, not when its models would go."""
    program = (
        "from jupyter_memory.embedders.runtime.lifecycle import computing\nwith computing: print(computing._seconds)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert (found.stdout.strip(), found.returncode) == ("900.0", 0), found.stderr


def test_the_time_is_a_setting(store):
    """A store tells the models how long they may stay idle."""
    from jupyter_memory import JupyterMemory

    store(settings=JupyterMemory(idle_minutes=3.0))
    assert computing._seconds == 180.0
