"""The threads of the server: as many as are allowed, and none for what nobody waits for."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from functools import partial

import pytest
from tornado.web import HTTPError

from jupyter_memory.server.thread_pool import Pool, Ticket


@pytest.fixture
def often_switched():
    """Threads that take turns as often as can be."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


async def test_no_more_calls_at_once_than_threads():
    """Of five calls, two run at the same time in a pool of two."""
    pool, lock, now, most, meeting = Pool(2), threading.Lock(), [], [], threading.Barrier(2, timeout=60)

    def call(number):
        with lock:
            now.append(1)
            most.append(len(now))
        if number < 4:
            meeting.wait(100)
        threading.Event().wait(0.02)
        with lock:
            now.pop()
        return threading.current_thread().name

    names = await asyncio.gather(*(pool.run(Ticket(partial(call, number))) for number in range(5)))
    pool.close()
    assert max(most) == 2
    assert len(set(names)) == 2


def test_a_call_never_waits_behind_another_while_a_thread_may_begin(often_switched):
    """Of two calls, the second put in while the thread that was idle wakes for the first, both run at once."""
    for turn in range(400):
        pool, meeting = Pool(2), threading.Barrier(2, timeout=60)
        begun, tickets = Ticket(int), [Ticket(meeting.wait), Ticket(meeting.wait)]
        pool.put(begun)
        begun.future.result(100)
        time.sleep(1e-4)
        pool.put(tickets[0])
        for _ in range(turn % 100 * 10):
            pass
        pool.put(tickets[1])
        assert sorted(ticket.future.result(100) for ticket in tickets) == [0, 1]
        pool.close()


async def test_what_waits_and_is_dropped_never_runs():
    """A search that was typed over before its turn costs nothing."""
    pool, gate, ran = Pool(1), threading.Event(), []
    first = asyncio.ensure_future(pool.run(Ticket(gate.wait)))
    await asyncio.sleep(0)
    ticket = Ticket(lambda: ran.append(1))
    second = asyncio.ensure_future(pool.run(ticket))
    await asyncio.sleep(0)
    ticket.drop(lambda thread: pytest.fail("nothing runs that could be interrupted"))
    gate.set()
    await first
    with pytest.raises(asyncio.CancelledError):
        await second
    pool.close()
    assert ran == []


async def test_what_runs_and_is_dropped_is_interrupted_in_its_thread():
    """The thread that is interrupted is the one that the call runs in."""
    pool, gate, began = Pool(2), threading.Event(), threading.Event()

    def call():
        began.set()
        gate.wait(100)
        return threading.get_ident()

    ticket, interrupted = Ticket(call), []
    waiting = asyncio.ensure_future(pool.run(ticket))
    await asyncio.to_thread(began.wait)
    ticket.drop(interrupted.append)
    gate.set()
    assert interrupted == [await waiting]
    ticket.drop(interrupted.append)
    assert len(interrupted) == 1, "the thread may work for somebody else by now"
    pool.close()


async def test_a_full_line_is_said_at_once():
    """Beyond the places in the line a call is refused with 503, not kept."""
    pool, gate = Pool(1, waiting=1), threading.Event()
    began = threading.Event()
    running = asyncio.ensure_future(pool.run(Ticket(lambda: (began.set(), gate.wait(100)))))
    await asyncio.sleep(0)
    await asyncio.to_thread(began.wait)
    waiting = asyncio.ensure_future(pool.run(Ticket(lambda: 1)))
    await asyncio.sleep(0)
    with pytest.raises(HTTPError) as refused:
        await pool.run(Ticket(lambda: 2))
    assert refused.value.status_code == 503
    gate.set()
    await asyncio.gather(running, waiting)
    pool.close()


def test_what_waits_when_the_pool_is_closed_is_done_if_there_is_time():
    """Closed with patience, a pool does what is in its line; then its threads end, and nothing more is taken."""
    pool, gate, done = Pool(1), threading.Event(), []
    pool.put(Ticket(gate.wait))
    for number in range(3):
        pool.put(Ticket(partial(done.append, number)))
    assert pool.waiting == 3
    [thread] = pool._alive
    gate.set()
    pool.close(wait=60)
    assert done == [0, 1, 2]
    assert not thread.is_alive()
    with pytest.raises(HTTPError) as refused:
        pool.put(Ticket(int))
    assert (refused.value.status_code, refused.value.kind) == (503, "Stopping")


async def test_what_waits_when_the_pool_is_closed_is_refused_if_there_is_no_time():
    """Whoever waits hears of it at once; what runs is interrupted, and its thread ends with it."""
    pool, gate, began, interrupted = Pool(1), threading.Event(), threading.Event(), []
    running = asyncio.ensure_future(pool.run(Ticket(lambda: (began.set(), gate.wait(100), threading.get_ident()))))
    waiting = [asyncio.ensure_future(pool.run(Ticket(int))) for _ in range(3)]
    await asyncio.sleep(0)
    assert await asyncio.to_thread(began.wait, 60)
    [thread] = pool._alive
    pool.close(interrupt=interrupted.append)
    for one in waiting:
        with pytest.raises(HTTPError, match="503"):
            await one
    assert interrupted == [thread.ident]
    gate.set()
    assert (await running)[2] == thread.ident
    await asyncio.to_thread(thread.join, 60)
    assert not thread.is_alive()
    pool.close()
