"""A search that nobody waits for any more is stopped from another thread, and only that search."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import sleep

import apsw
import pytest

from jupyter_memory import Interrupted, JupyterMemoryError, StoreError

# Counts for as long as nobody stops it.
ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"


@pytest.fixture
def thread():
    """A pool of one thread, and the thread's id."""
    with ThreadPoolExecutor(1) as pool:
        yield pool, pool.submit(threading.get_ident).result(100)


def read(database, begun, sql=ENDLESS):
    """Run SQL in a snapshot."""
    with database.read() as connection:
        begun.set()
        return connection.execute(sql).get


def stop(database, thread_id, future):
    """Stop a thread's work until it is over: a statement that has not begun cannot be met at the first attempt."""
    while not future.done():
        database.interrupts.stop(thread_id)


def test_a_running_statement(database, thread):
    """A statement that runs is stopped with an error of the house, and leaves its thread and its connection as new."""
    opened, (pool, thread_id), begun = database(), thread, threading.Event()
    future = pool.submit(read, opened, begun)
    begun.wait(60)
    stop(opened, thread_id, future)

    with pytest.raises(Interrupted, match="stopped"):
        future.result(100)
    assert not issubclass(Interrupted, StoreError)  # which some steps of a search may do without
    assert issubclass(Interrupted, JupyterMemoryError)
    assert pool.submit(read, opened, begun, "select 7").result(100) == 7
    assert not pool.submit(lambda: opened.connection.in_transaction).result(100)


@pytest.fixture
def paused(database, thread):
    """Run ``first`` and ``then`` in a transaction of a thread, which waits in between: ``paused(first, then)``.

    Returned are the database, what interrupts the transaction, what lets it go on and returns its result, and the pool.
    """
    (pool, thread_id), opened = thread, database()

    def run(first, then, transaction="read"):
        begun, go_on = threading.Event(), threading.Event()

        def work():
            with getattr(opened, transaction)() as connection:
                first(connection)
                begun.set()
                go_on.wait(60)
                return then(connection)

        future = pool.submit(work)
        assert begun.wait(60)

        def end():
            go_on.set()
            return future.result(100)

        return opened, lambda: opened.interrupts.stop(thread_id), end, pool

    return run


def seven(connection):
    """Ask something that is soon answered."""
    return connection.execute("select 7").get


@pytest.mark.parametrize("rows_left", [False, True])
def test_between_two_statements(paused, rows_left):
    """Stopped while no statement runs, a transaction ends at its next one; the thread's next search is free of it.

    Rows that were not all read would keep SQLite in its state of interruption.
    """
    held = []

    def first(connection):
        held.append(connection.execute("select value from json_each('[1, 2, 3]')"))
        next(held[0]) if rows_left else held[0].fetchall()

    opened, stop, end, pool = paused(first, seven)
    assert stop()
    with pytest.raises(Interrupted):
        end()
    assert pool.submit(read, opened, threading.Event(), "select 7").result(100) == 7


def test_a_change_is_not_stopped(paused):
    """What is being written is written."""
    insert = "insert into counters values ('λ', 1)"
    opened, stop, end, _ = paused(seven, lambda connection: connection.execute(insert).fetchall(), "write")
    assert stop() is False
    end()
    assert opened.connection.execute("select value from counters where name = 'λ'").get == 1


def test_before_the_first_step(database):
    """Stopped after a statement was let through and before SQLite begins with it, it does not run to its end."""
    opened = database()
    with pytest.raises(Interrupted), opened.read() as connection:
        let_through = connection.exec_trace

        def at_that_moment(*statement):
            allowed = let_through(*statement)
            assert opened.interrupts.stop(threading.get_ident())
            return allowed

        connection.exec_trace = at_that_moment
        # It would end by itself after some seconds.
        connection.execute(ENDLESS.replace("from n)", "from n where i < 10000000)", 1)).fetchall()
    with opened.read() as connection:
        assert connection.execute("select 7").get == 7


def test_too_late(database, thread):
    """What comes when a transaction is over stops nothing, neither then nor later."""
    opened, (pool, thread_id) = database(), thread
    pool.submit(read, opened, threading.Event(), "select 1").result(100)

    assert opened.interrupts.stop(thread_id) is False
    assert opened.interrupts.stop(12345) is False
    assert pool.submit(read, opened, threading.Event(), "select 7").result(100) == 7


def test_never_the_next(database, thread):
    """However the moments fall, an error goes to the transaction that was meant, and never to the one after it."""
    opened, (pool, thread_id) = database(), thread
    meant, gate, tried = threading.Event(), threading.Lock(), threading.Event()

    def meant_and_next(pause):
        outcome = "whole"
        try:
            with opened.read() as connection:
                meant.set()
                connection.execute("select count(*) from json_each('[1, 2, 3]')").fetchall()
                pause()
                connection.execute("select 2").fetchall()
        except Interrupted:
            outcome = "stopped"
        with gate:  # a thread is stopped by its number, so whoever does it must know that the work meant is not over
            meant.clear()
        return outcome, read(opened, threading.Event(), "select 7")

    def stop_meant():
        with gate:
            stopped = meant.is_set() and opened.interrupts.stop(thread_id)
        if stopped:
            tried.set()
        return stopped

    outcomes = set()
    for turn in range(300):
        # The first waits until it is stopped, the others leave it to chance.
        future = pool.submit(meant_and_next, partial(sleep, turn % 4 / 5000) if turn else partial(tried.wait, 60))
        while not future.done() and not stop_meant():
            pass
        outcome, after = future.result(100)
        outcomes.add(outcome)
        assert after == 7
    assert "stopped" in outcomes


def test_a_search(week_store, thread):
    """A search is stopped through the store, whatever step it is at, and the next one of its thread has its answer."""
    (pool, thread_id), outcomes = thread, set()
    for _ in range(50):
        future = pool.submit(week_store.hits, "Poisson λ")
        while not future.done():
            week_store.interrupt(thread_id)
        outcomes.add(type(future.exception(100)))
        assert pool.submit(week_store.hits, "Poisson λ").result(100).hits
        if Interrupted in outcomes:
            break
    assert outcomes <= {Interrupted, type(None)} and Interrupted in outcomes
    assert week_store.interrupt(thread_id) is False


def test_no_tracer_is_left(database):
    """A thread's connection has no tracer left once it has read."""
    opened = database()
    with opened.read() as connection:
        assert connection.exec_trace is not None
    assert isinstance(connection, apsw.Connection) and connection.exec_trace is None
