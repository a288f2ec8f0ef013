"""Folders by request: indexed one after the other, stopped, removed, and watched, whoever changes their files."""

import asyncio
import json
import threading

import pytest
from tornado.web import HTTPError


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


async def test_a_file_that_cannot_be_read_is_named_with_the_reason(ask, over, jp_root_dir):
    """What fails does not stop the rest, and is listed; "" is the root of Lab, where its file browser begins."""
    (jp_root_dir / "broken.ipynb").write_text("{", encoding="utf-8")
    (jp_root_dir / "ü.md").write_text("Prices are net of tax.", encoding="utf-8")
    assert (await ask("index", {"path": ""})).json["path"] == str(jp_root_dir)
    [job] = await over()
    assert job["state"] == "done"
    assert job["failed"][0][0].endswith("broken.ipynb") and "not JSON" in job["failed"][0][1]


async def test_progress_is_told_in_counts_alone(ask, over, until, many_files, heard):
    """Subscribers of the server's events hear how far it is, and neither paths nor words."""
    told = heard("index")
    job = (await ask("index", {"path": "many"})).json
    await over()
    await until(lambda: told and told[-1]["phase"] == "done")
    assert told[0]["phase"] == "waiting"
    assert told[-1] == {"job_id": job["job_id"], "phase": "done", "done": 12, "total": 12}
    assert {key for one in told for key in one} == {"job_id", "phase", "done", "total"}


async def test_a_job_is_stopped_and_keeps_what_it_did(ask, fits, over, many_files, halfway):
    """Stopped between two files; the jobs behind it go on."""
    reached, go_on = halfway
    first = (await ask("index", {"path": "many"})).json["job_id"]
    second = (await ask("index", {"path": ""})).json["job_id"]
    assert await asyncio.to_thread(reached.wait, 60)
    running = {job["job_id"]: job["state"] for job in (await ask("jobs")).json["jobs"]}
    assert running == {first: "running", second: "waiting"}
    fits("job", (await ask("jobs", {"job_id": first, "cancel": True})).json)
    go_on.set()
    jobs = {job["job_id"]: job for job in await over()}
    assert (jobs[first]["state"], jobs[second]["state"]) == ("cancelled", "done")
    assert "what was indexed stays" in jobs[first]["summary"]


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
    service.index_pool.put(queued.wait)
    await ask("index", {"path": "many/note 3.md"})
    held = (await ask("status")).json["store"]["memories"]
    removing = asyncio.create_task(ask("folders", {"path": str(many_files), "remove": True, "count": held}))
    while (await ask("jobs")).json["jobs"][0]["state"] != "cancelled":
        await asyncio.sleep(0.01)
    queued.set()
    assert (await removing).json == {"folders": []}
    assert (await ask("status")).json["store"]["memories"] == 0


async def test_a_folder_that_was_never_indexed_cannot_be_watched(ask, week_in):
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


@pytest.fixture
def full_line(service, queued):
    with pytest.raises(HTTPError, match="503"):
        while True:
            service.index_pool.put(int)


async def test_a_job_that_finds_no_place_is_not_listed(ask, over, notebook, queued, full_line):
    """Refused with 503, a job leaves nothing behind that would wait for ever; asked for again later, it is done."""
    refused = await ask("index", {"path": "prices"})
    assert (refused.code, refused.json["reason"]) == (503, "Busy")
    assert (await ask("jobs")).json == {"jobs": []}
    queued.set()
    while (await ask("index", {"path": "prices"})).code == 503:
        await asyncio.sleep(0.01)
    assert [job["state"] for job in await over()] == ["done"]


async def test_a_job_keeps_the_first_of_many_files_that_failed(ask, over, jp_root_dir):
    """Of many files, five hundred are named and the rest counted: the list is sent again and again."""
    for number in range(505):
        (jp_root_dir / f"{number:03}.ipynb").write_text("{", encoding="utf-8")
    await ask("index", {"path": ""})
    [job] = await over()
    assert len(job["failed"]) == 501 and job["failed"][500] == ["…", "and 5 more files"]
    assert job["failed"][499][0].endswith("499.ipynb") and "505 failed" in job["summary"]


async def test_only_the_last_jobs_that_are_over_are_listed(ask, over, jp_root_dir):
    """A server that runs for weeks lists twenty jobs, and those that are not over."""
    for number in range(30):
        (jp_root_dir / f"{number}.md").write_text("λ", encoding="utf-8")
        await ask("index", {"path": f"{number}.md"})
        await over()
    listed = [job["path"] for job in (await ask("jobs")).json["jobs"]]
    assert listed == [str(jp_root_dir / f"{number}.md") for number in range(29, 8, -1)]


