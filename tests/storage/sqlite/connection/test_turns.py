"""Whose turn it is to write: long work lets those go first who wait to write a little."""

from __future__ import annotations

import os
import threading

import pytest

from jupyter_memory import StoreLocked
from jupyter_memory.storage.sqlite.connection import turns
from jupyter_memory.storage.sqlite.connection.turns import Turn, let_others_go_first

flocks = pytest.mark.skipif(turns.fcntl is None, reason="this system has no such locks")


@flocks
def test_who_waits_is_seen(path):
    """From the first wait to its end, a writer is seen by long work."""
    path.parent.mkdir()
    turn = Turn(path, 60, announced=True)
    assert not turns._somebody_waits(path.parent)
    assert turn(0)
    assert turns._somebody_waits(path.parent)
    turn.end()
    assert not turns._somebody_waits(path.parent)


@flocks
def test_long_work_is_not_waited_for(path):
    """The steps of long work wait for others, and not for each other."""
    path.parent.mkdir()
    turn = Turn(path, 60, announced=False)
    assert turn(0)
    assert not turns._somebody_waits(path.parent)


def test_no_patience(path):
    """Without patience the lock is asked for once."""
    assert not Turn(path, 0, announced=True)(0)


@flocks
def test_courtesy_ends(path, monkeypatch):
    """Long work joins those who wait after a while, so that it ends some day."""
    path.parent.mkdir()
    monkeypatch.setattr(turns, "_COURTESY", 0.05)
    turn = Turn(path, 60, announced=True)
    turn(0)
    let_others_go_first(path)
    assert turns._somebody_waits(path.parent)
    turn.end()


@flocks
def test_a_note_goes_before_the_next_step(path, database, remember):
    """A note that waits while a step of long work is written goes in before the following step."""
    long, short = database(busy_seconds=60), database(busy_seconds=60)
    seen: list[int] = []
    with long.write(yielding=True) as connection:
        note = threading.Thread(target=lambda: remember(short, "λ was 0.3"))
        note.start()
        while note.is_alive() and not turns._somebody_waits(path.parent):
            note.join(0.01)
        connection.execute("create table step (n)")
    with long.write(yielding=True) as connection:
        seen.append(connection.execute("select count(*) from memories").get)
    note.join()
    assert seen == [1]


@flocks
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_waits_for_nobody(path):
    """A child that was forked while its parent waited is not seen as waiting once the parent has its turn."""
    path.parent.mkdir()
    turn = Turn(path, 60, announced=True)
    turn(0)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(read, 1)
        os._exit(0)
    turn.end()
    try:
        assert not turns._somebody_waits(path.parent)
    finally:
        os.write(write, b"x")
        os.waitpid(child, 0)


def test_refused_in_the_end(path, database, remember):
    """Patience ends: a lock that nobody lets go of is an error that says so."""
    holder, writer = database(), database(busy_seconds=0.05)
    with holder.write(), pytest.raises(StoreLocked, match="try again"):
        remember(writer, "λ")
