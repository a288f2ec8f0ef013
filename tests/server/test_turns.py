"""Searches, changes and long looks take turns: none waits behind another, and what nobody waits for is stopped."""

import asyncio
import json
import sys
import threading
import time

import pytest
from tornado.http1connection import HTTP1Connection
from tornado.web import HTTPError

from jupyter_memory import MemoryStore, StoreClosed


@pytest.fixture
def stuck(week_in, until, monkeypatch):
    """Let a method of the store wait; ``await stuck(name, asked)`` begins requests of which some have arrived there."""
    go_on = threading.Event()

    async def stuck(name, asked, some=2):
        arrived, method = [], getattr(week_in, name)

        def wait(*args, **options):
            arrived.append(args)
            go_on.wait(60)
            return method(*args, **options)

        monkeypatch.setattr(week_in, name, wait)
        waiting = [asyncio.ensure_future(one()) for one in asked]
        await until(lambda: len(arrived) == some)
        return waiting, go_on, arrived

    yield stuck
    go_on.set()


async def test_searches_do_not_wait_behind_changes(ask, week_in, stuck):
    """Six pins that wait for another program's writing leave every search its thread, and are all done in the end."""
    memory = week_in.hits("Poisson λ").hits[0].memory.id
    pins, go_on, _ = await stuck("pin", [lambda: ask("pin", {"memory_id": memory, "pinned": True})] * 6)
    found = await asyncio.gather(*(ask("search", {"query": "Poisson λ"}) for _ in range(6)))
    assert [(one.code, one.json["hits"][0]["title"]) for one in found] == [(200, "Poisson λ")] * 6
    assert not any(one.done() for one in pins)
    go_on.set()
    assert [(await one).json["tier"] for one in pins] == ["core"] * 6


async def test_searches_do_not_wait_behind_the_doctor(ask, week_in, stuck):
    """Asked again and again, the doctor reads the file twice at the same time at most; all else goes on."""
    asked, go_on, _ = await stuck("doctor", [lambda: ask("doctor")] * 6)
    assert (await ask("search", {"query": "Poisson λ"})).code == 200
    assert (await ask("status")).json["store"]["memories"] == 10
    for route, body in (("add", {"text": "The λ of Zürich. " * 2_000}), ("search", {"query": "λ " * 9_000})):
        assert (await ask(route, body)).code == 200
    assert not any(one.done() for one in asked)
    go_on.set()
    assert [(await one).json for one in asked] == [{"problems": []}] * 6


async def test_a_large_body_is_read_in_a_thread(ask, week_in, service, until, writers_busy):
    """A text of many pages does not hold up the loop of the server: it waits for a thread, and a short one does not."""
    long = asyncio.ensure_future(ask("add", {"text": 7, "title": "ü" * 20_000}))
    await until(lambda: service.write_pool.waiting == 1)
    assert (await ask("add", {"text": 7})).json["reason"] == "InvalidField"
    writers_busy.set()
    assert (await long).json["reason"] == "InvalidField"


@pytest.fixture
def leave(jp_serverapp, http_server, jp_http_port, jp_base_url, jp_auth_header, until, monkeypatch):
    noticed, notice = [], HTTP1Connection._on_connection_close
    monkeypatch.setattr(HTTP1Connection, "_on_connection_close", lambda self: (notice(self), noticed.append(self)))

    async def ask(route, body):
        text = json.dumps(body).encode()
        head = [f"POST {jp_base_url}jupyter-memory/{route} HTTP/1.1", "Host: localhost", f"Content-Length: {len(text)}"]
        head += [f"{name}: {value}" for name, value in jp_auth_header.items()]
        _, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
        writer.write("\r\n".join([*head, "", ""]).encode() + text)
        await writer.drain()

        async def leaving():
            writer.close()
            await until(lambda: noticed)

        return leaving

    return ask


