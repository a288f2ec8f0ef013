"""What takes long keeps nothing else waiting: neither the searches, nor the loop of the server."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from jupyter_memory.server import validation
from jupyter_memory.server.handlers import base


@pytest.fixture
def stuck(week_in, until, monkeypatch):
    """Let a method of the store wait; ``await stuck(name, asked)`` begins requests of which two have arrived there."""
    go_on = threading.Event()

    async def stuck(name, asked):
        arrived, method = [], getattr(week_in, name)

        def wait(*args, **options):
            arrived.append(threading.current_thread().name)
            go_on.wait(60)
            return method(*args, **options)

        monkeypatch.setattr(week_in, name, wait)
        waiting = [asyncio.ensure_future(one()) for one in asked]
        await until(lambda: len(arrived) == 2)
        return waiting, go_on

    yield stuck
    go_on.set()


async def test_searches_do_not_wait_behind_changes(ask, week_in, stuck):
    """Six pins that wait for another program's writing leave every search its thread, and are all done in the end."""
    memory = week_in.hits("Poisson λ").hits[0].memory.id
    pins, go_on = await stuck("pin", [lambda: ask("pin", {"memory_id": memory, "pinned": True})] * 6)
    found = await asyncio.gather(*(ask("search", {"query": "Poisson λ"}) for _ in range(6)))
    assert [(one.code, one.json["hits"][0]["title"]) for one in found] == [(200, "Poisson λ")] * 6
    assert not any(one.done() for one in pins)
    go_on.set()
    assert [(await one).json["tier"] for one in pins] == ["core"] * 6


async def test_searches_do_not_wait_behind_the_doctor(ask, week_in, stuck):
    """Asked again and again, the doctor reads the file twice at the same time at most; searches and status go on."""
    asked, go_on = await stuck("doctor", [lambda: ask("doctor")] * 6)
    assert (await ask("search", {"query": "Poisson λ"})).code == 200
    assert (await ask("status")).json["store"]["memories"] == 10
    go_on.set()
    assert [(await one).json for one in asked] == [{"problems": []}] * 6


async def test_a_large_text_does_not_wait_behind_the_doctor(ask, week_in, stuck):
    """A note and a question of many pages are read while the doctor is at work with all threads that it may have."""
    asked, go_on = await stuck("doctor", [lambda: ask("doctor")] * 2)
    added = await ask("add", {"text": "The λ of Zürich. " * 2_000})
    found = await ask("search", {"query": "λ " * 9_000})
    assert (added.code, found.code) == (200, 200)
    assert not any(one.done() for one in asked)
    go_on.set()
    await asyncio.gather(*asked)


async def test_a_large_body_is_read_in_a_thread(ask, week_in, monkeypatch):
    """A question is read where it arrives; a text of many pages does not hold up the loop of the server."""
    read = []

    def validated(name, body):
        read.append((len(body) > 16_384, threading.current_thread() is threading.main_thread()))
        return validation.validated(name, body)

    monkeypatch.setattr(base, "validated", validated)
    assert (await ask("search", {"query": "Poisson λ"})).code == 200
    assert (await ask("add", {"text": "The λ of Zürich. " * 2_000})).code == 200
    assert (await ask("add", {"text": 7, "title": "ü" * 20_000})).json["reason"] == "InvalidField"
    assert read == [(False, True), (True, False), (True, False)]


async def test_a_body_beyond_all_bounds_is_refused(ask, fits, monkeypatch):
    """More than any request can need is not even looked at: 413."""
    monkeypatch.setattr(validation, "LARGEST", 1_000_000)
    refused = await ask("add", json.dumps({"text": "λ" * 500_000}, ensure_ascii=False).encode())
    assert (refused.code, fits("problem", refused.json)["reason"]) == (413, "TooLarge")
