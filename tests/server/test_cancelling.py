"""A search that nobody waits for any more is stopped, and only that one."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from jupyter_memory.errors import JupyterMemoryError


@pytest.fixture
def leave(jp_serverapp, http_server, jp_http_port, jp_base_url, jp_auth_header):
    """Ask over a connection of one's own; the function that comes back closes it."""

    async def ask(route, body):
        text = json.dumps(body).encode()
        head = [f"POST {jp_base_url}jupyter-memory/{route} HTTP/1.1", "Host: localhost", f"Content-Length: {len(text)}"]
        head += [f"{name}: {value}" for name, value in jp_auth_header.items()]
        _, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
        writer.write("\r\n".join([*head, "", ""]).encode() + text)
        await writer.drain()
        return writer.close

    return ask


async def test_the_search_of_a_client_that_left_is_interrupted(leave, ask, week_in, service, monkeypatch):
    """Its thread is interrupted while it asks the store; the search of another client goes on."""
    began, left, searching, interrupted = threading.Event(), threading.Event(), [], []
    hits = week_in.hits

    def slowly(query, **asked):
        if query == "typed over":
            searching.append(threading.get_ident())
            began.set()
            left.wait(5)
        return hits(query, **asked)

    monkeypatch.setattr(week_in, "hits", slowly)
    monkeypatch.setattr(service.door, "interrupt", lambda thread: (interrupted.append(thread), left.set()))
    leaving = await leave("search", {"query": "typed over"})
    await asyncio.to_thread(began.wait, 5)
    other = asyncio.ensure_future(ask("search", {"query": "Poisson λ"}))
    await asyncio.sleep(0.05)
    leaving()
    await asyncio.to_thread(left.wait, 5)
    assert interrupted == searching
    answered = await other
    assert (answered.code, answered.json["hits"][0]["title"]) == (200, "Poisson λ")


async def test_what_sqlite_does_for_a_client_that_left_ends(leave, ask, week_in, service, monkeypatch):
    """A statement that would take minutes is stopped within it, and the thread is free for the next search."""
    began, ended = threading.Event(), []
    hits = week_in.hits

    def endless(query, **asked):
        if query != "typed over":
            return hits(query, **asked)
        try:
            with week_in._database.read() as connection:
                began.set()
                connection.execute(
                    "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"
                ).fetchall()
        except JupyterMemoryError as error:
            ended.append(type(error).__name__)
            raise

    monkeypatch.setattr(week_in, "hits", endless)
    leaving = await leave("search", {"query": "typed over"})
    await asyncio.to_thread(began.wait, 5)
    await asyncio.sleep(0.05)
    leaving()
    while not ended:
        await asyncio.sleep(0.01)
    assert ended == ["Interrupted"]
    assert (await ask("search", {"query": "Poisson λ"})).code == 200


async def test_what_is_written_is_written_although_the_client_left(leave, ask, week_in):
    """A note that is sent as the last thing before a tab closes is kept, and so is what is forgotten then."""
    gate = threading.Event()
    adding = week_in.add_many

    def slowly(records, **options):
        gate.wait(5)
        return adding(records, **options)

    week_in.add_many = slowly
    leaving = await leave("add", {"text": "The ferry to Trelleborg is late."})
    await asyncio.sleep(0.1)
    leaving()
    await asyncio.sleep(0.05)
    gate.set()
    for _ in range(200):
        if week_in.count() == 11:
            break
        await asyncio.sleep(0.01)
    assert (await ask("search", {"query": "ferry Trelleborg"})).json["hits"][0]["snippet"].startswith("The ferry")


async def test_a_search_that_waits_for_its_turn_never_begins(leave, ask, week_in, service, monkeypatch):
    """With every thread at work, a search that is typed over leaves the line."""
    asked, gate, hits = [], threading.Event(), week_in.hits

    def noted(query, **options):
        asked.append(query)
        if query == "at work":
            gate.wait(5)
        return hits(query, **options)

    monkeypatch.setattr(week_in, "hits", noted)
    busy = [asyncio.ensure_future(ask("search", {"query": "at work"})) for _ in range(4)]
    while len(asked) < 4:
        await asyncio.sleep(0.01)
    leaving = await leave("search", {"query": "typed over"})
    await asyncio.sleep(0.05)
    leaving()
    await asyncio.sleep(0.05)
    gate.set()
    assert [(await one).code for one in busy] == [200] * 4
    assert (await ask("search", {"query": "the last word"})).code == 200
    assert "typed over" not in asked