async def test_the_search_of_a_client_that_left_is_interrupted(leave, ask, week_in, service, monkeypatch):
    """Its thread is interrupted while it asks the store; the search of another client goes on."""
    began, left, searching, interrupted = threading.Event(), threading.Event(), [], []
    hits = week_in.hits

    def slowly(query, **asked):
        if query == "typed over":
            searching.append(threading.get_ident())
            began.set()
            left.wait(60)
        return hits(query, **asked)

    monkeypatch.setattr(week_in, "hits", slowly)
    monkeypatch.setattr(service.provider, "interrupt", lambda thread: (interrupted.append(thread), left.set()))
    leaving = await leave("search", {"query": "typed over"})
    assert await asyncio.to_thread(began.wait, 60)
    other = asyncio.ensure_future(ask("search", {"query": "Poisson λ"}))
    await asyncio.sleep(0.05)
    await leaving()
    assert interrupted == searching
    answered = await other
    assert (answered.code, answered.json["hits"][0]["title"]) == (200, "Poisson λ")


@pytest.mark.parametrize("jp_server_config", [{"JupyterMemoryServer": {"threads": 1}}], indirect=True)
async def test_what_sqlite_does_for_a_client_that_left_ends(slow_disk, leave, ask, week_in, service):
    """A statement that would take minutes is stopped within it, and the thread is free for the next search."""
    slow, began = slow_disk
    slow.set()
    leaving = await leave("search", {"query": "typed over"})
    assert await asyncio.to_thread(began.wait, 60)
    await leaving()
    free = service.search_pool.put(threading.get_ident)
    assert await asyncio.wait_for(free.result(), 10)
    slow.clear()
    assert (await ask("search", {"query": "Poisson λ"})).code == 200


async def test_what_is_written_is_written_although_the_client_left(leave, ask, week_in, service, until, writers_busy):
    """A note that is sent as the last thing before a tab closes is kept, also when it had to wait for its turn."""
    leaving = await leave("add", {"text": "The ferry to Trelleborg is late."})
    await until(lambda: service.write_pool.waiting)
    await leaving()
    writers_busy.set()
    await until(lambda: week_in.count() == 11)
    assert (await ask("search", {"query": "ferry Trelleborg"})).json["hits"][0]["snippet"].startswith("The ferry")


async def test_a_search_that_waits_for_its_turn_never_begins(leave, ask, stuck, service, until):
    busy, go_on, arrived = await stuck("hits", [lambda: ask("search", {"query": "at work"})] * 4, some=4)
    leaving = await leave("search", {"query": "typed over"})
    await until(lambda: service.search_pool.waiting)
    await leaving()
    go_on.set()
    assert [(await one).code for one in busy] == [200] * 4
    assert (await ask("search", {"query": "the last word"})).code == 200
    assert [query for (query,) in arrived] == ["at work"] * 4 + ["the last word"]


@pytest.mark.parametrize("jp_server_config", [{"JupyterMemoryServer": {"threads": 1}}], indirect=True)
async def test_a_search_that_runs_is_interrupted(slow_disk, ask, week_in, service, until):
    """A server that stops does not wait for it nor for those behind it, and its thread ends."""
    slow, began = slow_disk
    slow.set()
    threads = set(threading.enumerate())
    searching = [asyncio.ensure_future(ask("search", {"query": "prices"})) for _ in range(4)]
    assert await asyncio.to_thread(began.wait, 60)
    await until(lambda: service.search_pool.waiting == 3)
    [ours] = [one for one in set(threading.enumerate()) - threads if one.name.startswith("jupyter-memory-search")]
    await asyncio.to_thread(service.close)
    answered = [await one for one in searching]
    assert {one.code for one in answered} == {503}
    assert sorted(one.json["reason"] for one in answered) == ["Interrupted"] + ["Stopping"] * 3
    await until(lambda: not ours.is_alive())


async def test_nothing_begins_any_more(ask, week_in, service, store_file):
    """Afterwards every request that needs the store is refused with 503, and the store stays closed."""
    service.close()
    for route, body in (("search", {"query": "prices"}), ("add", {"text": "too late"}), ("doctor", None)):
        refused = await ask(route, body)
        assert (refused.code, refused.json["reason"]) == (503, "Stopping")
    with pytest.raises(StoreClosed):
        service.provider.store(create=True)
    assert week_in.closed
    service.close()
    with MemoryStore(store_file) as store:
        assert store.count() == 10


