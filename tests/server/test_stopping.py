"""A server that stops: what runs is interrupted, what waits is told so, and nothing begins any more."""

from __future__ import annotations

import asyncio
import threading

import pytest

from jupyter_memory import MemoryStore, StoreClosed
from jupyter_memory.interface import store_provider


@pytest.fixture
def endless(week_in, monkeypatch, without_end):
    """Let searches take minutes within SQLite; the event tells that one began, the list how it ended."""
    run, began, ended = without_end
    monkeypatch.setattr(week_in, "hits", lambda query, **asked: run())
    return began, ended


async def test_a_search_that_runs_is_interrupted(ask, endless, service, until):
    """A server does not wait for it, and its thread ends."""
    began, ended = endless
    threads = set(threading.enumerate())
    searching = asyncio.ensure_future(ask("search", {"query": "prices"}))
    assert await asyncio.to_thread(began.wait, 60)
    ours = [one for one in set(threading.enumerate()) - threads if one.name.startswith("jupyter-memory-search")]
    assert len(ours) == 1
    await asyncio.to_thread(service.close)
    answered = await searching
    assert (answered.code, answered.json["reason"]) == (503, "Interrupted")
    assert ended == ["Interrupted"]
    await until(lambda: not ours[0].is_alive())


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
    opened, opening, go_on, raised = [], threading.Event(), threading.Event(), []
    usual = service.provider._opened

    def slowly():
        opening.set()
        go_on.wait(60)
        opened.append(usual())
        return opened[0]

    def ask():
        try:
            service.provider.store(create=True)
        except StoreClosed as error:
            raised.append(error)

    monkeypatch.setattr(service.provider, "_opened", slowly)
    monkeypatch.setattr(store_provider, "_PATIENCE", 0.01)
    thread = threading.Thread(target=ask)
    thread.start()
    assert opening.wait(60)
    service.provider.close()
    go_on.set()
    thread.join(60)
    assert opened[0].closed and len(raised) == 1


async def test_a_job_that_runs_stops_between_two_files(ask, service, store_file, jp_root_dir, monkeypatch):
    """What was indexed by then stays, and the store is whole."""
    for number in range(12):
        (jp_root_dir / f"note {number}.md").write_text(f"# Note {number}\n\nThe λ of day {number}.", "utf-8")
    store = service.provider.store(create=True)
    halfway, go_on, indexing = threading.Event(), threading.Event(), store.index

    def slowly(path, *, progress):
        def wait(done, total):
            if done == 5:
                halfway.set()
                go_on.wait(60)
            progress(done, total)

        return indexing(path, progress=wait)

    monkeypatch.setattr(store, "index", slowly)
    await ask("index", {"path": ""})
    waits = (await ask("index", {"path": "note 1.md"})).json["job_id"]
    assert await asyncio.to_thread(halfway.wait, 60)
    closing = asyncio.ensure_future(asyncio.to_thread(service.close))
    while not all(job["state"] == "cancelled" for job in service.jobs.listed() if job["job_id"] == waits):
        await asyncio.sleep(0.01)
    go_on.set()
    await closing
    with MemoryStore(store_file) as again:
        assert again.doctor() == []
        assert again.count() < 12
