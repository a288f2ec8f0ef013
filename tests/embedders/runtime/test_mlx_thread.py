"""All that MLX computes, it computes in one thread, whichever thread asks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path

import numpy as np
import pytest

from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.embedders.nomic.embedder import NomicEmbedder
from jupyter_memory.embedders.runtime.mlx_thread import Worker, in_mlx_thread

TASKS = Path("/proc/self/task")
LEVEL = """
import sys, threading
from pathlib import Path
from jupyter_memory.embedders.nomic.embedder import NomicEmbedder
from jupyter_memory.embedders.static import StaticEmbedder

def threads():
    return len(list(Path("/proc/self/task").iterdir()))

embedders = [StaticEmbedder(), NomicEmbedder(Path(sys.argv[1]), 64)]
for embedder in embedders:
    embedder.embed_documents(["Die Preise in Zürich", "The λ of the Poisson model is 3.2 orders an hour"])
before = threads()
for number in range(100):
    for embedder in embedders:
        thread = threading.Thread(target=embedder.embed_query, args=(f"prices of week {number}",))
        thread.start(), thread.join()
print(threads() - before)
"""
FORKED = """
import os, threading
import numpy as np
from jupyter_memory.embedders.runtime.mlx_thread import in_mlx_thread
from jupyter_memory.embedders.static import StaticEmbedder

embedder = StaticEmbedder()
texts = ["λ", "Die Preise in Zürich sind netto", "Ask Müller about the λ " * 8]
wanted = embedder.embed_documents(texts)
inside, done = threading.Event(), threading.Event()
busy = threading.Thread(target=in_mlx_thread(lambda: (inside.set(), done.wait(300))))
busy.start(), inside.wait(300)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(embedder.embed_documents(texts), wanted) else 1)
print(os.waitpid(child, 0)[1])
done.set(), busy.join()
"""
ENDS = """
import threading, time
from jupyter_memory.embedders.runtime import mlx_thread

mlx_thread._PATIENCE = 0.1
inside = threading.Event()
long = mlx_thread.in_mlx_thread(lambda: (inside.set(), time.sleep(10_000)))
threading.Thread(target=long, daemon=True).start()
inside.wait(300)
print("done")
"""


def run(program, *arguments):
    found = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, timeout=300
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


@pytest.mark.skipif(not TASKS.is_dir(), reason="the system does not list threads as files")
def test_short_lived_threads_that_embed_leave_no_thread_behind(small_folder):
    """A hundred threads that each embed a question with two models: the process has as many threads as before."""
    # A thread that has just ended may still be listed, and a tokenizer starts some of its own.
    assert int(run(LEVEL, small_folder)) < 5


def test_every_thread_has_the_same_numbers(small_folder):
    """What several threads embed at once is, to the last digit, what one embeds alone."""
    embedders = [StaticEmbedder(), NomicEmbedder(small_folder, 64)]
    texts = [f"Die λ der Woche {number} " * (1 + number % 5) for number in range(40)]
    wanted = [embedder.embed_documents(texts) for embedder in embedders]
    right = []

    def work():
        for embedder, vectors in zip(embedders, wanted, strict=True):
            right.append(np.array_equal(embedder.embed_documents(texts), vectors))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert right == [True] * 8


def test_an_interrupted_caller_goes_on_at_once():
    """Ctrl-C ends the wait for a call, not the call; what is asked next has its own answer."""
    worker, inside, done = Worker("test"), threading.Event(), threading.Event()

    def interrupt():
        inside.wait(300)
        os.kill(os.getpid(), signal.SIGINT)

    other = threading.Thread(target=interrupt)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        worker.run(lambda: (inside.set(), done.wait(300), "late"))
    other.join(300)
    done.set()
    assert [worker.run(lambda n=n: n) for n in range(3)] == [0, 1, 2]


def test_interrupted_while_a_model_computes(small_folder):
    """Ctrl-C in the middle of a long run is heard, and the model then gives the vectors that it gave before."""
    embedder = NomicEmbedder(small_folder, 64)
    texts = [f"Ask Müller about the λ of week {number}" for number in range(64)]
    wanted = embedder.embed_documents(texts)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100_000):
            embedder.embed_documents(texts)
    assert np.array_equal(embedder.embed_documents(texts), wanted)


def test_an_error_shows_where_it_was_raised():
    """The caller gets the error itself, and its traceback leads through the caller to the line that raised it."""

    @in_mlx_thread
    def divide(by):
        return 1 / by

    with pytest.raises(ZeroDivisionError) as raised:
        divide(0)
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names[0] == "test_an_error_shows_where_it_was_raised" and names[-1] == "divide"
    assert divide(2) == 0.5


def test_a_call_from_the_thread_itself():
    """What runs in the thread may call what runs there, too."""

    @in_mlx_thread
    def name(depth):
        return threading.current_thread().name if depth == 0 else name(depth - 1)

    assert name(3) == name(0) != threading.current_thread().name


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_a_thread_of_its_own():
    """A child that is forked while the thread is busy computes what its parent computed."""
    assert run(FORKED) == "0"


def test_no_program_waits_for_the_thread():
    """A program ends although a call is still running."""
    assert run(ENDS) == "done"