def test_a_store_that_is_being_opened_is_closed_when_it_is_open(service, monkeypatch):
    """The disk may take its time: the server does not wait for it, and the store does not stay open."""
    opened, opening, go_on, raised, made = [], threading.Event(), threading.Event(), [], MemoryStore.__init__

    def slowly(store, *arguments, **options):
        opening.set()
        go_on.wait(60)
        made(store, *arguments, **options)
        opened.append(store)

    def ask():
        try:
            service.provider.store(create=True)
        except StoreClosed as error:
            raised.append(error)

    monkeypatch.setattr(MemoryStore, "__init__", slowly)
    thread = threading.Thread(target=ask)
    thread.start()
    assert opening.wait(60)
    service.provider.close()
    go_on.set()
    thread.join(60)
    assert opened[0].closed and len(raised) == 1


async def test_a_job_that_runs_stops_between_two_files(ask, service, store_file, many_files, halfway):
    """What was indexed by then stays, and the store is whole."""
    reached, go_on = halfway
    await ask("index", {"path": ""})
    waits = (await ask("index", {"path": "many/note 1.md"})).json["job_id"]
    assert await asyncio.to_thread(reached.wait, 60)
    closing = asyncio.ensure_future(asyncio.to_thread(service.close))
    while not all(job["state"] == "cancelled" for job in service.jobs.listed() if job["job_id"] == waits):
        await asyncio.sleep(0.01)
    go_on.set()
    await closing
    with MemoryStore(store_file) as again:
        assert again.doctor() == []
        assert again.count() < 12


@pytest.mark.parametrize("jp_server_config", [{"JupyterMemoryServer": {"threads": 64}}], indirect=True)
def test_a_call_never_waits_behind_another_while_a_thread_may_begin(service):
    """Of so many calls, one more than idle threads that wake for them, all run at once."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for calls in range(1, 65):
            meeting = threading.Barrier(calls, timeout=60)
            tickets = [service.search_pool.put(meeting.wait) for _ in range(calls)]
            assert sorted(ticket.future.result(100) for ticket in tickets) == list(range(calls))
            time.sleep(1e-3)
    finally:
        sys.setswitchinterval(interval)


async def test_a_full_line_is_said_at_once(ask, week_in, service, until):
    """Beyond the places in the line a search is refused with 503, not kept."""
    go_on = threading.Event()
    for _ in range(4):
        service.search_pool.put(go_on.wait)
    await until(lambda: not service.search_pool.waiting)
    with pytest.raises(HTTPError, match="503"):
        while True:
            service.search_pool.put(go_on.wait)
    refused = await ask("search", {"query": "λ"})
    assert (refused.code, refused.json["reason"]) == (503, "Busy")
    go_on.set()


async def test_a_call_that_is_over_is_not_interrupted(service):
    """The thread that is interrupted is the one that the call runs in, which may work for somebody else afterwards."""
    go_on, began, interrupted = threading.Event(), threading.Event(), []
    ticket = service.search_pool.put(lambda: (began.set(), go_on.wait(100), threading.get_ident())[2])
    assert await asyncio.to_thread(began.wait, 60)
    ticket.drop(interrupted.append)
    go_on.set()
    assert interrupted == [await ticket.result()]
    ticket.drop(interrupted.append)
    assert len(interrupted) == 1


async def test_changes_that_wait_when_the_server_stops_are_made_if_there_is_time(
    ask, week_in, store_file, service, until
):
    """Closed, the server still does what is in the line; then its threads end, and nothing more is taken."""
    threads, go_on = set(threading.enumerate()), threading.Event()
    for _ in range(2):
        service.write_pool.put(go_on.wait)
    ours = set(threading.enumerate()) - threads
    added = [asyncio.ensure_future(ask("add", {"text": f"The λ of day {number}"})) for number in range(3)]
    await until(lambda: service.write_pool.waiting == 3)
    closing = asyncio.ensure_future(asyncio.to_thread(service.close))
    go_on.set()
    assert [(await one).code for one in added] == [200] * 3
    await closing
    assert not any(one.is_alive() for one in ours)
    with MemoryStore(store_file) as store:
        assert store.count() == 13
