"""A search that nobody waits for any more is stopped, and only that one."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from jupyter_memory.server.handlers.base import MemoryHandler
from jupyter_memory.server.thread_pool import Ticket


@pytest.fixture
def leave(jp_serverapp, http_server, jp_http_port, jp_base_url, jp_auth_header, until, monkeypatch):
    """Ask over a connection of one's own; the function that comes back closes it, and waits until that is noticed."""
    noticed, notice = [], MemoryHandler.on_connection_close
    monkeypatch.setattr(MemoryHandler, "on_connection_close", lambda self: (notice(self), noticed.append(self)))

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


async def test_what_sqlite_does_for_a_client_that_left_ends(leave, ask, week_in, until, monkeypatch, without_end):
    """A statement that would take minutes is stopped within it, and the thread is free for the next search."""
    run, began, ended = without_end
    hits = week_in.hits

    def endless(query, **asked):
        return run() if query == "typed over" else hits(query, **asked)

    monkeypatch.setattr(week_in, "hits", endless)
    leaving = await leave("search", {"query": "typed over"})
    assert await asyncio.to_thread(began.wait, 60)
    await leaving()
    await until(lambda: ended)
    assert ended == ["Interrupted"]
    assert (await ask("search", {"query": "Poisson λ"})).code == 200


@pytest.fixture
def at_work(ask, week_in, until, monkeypatch):
    """Put every thread to work until the event is set; what was searched for is in the list."""
    asked, go_on, hits = [], threading.Event(), week_in.hits

    def noted(query, **options):
        asked.append(query)
        if query == "at work":
            go_on.wait(60)
        return hits(query, **options)

    async def at_work():
        busy = [asyncio.ensure_future(ask("search", {"query": "at work"})) for _ in range(4)]
        await until(lambda: len(asked) == 4)
        return asked, go_on, busy

    monkeypatch.setattr(week_in, "hits", noted)
    return at_work


async def test_what_is_written_is_written_although_the_client_left(leave, ask, week_in, service, until):
    """A note that is sent as the last thing before a tab closes is kept, also when it had to wait for its turn."""
    go_on = threading.Event()
    for _ in range(2):
        service.write_pool.put(Ticket(go_on.wait))
    leaving = await leave("add", {"text": "The ferry to Trelleborg is late."})
    await until(lambda: service.write_pool.waiting)
    await leaving()
    go_on.set()
    await until(lambda: week_in.count() == 11)
    assert (await ask("search", {"query": "ferry Trelleborg"})).json["hits"][0]["snippet"].startswith("The ferry")


async def test_a_search_that_waits_for_its_turn_never_begins(leave, ask, at_work, service, until):
    """With every thread at work, a search that is typed over leaves the line."""
    asked, go_on, busy = await at_work()
    leaving = await leave("search", {"query": "typed over"})
    await until(lambda: service.search_pool.waiting)
    await leaving()
    go_on.set()
    assert [(await one).code for one in busy] == [200] * 4
    assert (await ask("search", {"query": "the last word"})).code == 200
    assert "typed over" not in asked
