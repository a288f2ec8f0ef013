"""Indexing by request: one after the other, with progress told, stopped when asked; folders watched and removed."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from jupyter_memory.server.events import SCHEMA
from jupyter_memory.server.thread_pool import Ticket


@pytest.fixture
def many_files(jp_root_dir):
    """A folder of twelve notes in Lab's root."""
    folder = jp_root_dir / "many"
    folder.mkdir()
    for number in range(12):
        (folder / f"note {number}.md").write_text(f"# Note {number}\n\nThe λ of day {number} in Zürich.", "utf-8")
    return folder


async def test_index_a_folder_by_its_contents_path(ask, fits, over, notebook, queued):
    """A contents path is enough; the job tells what it did, and a search finds it."""
    job = fits("job", (await ask("index", {"path": "prices", "watch": True})).json)
    assert (job["path"], job["state"]) == (str(notebook.parent), "waiting")

    queued.set()
    [done] = fits("jobs", {"jobs": await over()})["jobs"]
    assert (done["job_id"], done["state"], done["done"], done["total"]) == (job["job_id"], "done", 1, 1)
    assert done["summary"].startswith("1 file indexed (3 memories)")
    assert (await ask("search", {"query": "price of electricity"})).json["hits"][0]["location"] == "plot"

    [folder] = fits("folders", (await ask("folders")).json)["folders"]
    assert (folder["path"], folder["watched"], folder["changed"]) == (str(notebook.parent), True, 0)
    assert (folder["files"], folder["memories"]) == (1, 3)
    assert fits("status", (await ask("status")).json)["folders"][0]["changed"] is None


async def test_the_root_of_lab_is_the_empty_path(ask, over, notebook, jp_root_dir):
    """ "" is where Lab's file browser begins."""
    assert (await ask("index", {"path": ""})).json["path"] == str(jp_root_dir)
    assert (await over())[0]["state"] == "done"


async def test_a_file_that_cannot_be_read_is_named_with_the_reason(ask, over, jp_root_dir):
    """What fails does not stop the rest, and is listed."""
    (jp_root_dir / "broken.ipynb").write_text("{", encoding="utf-8")
    (jp_root_dir / "ü.md").write_text("Prices are net of tax.", encoding="utf-8")
    await ask("index", {"path": ""})
    [job] = await over()
    assert job["state"] == "done"
    assert job["failed"][0][0].endswith("broken.ipynb")
    assert "not JSON" in job["failed"][0][1]


async def test_progress_is_told_in_counts_alone(ask, over, until, many_files, jp_serverapp):
    """Subscribers of the server's events hear how far it is, and neither paths nor words."""
    told = []

    async def listener(logger, schema_id, data):
        told.append(data)

    jp_serverapp.event_logger.add_listener(schema_id=SCHEMA, listener=listener)
    job = (await ask("index", {"path": "many"})).json
    await over()
    await until(lambda: told and told[-1]["phase"] == "done")
    phases = [one["phase"] for one in told]
    assert (phases[0], phases[-1]) == ("waiting", "done")
    assert told[-1] == {"job_id": job["job_id"], "phase": "done", "done": 12, "total": 12}
    assert {key for one in told for key in one} == {"job_id", "phase", "done", "total"}


async def test_a_job_is_stopped_and_keeps_what_it_did(ask, fits, over, many_files, service, monkeypatch):
    """Stopped between two files; the jobs behind it go on."""
    store = service.provider.store(create=True)
    halfway, go_on = threading.Event(), threading.Event()
    indexing = store.index

    def slowly(path, *, progress):
        def wait(done, total):
            if total:
                halfway.set()
                go_on.wait(60)
            progress(done, total)

        return indexing(path, progress=wait)

    monkeypatch.setattr(store, "index", slowly)
    first = (await ask("index", {"path": "many"})).json
    second = (await ask("index", {"path": ""})).json
    assert await asyncio.to_thread(halfway.wait, 60)
    running = {job["job_id"]: job["state"] for job in (await ask("jobs")).json["jobs"]}
    assert running == {first["job_id"]: "running", second["job_id"]: "waiting"}

    fits("job", (await ask("jobs", {"job_id": first["job_id"], "cancel": True})).json)
    monkeypatch.setattr(store, "index", indexing)
    go_on.set()
    states = {job["job_id"]: job for job in await over()}
    assert states[first["job_id"]]["state"] == "cancelled"
    assert "what was indexed stays" in states[first["job_id"]]["summary"]
    assert states[second["job_id"]]["state"] == "done"


