"""What Lab does to the files of a watched folder reaches the store, and a rename keeps what a memory is."""

from __future__ import annotations

import json

import pytest

from jupyter_memory.server import watcher as watcher_module
from jupyter_memory.server.events import CHANGES


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Take changes in after a moment of quiet."""
    monkeypatch.setattr(watcher_module, "QUIET", 0.01)


@pytest.fixture
def watched(notebook, service):
    """The notebook's folder, indexed and watched, in the server's store."""
    store = service.provider.store(create=True)
    store.index(notebook.parent, progress=False)
    store.watch(notebook.parent)
    return store


@pytest.fixture
def lab(jp_fetch, jp_serverapp, service, until):
    """Do to a file what Lab does, and wait until the store has heard of it."""

    async def lab(verb, path, body=None):
        options = {} if body is None else {"body": json.dumps(body)}
        await jp_fetch("api", "contents", *path.split("/"), method=verb, **options)
        events, watcher = jp_serverapp.event_logger, service.watcher
        await until(lambda: not events._active_listeners and watcher._timer is None and not service.index_pool.is_busy)

    return lab


def text(content):
    return {"type": "file", "format": "text", "content": content}


async def found(ask, query):
    answer = (await ask("search", {"query": query, "filters": {"kind": ["file", "cell"]}})).json
    return [hit["title"] for hit in answer["hits"]]


async def test_a_saved_file_is_found(ask, lab, watched):
    """A new note and its next version are searched as soon as they are saved."""
    await lab("PUT", "prices/ü.md", text("The carrier blames the snow in Malmö."))
    assert "ü.md" in await found(ask, "snow carrier")
    await lab("PUT", "prices/ü.md", text("The carrier blames the ferry to Trelleborg."))
    assert watched.hits("ferry Trelleborg").hits[0].memory.title == "ü.md"
    assert "snow" not in watched.hits("ferry Trelleborg").hits[0].memory.text


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


async def test_a_folder_that_is_known_by_a_link(ask, lab, notebook, service, tmp_path):
    """Lab names files by the folder that a link leads to: they keep the name by the link and their ids, found once."""
    link, store = tmp_path / "notes", service.provider.store(create=True)
    link.symlink_to(notebook.parent)
    store.index(link, progress=False)
    await ask("index", {"path": str(notebook.parent), "watch": True}, method="POST")
    await lab("PUT", "prices/ü.md", text("Snow in Malmö."))
    before = {hit.memory.id for hit in store.browsed(limit=10).hits}
    await lab("PATCH", "prices/orders.ipynb", {"path": "prices/λ.ipynb"})

    assert {hit.memory.id for hit in store.browsed(limit=10).hits} == before
    assert {hit.memory.source for hit in store.browsed(limit=10).hits} == {str(link / "ü.md"), str(link / "λ.ipynb")}
    assert [(folder.path, folder.watched) for folder in store.folders()] == [(str(link), True)]


async def test_a_renamed_folder_takes_its_files_along(ask, lab, watched, notebook, jp_root_dir):
    """A folder that moves within Lab stays watched, its memories the same."""
    before = {hit.memory.id for hit in watched.browsed(limit=10).hits}
    await lab("PATCH", "prices", {"path": "Preise"})
    after = {hit.memory.id: hit.memory.source for hit in watched.browsed(limit=10).hits}
    assert set(after) == before
    assert set(after.values()) == {str(jp_root_dir / "Preise" / "orders.ipynb")}
    assert [(folder.path, folder.watched) for folder in watched.folders()] == [(str(jp_root_dir / "Preise"), True)]


async def test_a_watched_folder_follows_the_folder_above_it(lab, watched, notebook, jp_root_dir):
    """What holds a watched folder may get another name: the titles follow, and nothing is left to index."""
    (jp_root_dir / "Büro").mkdir()
    notebook.parent.rename(jp_root_dir / "Büro" / "prices")
    watched.rename(notebook.parent, jp_root_dir / "Büro" / "prices")
    await lab("PATCH", "Büro", {"path": "office"})
    [folder] = watched.folders(compare=True)
    assert (folder.path, folder.watched) == (str(jp_root_dir / "office" / "prices"), True)
    assert (folder.memories, folder.changed) == (3, 0)


async def test_a_new_file_that_gets_its_name_at_once_is_found(ask, jp_fetch, lab, watched, monkeypatch):
    """Made, saved and renamed within a second, a note is one memory, and what was saved after it is found as well."""
    monkeypatch.setattr(watcher_module, "QUIET", 0.3)
    await jp_fetch("api", "contents", "prices", "Untitled.md", method="PUT", body=json.dumps(text("Ferry to Rügen.")))
    await jp_fetch("api", "contents", "prices", "Untitled.md", method="PATCH", body='{"path": "prices/~ferry λ.md"}')
    await jp_fetch("api", "contents", "prices", "brief.md", method="PUT", body=json.dumps(text("A brief life.")))
    await jp_fetch("api", "contents", "prices", "brief.md", method="DELETE")
    await lab("PUT", "prices/ü.md", text("Snow in Malmö."))
    files = {hit.memory.title for hit in watched.browsed(limit=10, filters={"kind": "file"}).hits}
    assert files == {"~ferry λ.md", "ü.md"}
    assert (await ask("search", {"query": "ferry Rügen"})).json["places"][0]["path"] == "prices/~ferry λ.md"


async def test_an_emptied_folder_is_watched_on(lab, watched, notebook):
    """The last file goes; the next one is heard of."""
    await lab("DELETE", "prices/orders.ipynb")
    assert watched.count() == 0
    await lab("PUT", "prices/ü.md", text("Snow in Malmö."))
    assert watched.count() == 1


async def test_a_deleted_file_is_forgotten_but_not_the_notes_about_it(lab, watched, notebook):
    """What was in the file goes with it; what a person wrote about it stays."""
    watched.add("The orders of March lack Genève.", source=str(notebook))
    await lab("DELETE", "prices/orders.ipynb")
    assert [hit.memory.text for hit in watched.browsed(limit=10).hits] == ["The orders of March lack Genève."]


async def test_a_copy_is_found_too(lab, watched, jp_fetch, notebook):
    """Duplicating a notebook in Lab gives memories of its own."""
    await lab("POST", "prices", {"copy_from": "prices/orders.ipynb"})
    sources = {hit.memory.source for hit in watched.browsed(limit=10).hits}
    assert sources == {str(notebook), str(notebook.with_name("orders-Copy1.ipynb"))}


@pytest.mark.parametrize(
    ("path", "ignored"),
    [("elsewhere.md", ""), ("prices/secret.md", "secret.md"), ("prices/table.csv", "")],
)
async def test_what_nobody_watches_or_wants_stays_out(lab, watched, notebook, path, ignored):
    """A file beside the folder, one that an ignore file names, one of an unknown kind: none is indexed."""
    (notebook.parent / ".jupytermemoryignore").write_text(ignored, encoding="utf-8")
    await lab("PUT", path, text("price of electricity, in secret"))
    assert watched.count() == 3


async def test_nothing_is_made_where_nothing_was_indexed(lab, service, store_file):
    """Saving a file makes no store."""
    await lab("PUT", "ü.md", text("λ"))
    assert not store_file.exists()


async def test_what_changes_while_a_folder_is_indexed_is_taken_in_at_once(jp_fetch, watched, service, until, queued):
    """However often files are saved meanwhile, one look at them waits, and finds them all."""
    for number in range(5):
        note = json.dumps(text(f"Snow of day {number} in Malmö."))
        await jp_fetch("api", "contents", "prices", f"λ {number % 3}.md", method="PUT", body=note)
        await until(lambda: len(service.watcher._pending) == number + 1)  # noqa: B023  it is awaited here
    assert service.index_pool.waiting == 1
    queued.set()
    await until(lambda: not service.index_pool.is_busy)
    texts = {hit.memory.text for hit in watched.browsed(limit=10, filters={"kind": "file"}).hits}
    assert texts == {f"Snow of day {number} in Malmö." for number in (2, 3, 4)}


async def test_changes_that_find_no_place_come_with_the_next(jp_fetch, watched, service, until, monkeypatch):
    """Where very many jobs wait, a change is not lost, and the server hears of the next."""
    with monkeypatch.context() as full:
        full.setattr(service.index_pool, "_waiting", 0)
        await jp_fetch("api", "contents", "prices", "one.md", method="PUT", body=json.dumps(text("Snow in Malmö.")))
        await until(lambda: service.watcher._pending)
    await jp_fetch("api", "contents", "prices", "two.md", method="PUT", body=json.dumps(text("Ferry to Rügen.")))
    await until(lambda: watched.count() == 5)


async def test_what_was_taken_in_is_told(ask, lab, watched, notebook, jp_root_dir, jp_serverapp, until):
    """Subscribers hear how many changes reached the store, once they are found as they are now; of others, nothing."""
    told = []

    async def listener(logger, schema_id, data):
        told.append((data, await found(ask, "snow carrier")))

    jp_serverapp.event_logger.add_listener(schema_id=CHANGES, listener=listener)
    # Nobody is told before somebody has asked for anything.
    await ask("status")
    await lab("PUT", "elsewhere.md", text("Not watched."))
    await lab("PUT", "prices/ü.md", text("The carrier blames the snow in Malmö."))
    await until(lambda: len(told) == 1)
    await lab("PATCH", "prices/ü.md", {"path": "prices/λ.md"})
    await until(lambda: len(told) == 2)
    await lab("DELETE", "prices/λ.md")
    await until(lambda: len(told) == 3)

    assert [set(data) for data, _ in told] == [{"changes"}] * 3
    assert [told[0][0]["changes"], told[1][0]["changes"] > 0, told[2][0]["changes"]] == [1, True, 1]
    assert ["ü.md" in titles for _, titles in told] == [True, False, False]
    assert "λ.md" in told[1][1] and "λ.md" not in told[2][1]


async def test_what_another_program_saves_is_found(ask, watched, notebook, until):
    """The server follows the watched folders itself, from the first time that the panel asks for its status."""
    await ask("status")
    (notebook.parent / "by_hand.md").write_text("The carrier blames the fog in Oslo.")

    await until(lambda: any(hit.memory.title == "by_hand.md" for hit in watched.hits("fog Oslo").hits))
