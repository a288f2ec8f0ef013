"""What a request may have looked at: what the contents manager shows, and paths elsewhere only with the setting."""

from __future__ import annotations

import pytest

from jupyter_memory.store import MemoryStore

ALLOW = "c.JupyterMemoryServer.allow_outside_root = True"


@pytest.fixture
def jp_server_config(jp_server_config, request):
    """The usual server; ``indirect`` parameters are its settings ``JupyterMemoryServer``."""
    return {**jp_server_config, "JupyterMemoryServer": getattr(request, "param", {})}


@pytest.fixture
def elsewhere(tmp_path):
    """A folder beside Lab's, with a document and a hidden one."""
    folder = tmp_path / "elsewhere"
    (folder / ".keys").mkdir(parents=True)
    (folder / "tariffs.md").write_text("# Tariffs\n\nThe λ of the tariffs in Zürich.", encoding="utf-8")
    (folder / ".keys" / "hidden.md").write_text("# Keys\n\nThe μ of the keys.", encoding="utf-8")
    return folder


@pytest.fixture
def indexed_elsewhere(elsewhere, store_file):
    """The same folder, indexed by a program of this machine."""
    store_file.parent.mkdir(exist_ok=True)
    with MemoryStore(store_file, "static") as store:
        store.index(elsewhere, progress=False)
    return elsewhere


async def test_a_path_elsewhere_is_refused_and_says_which_setting_allows_it(ask, elsewhere):
    """Whether it exists or not, the answer is the same, and no job begins."""
    answers = {
        (refused.code, refused.json["reason"], refused.json["message"])
        for path in (
            str(elsewhere),
            f"/{elsewhere}",
            f"{elsewhere}/nothing",
            "/..",
            "//..",
            "~/.ssh",
            "~",
            "../elsewhere",
        )
        for refused in [await ask("index", {"path": path})]
    }
    [(code, reason, message)] = answers
    assert (code, reason) == (400, "InvalidField")
    assert "outside" in message and message.rstrip(".").endswith(ALLOW)
    assert (await ask("jobs")).json == {"jobs": []}


@pytest.mark.parametrize("jp_server_config", [{"allow_outside_root": True}], indirect=True)
async def test_the_setting_allows_it(ask, over, elsewhere):
    """A folder of elsewhere is indexed by one name, however it is written; hidden ones stay refused."""
    for path in (str(elsewhere), f"/{elsewhere}/", f"{elsewhere}/../elsewhere/."):
        assert (await ask("index", {"path": path, "watch": True})).json["path"] == str(elsewhere)
        await over()
    hidden = await ask("index", {"path": f"{elsewhere}/.keys"})
    assert (hidden.code, "allow_hidden" in hidden.json["message"]) == (400, True)
    [folder] = (await ask("folders")).json["folders"]
    assert (folder["path"], folder["files"], folder["changed"]) == (str(elsewhere), 1, 0)


async def test_hidden_folders_are_refused_and_hidden_files_left_out(ask, over, jp_root_dir):
    """As in Lab's file browser, also through a link to a hidden file."""
    (jp_root_dir / ".secret").mkdir()
    for name in (".secret/a.md", ".b.md", "c.md"):
        (jp_root_dir / name).write_text(f"# {name}\n\nThe λ of {name}.", encoding="utf-8")
    (jp_root_dir / "d.md").symlink_to(jp_root_dir / ".secret" / "a.md")
    for path in (".secret", ".secret/a.md", ".b.md", f"{jp_root_dir}/.secret", "x/../.b.md", ".not-there"):
        refused = await ask("index", {"path": path})
        assert (refused.code, "hidden" in refused.json["message"]) == (400, True)
    await ask("index", {"path": ""})
    await over()
    assert (await ask("status")).json["store"]["files"] == 1


async def test_a_folder_that_was_indexed_elsewhere_is_found_and_not_looked_at(ask, indexed_elsewhere):
    """It is searched, unwatched and removed; indexing, watching and counting its changes need the setting."""
    where = str(indexed_elsewhere)
    (indexed_elsewhere / "tariffs.md").write_text("# Tariffs\n\nIn francs, λ.", encoding="utf-8")
    answer = (await ask("search", {"query": "tariffs in Zürich"})).json
    assert answer["hits"][0]["source"] == f"{where}/tariffs.md"
    assert answer["places"][0]["changed"] is False
    [folder] = (await ask("folders")).json["folders"]
    assert (folder["path"], folder["changed"]) == (where, None)
    for refused in [await ask("index", {"path": where}), await ask("folders", {"path": where, "watched": True})]:
        assert (refused.code, ALLOW in refused.json["message"]) == (400, True)
    assert (await ask("folders", {"path": where, "watched": False})).json["folders"][0]["watched"] is False
    assert (await ask("folders", {"path": where, "remove": True})).json == {"folders": []}


async def test_no_answer_tells_what_exists_elsewhere(ask, week_in, elsewhere):
    """Watching, unwatching and notes that name a source say the same of what is there and of what is not."""
    for body in ({"watched": True}, {"watched": False}):
        told = {
            (answer.code, answer.json["message"])
            for name in ("", "-not-there")
            for answer in [await ask("folders", {"path": f"{elsewhere}{name}", **body})]
        }
        assert len(told) == 1 and told.pop()[0] == 400
    places = []
    for name in ("tariffs.md", "nothing.md"):
        note = (await ask("add", {"text": f"λ {name}", "kind": "file", "source": f"{elsewhere}/{name}"})).json
        places.append({**note["place"], "begins": ""})
    assert places[0] == places[1]