@pytest.fixture
def watched(notebook, service):
    store = service.provider.store(create=True)
    store.index(notebook.parent, progress=False)
    store.watch(notebook.parent)
    return store


@pytest.fixture
def lab(ask, jp_fetch, heard, until):
    """Do to a file what Lab does, and wait until the store has taken it in, unless it has nothing to take in."""
    told = heard("changes")

    async def lab(verb, path, body=None, *, taken_in=True):
        await ask("profiles")  # nobody is told before somebody has asked for anything
        before = len(told)
        options = {} if body is None else {"body": json.dumps(body)}
        await jp_fetch("api", "contents", *path.split("/"), method=verb, **options)
        await until(lambda: len(told) > before or not taken_in)

    return lab


def text(content):
    return {"type": "file", "format": "text", "content": content}


def sources(store):
    return {hit.memory.id: hit.memory.source for hit in store.browsed(limit=10).hits}


async def found(ask, query):
    answer = (await ask("search", {"query": query, "filters": {"kind": ["file", "cell"]}})).json
    return [hit["title"] for hit in answer["hits"]]


async def test_what_another_program_saves_is_found(ask, watched, notebook, until):
    """The server follows the watched folders itself, from the first time that the panel asks for its status."""
    await ask("status")
    (notebook.parent / "by_hand.md").write_text("The carrier blames the fog in Oslo.")
    await until(lambda: any(hit.memory.title == "by_hand.md" for hit in watched.hits("fog Oslo").hits))


async def test_a_renamed_notebook_keeps_ids_tags_and_pins(ask, lab, watched, notebook):
    """A cell that was pinned and tagged is the same memory under the notebook's new name."""
    before = next(hit.memory for hit in watched.browsed(limit=10).hits if hit.memory.location == "rate")
    watched.update(before.id, tags=["rate"])
    watched.pin(before.id)
    await lab("PATCH", "prices/orders.ipynb", {"path": "prices/orders λ.ipynb"})
    after = watched.get(before.id)
    assert after.source == str(notebook.with_name("orders λ.ipynb"))
    assert (after.tags, after.pinned) == (("rate",), True)
    assert after.title.startswith("orders λ.ipynb")
    assert watched.count() == 3


async def test_a_folder_that_is_known_by_a_link(ask, lab, notebook, over, service, tmp_path):
    """Lab names files by the folder that a link leads to: they keep the name by the link and their ids, found once."""
    link, store = tmp_path / "notes", service.provider.store(create=True)
    link.symlink_to(notebook.parent)
    store.index(link, progress=False)
    await ask("index", {"path": str(notebook.parent), "watch": True}, method="POST")
    await over()
    await lab("PUT", "prices/ü.md", text("Snow in Malmö."))
    before = set(sources(store))
    await lab("PATCH", "prices/orders.ipynb", {"path": "prices/λ.ipynb"})
    assert set(sources(store)) == before
    assert set(sources(store).values()) == {str(link / "ü.md"), str(link / "λ.ipynb")}
    assert [(folder.path, folder.watched) for folder in store.folders()] == [(str(link), True)]


async def test_a_renamed_folder_takes_its_files_along(lab, watched, jp_root_dir):
    """A folder that moves within Lab stays watched, its memories the same, also where a folder above it is renamed."""
    before = sources(watched)
    await lab("PATCH", "prices", {"path": "Preise"})
    after, moved = sources(watched), jp_root_dir / "Preise"
    assert set(after) == set(before) and set(after.values()) == {str(moved / "orders.ipynb")}
    assert [(folder.path, folder.watched) for folder in watched.folders()] == [(str(moved), True)]
    (jp_root_dir / "Büro").mkdir()
    moved.rename(jp_root_dir / "Büro" / "prices")
    watched.rename(moved, jp_root_dir / "Büro" / "prices")
    await lab("PATCH", "Büro", {"path": "office"})
    [folder] = watched.folders(compare=True)
    assert (folder.path, folder.watched) == (str(jp_root_dir / "office" / "prices"), True)
    assert (folder.memories, folder.changed) == (3, 0)


async def test_a_new_file_that_gets_its_name_at_once_is_found(ask, lab, watched):
    """Made, saved and renamed within a second, a note is one memory, and what was saved after it is found as well."""
    await lab("PUT", "prices/Untitled.md", text("Ferry to Rügen."), taken_in=False)
    await lab("PATCH", "prices/Untitled.md", {"path": "prices/~ferry λ.md"}, taken_in=False)
    await lab("PUT", "prices/brief.md", text("A brief life."), taken_in=False)
    await lab("DELETE", "prices/brief.md", taken_in=False)
    await lab("PUT", "prices/ü.md", text("Snow in Malmö."))
    files = {hit.memory.title for hit in watched.browsed(limit=10, filters={"kind": "file"}).hits}
    assert files == {"~ferry λ.md", "ü.md"}
    assert (await ask("search", {"query": "ferry Rügen"})).json["places"][0]["path"] == "prices/~ferry λ.md"


