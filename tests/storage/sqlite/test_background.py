"""What speeds up a search: a second look at the store from another thread, and what is kept between searches."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from forked import in_fork

from jupyter_memory.storage import Cache, Lock


@pytest.fixture
def database(database):
    """A store's file."""
    return database()


def chunks(connection):
    return connection.execute("select count(*) from keyword_docsize").get, threading.get_ident()


def add(database):
    with database.write() as connection:
        connection.execute("insert into keyword (rowid, text) values (7, 'λ in Zürich')")


def test_another_thread_reads(database):
    """The work is done by another thread, of the state that the caller sees: what was written since is not seen."""
    reader, begun = database.background, threading.Event()
    with database.read() as connection:
        result = reader.begin(connection, lambda other: begun.set() or chunks(other))
        assert begun.wait(60)
        count, who = result()
        assert count == 0 and who != threading.get_ident()
        writer = threading.Thread(target=add, args=(database,))
        writer.start()
        writer.join(100)
        assert reader.begin(connection, chunks)() == (0, threading.get_ident())


def test_a_busy_thread_is_not_waited_for(database):
    """While the thread is busy the caller does the work itself; what goes wrong in the thread is raised here."""
    reader, open_ = database.background, threading.Event()
    with database.read() as connection:
        slow = reader.begin(connection, lambda _: open_.wait(30))
        assert reader.begin(connection, chunks)()[1] == threading.get_ident()
        open_.set()
        assert slow() is True
        wrong = reader.begin(connection, lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            wrong()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_forked_child_has_a_thread_of_its_own(database):
    """After a fork, as of `!ls` in a notebook, parent and child both go on."""
    reader = database.background

    def read():
        with database.read() as connection:
            return reader.begin(connection, chunks)()[0]

    assert read() == in_fork(read) == read() == 0


def test_closing_lets_the_thread_go(database):
    """A store begins its thread for the first search that needs it, and ends it when it is closed."""
    before, reader = set(threading.enumerate()), database.background
    with database.read() as connection:
        reader.begin(connection, chunks)()
    [thread] = set(threading.enumerate()) - before
    assert thread.name.startswith("jupyter-memory-read")
    reader.close()
    thread.join(60)
    assert not thread.is_alive()


def test_a_value_of_another_version_is_not_returned():
    """Each version has its values; the first of a new version takes the place of all others."""
    cache = Cache(10)
    cache.put("1", "λ", 3)
    assert (cache.get("1", "λ"), cache.get("2", "λ"), cache.get("1", "μ")) == (3, None, None)
    assert (cache.of("2", "λ", lambda: 4), cache.of("2", "λ", lambda: 5)) == (4, 4)
    assert cache.get("1", "λ") is None


def test_the_least_recently_used_go_first():
    """Sizes are added up, also of a value that takes the place of another."""
    cache = Cache(6, len)
    cache.put("", "a", "xx")
    cache.put("", "b", "yy")
    cache.put("", "a", "xxx")
    cache.get("", "b")
    cache.put("", "c", "zz")
    assert [cache.get("", key) for key in "abc"] == [None, "yy", "zz"]
    cache.put("", "d", "too long for it")
    assert cache.get("", "d") is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_finds_the_lock_open():
    """A child that is forked while the lock is held takes it all the same, and the parent's stays held."""
    lock, taken = Lock(), threading.Event()

    def take():
        signal.alarm(60)  # which ends a child that waits
        with lock:
            taken.set()
        return signal.alarm(0) > 0

    with lock:
        assert in_fork(take) is True
        thread = threading.Thread(target=lambda: lock.__enter__() or taken.set() or lock.__exit__(None, None, None))
        thread.start()
        assert not taken.wait(0.2)
    thread.join(60)
    assert taken.is_set()
