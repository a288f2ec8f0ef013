"""A store in a forked process: multiprocessing, or a kernel's `os.fork`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

SEARCH = """
import os, sys
from threading import Thread
from jupyter_memory import MemoryStore

store = MemoryStore(sys.argv[1])
store.add("Die Preise in Zürich sind netto", title="Prices")
store.add("The λ of the Poisson model is 3.2 orders an hour", title="Poisson")

def titles(question):
    return [hit.memory.title for hit in store.hits(question).hits][:1]

assert titles("prices netto") == ["Prices"]
child = os.fork()
if child == 0:
    assert titles("orders by the hour") == ["Poisson"]
    store.add("umsatz = df.groupby('shop')", title="Umsatz")
    found = []
    thread = Thread(target=lambda: found.extend(titles("groupby shop")))
    thread.start(), thread.join(100)
    os._exit(0 if found == ["Umsatz"] else 1)
print(os.waitpid(child, 0)[1], titles("groupby shop"))
"""
HELD = """
import os, threading
from jupyter_memory.embedders import static

static.StaticEmbedder().embed_query("warm λ")
inside, done = threading.Event(), threading.Event()
def hold():
    with static._loading:
        inside.set(), done.wait(100)
thread = threading.Thread(target=hold)
thread.start(), inside.wait(100)
child = os.fork()
if child == 0:
    os._exit(0 if static.StaticEmbedder(64).embed_query("prices in Zürich").shape == (64,) else 1)
print(os.waitpid(child, 0)[1])
done.set(), thread.join(100)
"""


def run(program, *arguments):
    """Return what a program prints; one that hangs is ended, with the child that it waits for."""
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            return process.communicate(timeout=100)[0].strip()
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return "it hangs"


def test_a_forked_child_searches_and_adds(tmp_path):
    """A child of a process that has searched finds by meaning and writes, in each thread; its parent goes on."""
    assert run(SEARCH, str(tmp_path / "memory.sqlite")) == "0 ['Umsatz']"


def test_a_thread_of_the_parent_was_computing():
    """A child that is forked while another thread of its parent embeds is not kept waiting for that thread."""
    assert run(HELD) == "0"