async def test_a_waiting_job_is_taken_out_of_the_line(ask, over, many_files, queued):
    """Stopped before its turn, a job never begins; asked for twice, it waits once."""
    job = (await ask("index", {"path": "many"})).json
    assert (await ask("index", {"path": "many"})).json["job_id"] == job["job_id"]
    stopped = (await ask("jobs", {"job_id": job["job_id"], "cancel": True})).json
    queued.set()
    assert stopped["state"] == "cancelled"
    assert [one["summary"] for one in await over()] == ["Stopped before it began."]
    assert (await ask("status")).json["store"]["memories"] == 0


async def test_a_folder_is_watched_no_longer_and_removed(ask, fits, over, notebook):
    """Watching is switched by folder; removing one forgets what it brought, if the number of memories is right."""
    await ask("index", {"path": "prices", "watch": True})
    await over()
    where = str(notebook.parent)
    [folder] = fits("folders", (await ask("folders", {"path": where, "watched": False})).json)["folders"]
    assert folder["watched"] is False
    held = folder["memories"]
    for agreed in ({}, {"count": held + 1}):
        refused = await ask("folders", {"path": where, "remove": True, **agreed})
        assert (refused.code, refused.json["reason"]) == (409, "CountDiffers")
        assert f"would forget {held} memories" in refused.json["message"]
    assert (await ask("status")).json["store"]["memories"] == held
    assert (await ask("folders", {"path": where, "remove": True, "count": held})).json == {"folders": []}
    assert (await ask("status")).json["store"]["memories"] == 0
    assert notebook.exists()


async def test_removing_a_folder_stops_what_indexes_it(ask, over, many_files, service):
    """Its jobs end first: what is half removed is never taken for indexed, and nothing of it stays."""
    await ask("index", {"path": "many"})
    await over()
    queued = threading.Event()
    service.index_pool.put(Ticket(queued.wait))
    await ask("index", {"path": "many/note 3.md"})
    held = (await ask("status")).json["store"]["memories"]
    removing = asyncio.create_task(ask("folders", {"path": str(many_files), "remove": True, "count": held}))
    while (await ask("jobs")).json["jobs"][0]["state"] != "cancelled":
        await asyncio.sleep(0.01)
    queued.set()
    assert (await removing).json == {"folders": []}
    assert (await ask("status")).json["store"]["memories"] == 0


async def test_a_folder_that_was_never_indexed_cannot_be_watched(ask, week_in):
    """The answer says so, for "~name" of nobody as well."""
    for path in ("/srv/never", "~nobody-here/notes"):
        refused = await ask("folders", {"path": path, "watched": True})
        assert (refused.code, refused.json["reason"]) == (400, "InvalidField")
        assert refused.json["message"].startswith("path: ")


async def test_changed_files_are_counted_and_marked(ask, over, notebook):
    """A notebook that was edited elsewhere counts as changed, and its hits say so."""
    await ask("index", {"path": "prices"})
    await over()
    whole = json.loads(notebook.read_text("utf-8"))
    whole["cells"][2]["source"] += "\n# now in francs"
    notebook.write_text(json.dumps(whole), encoding="utf-8")
    assert (await ask("folders")).json["folders"][0]["changed"] == 1
    answer = (await ask("search", {"query": "price of electricity"})).json
    assert answer["places"][0]["changed"] is True