async def test_a_deleted_file_is_forgotten_but_not_the_notes_about_it(lab, watched, notebook):
    """What was in the file goes with it, what a person wrote about it stays; the emptied folder is watched on."""
    watched.add("The orders of March lack Genève.", source=str(notebook))
    await lab("DELETE", "prices/orders.ipynb")
    assert [hit.memory.text for hit in watched.browsed(limit=10).hits] == ["The orders of March lack Genève."]
    await lab("PUT", "prices/ü.md", text("Snow in Malmö."))
    assert watched.count() == 2


async def test_a_copy_is_found_too(lab, watched, notebook, ask):
    """A copied notebook, a new note and its next version are searched as soon as they are saved."""
    await lab("POST", "prices", {"copy_from": "prices/orders.ipynb"})
    assert set(sources(watched).values()) == {str(notebook), str(notebook.with_name("orders-Copy1.ipynb"))}
    await lab("PUT", "prices/ü.md", text("The carrier blames the snow in Malmö."))
    assert "ü.md" in await found(ask, "snow carrier")
    await lab("PUT", "prices/ü.md", text("The carrier blames the ferry to Trelleborg."))
    first = watched.hits("ferry Trelleborg").hits[0].memory
    assert first.title == "ü.md" and "snow" not in first.text


async def test_what_nobody_watches_or_wants_stays_out(lab, watched, notebook):
    (notebook.parent / ".jupytermemoryignore").write_text("secret.md", encoding="utf-8")
    for path in ("elsewhere.md", "prices/secret.md", "prices/table.bin"):
        await lab("PUT", path, text("price of electricity, in secret"), taken_in=False)
    await lab("PUT", "prices/ü.md", text("Snow in Malmö."))
    assert watched.count() == 4


async def test_nothing_is_made_where_nothing_was_indexed(lab, service, store_file):
    """Saving a file makes no store."""
    await lab("PUT", "ü.md", text("λ"), taken_in=False)
    await asyncio.sleep(1.5)
    assert not store_file.exists()


async def test_what_changes_while_a_folder_is_indexed_is_taken_in_at_once(lab, watched, service, queued):
    """However often files are saved meanwhile, one look at them waits, and finds them all."""
    for number in range(3):
        await lab("PUT", f"prices/λ {number % 2}.md", text(f"Snow of day {number} in Malmö."), taken_in=False)
        await asyncio.sleep(1.2)
        assert service.index_pool.waiting == 1
    queued.set()
    await service.index_pool.put(int).result()
    texts = {hit.memory.text for hit in watched.browsed(limit=10, filters={"kind": "file"}).hits}
    assert texts == {f"Snow of day {number} in Malmö." for number in (1, 2)}


async def test_changes_that_find_no_place_come_with_the_next(lab, watched, service, until, queued, full_line):
    """Where very many jobs wait, a change is not lost, and the server hears of the next."""
    await lab("PUT", "prices/one.md", text("Snow in Malmö."), taken_in=False)
    await asyncio.sleep(1.5)
    queued.set()
    await until(lambda: not service.index_pool.waiting)
    assert watched.count() == 3
    await lab("PUT", "prices/two.md", text("Ferry to Rügen."))
    assert watched.count() == 5


async def test_what_was_taken_in_is_told(ask, lab, watched, heard, until):
    """Subscribers hear how many changes reached the store, once they are found as they are now; of others, nothing."""
    told = heard("changes", lambda: found(ask, "snow carrier"))
    await lab("PUT", "elsewhere.md", text("Not watched."), taken_in=False)
    for verb, path, body, there, gone in (
        ("PUT", "prices/ü.md", text("The carrier blames the snow in Malmö."), {"ü.md"}, {"λ.md"}),
        ("PATCH", "prices/ü.md", {"path": "prices/λ.md"}, {"λ.md"}, {"ü.md"}),
        ("DELETE", "prices/λ.md", None, set(), {"ü.md", "λ.md"}),
    ):
        await lab(verb, path, body)
        await until(lambda: told and there <= set(told[-1][1]) and gone.isdisjoint(told[-1][1]))  # noqa: B023
    assert all(set(data) == {"changes"} and data["changes"] > 0 for data, _ in told)
    assert (told[0][0]["changes"], "ü.md" in told[0][1], len(told) in (3, 4)) == (1, True, True)
