"""What a request may have looked at, and where a memory opens: what the contents manager of this Lab shows."""

import json

import pytest

from jupyter_memory import MemoryStore

ALLOW = "c.JupyterMemoryServer.allow_outside_root = True"


WIDE = {"JupyterMemoryServer": {"allow_outside_root": True}}
ALL = {"ContentsManager": {"allow_hidden": True}}
DATABASE = {"ServerApp": {"contents_manager_class": "jupyter_server.services.contents.manager.ContentsManager"}}


def with_settings(*settings):
    return pytest.mark.parametrize("jp_server_config", settings, indirect=True)


@pytest.fixture
def jp_root_dir(tmp_path, request):
    """Lab's folder, a link if that is its name, with a notebook, a text and a hidden file in it."""
    folder = tmp_path / getattr(request, "param", "lab")
    if folder.name == "link":
        (tmp_path / "Büro").mkdir()
        folder.symlink_to(tmp_path / "Büro", target_is_directory=True)
    for name in ("prices/Zürich λ.ipynb", "notes.md", ".ipynb_checkpoints/notes-checkpoint.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}" if name.endswith("ipynb") else "λ", encoding="utf-8")
    return folder


@pytest.fixture
def place(ask):

    async def place(source, **more):
        return (await ask("add", {"text": "λ is 3.2", "kind": "file", "source": str(source), **more})).json["place"]

    return place


@pytest.fixture
def elsewhere(tmp_path):
    """A folder beside Lab's, with a document and a hidden one."""
    folder = tmp_path / "elsewhere"
    (folder / ".keys").mkdir(parents=True)
    (folder / "tariffs.md").write_text("# Tariffs\n\nThe λ of the tariffs in Zürich.", encoding="utf-8")
    (folder / ".keys" / "hidden.md").write_text("# Keys\n\nThe μ of the keys.", encoding="utf-8")
    return folder


async def test_a_path_elsewhere_is_refused_and_says_which_setting_allows_it(ask, elsewhere):
    """Whether it exists or not, the answer is the same, and no job begins."""
    paths = (str(elsewhere), f"/{elsewhere}", f"{elsewhere}/nothing", "~/.ssh", "../elsewhere")
    answers = [await ask("index", {"path": path}) for path in paths]
    [(code, reason, message)] = {(one.code, one.json["reason"], one.json["message"]) for one in answers}
    assert (code, reason) == (400, "InvalidField")
    assert "outside" in message and message.rstrip(".").endswith(ALLOW)
    assert (await ask("jobs")).json == {"jobs": []}


@with_settings(WIDE)
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
    assert (await ask("status")).json["store"]["files"] == 2


async def test_a_folder_that_was_indexed_elsewhere_is_found_and_not_looked_at(ask, elsewhere, store_file):
    """It is searched, unwatched and removed; indexing, watching and counting its changes need the setting."""
    store_file.parent.mkdir(exist_ok=True)
    with MemoryStore(store_file, "static") as store:
        store.index(elsewhere, progress=False)
    where = str(elsewhere)
    (elsewhere / "tariffs.md").write_text("# Tariffs\n\nIn francs, λ.", encoding="utf-8")
    answer = (await ask("search", {"query": "tariffs in Zürich"})).json
    assert answer["hits"][0]["source"] == f"{where}/tariffs.md"
    assert answer["places"][0]["changed"] is False
    [folder] = (await ask("folders")).json["folders"]
    assert (folder["path"], folder["changed"]) == (where, None)
    for refused in [await ask("index", {"path": where}), await ask("folders", {"path": where, "watched": True})]:
        assert (refused.code, ALLOW in refused.json["message"]) == (400, True)
    assert (await ask("folders", {"path": where, "watched": False})).json["folders"][0]["watched"] is False
    assert (await ask("folders", {"path": where, "remove": True})).json == {"folders": []}


@with_settings({}, ALL)
async def test_no_answer_tells_what_exists_elsewhere(ask, place, week_in, elsewhere, jp_root_dir):
    """Watching, unwatching and notes that name a source say the same of what is there and of what is not."""
    for watched in (True, False):
        answers = [await ask("folders", {"path": f"{elsewhere}{name}", "watched": watched}) for name in ("", "-not")]
        [(code, _)] = {(answer.code, answer.json["message"]) for answer in answers}
        assert code == 400
    folders = (elsewhere, f"{jp_root_dir}/../elsewhere")
    places = [await place(f"{folder}/{name}") for folder in folders for name in ("tariffs.md", "nothing.md")]
    assert places == [places[0]] * 4
    assert places[0]["closed"] == "It lies outside the folder that this Lab shows."


@pytest.mark.parametrize("jp_root_dir", ["lab", ".lab", "link"], indirect=True)
async def test_a_file_below_the_root_opens_by_its_path_there(ask, place, queued, jp_root_dir):
    """Contents paths are relative, with slashes; a root that is hidden or a link is the folder that it leads to."""
    for folder in (jp_root_dir, jp_root_dir.resolve()):
        opened = await place(folder / "prices" / "Zürich λ.ipynb")
        assert (opened["path"], opened["closed"]) == ("prices/Zürich λ.ipynb", None)
    assert (await ask("index", {"path": "notes.md"})).json["path"] == str(jp_root_dir.resolve() / "notes.md")


async def test_what_cannot_be_opened_says_why(ask, place, jp_root_dir, tmp_path):
    """Gone, elsewhere, beside a folder whose name begins alike, hidden, in no file, of another drive of Lab."""
    for path in (tmp_path / "other.md", tmp_path / "lab-old" / "notes.md"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("λ", encoding="utf-8")
    for source, said in (
        (jp_root_dir / "gone.md", "gone"), (jp_root_dir / "RTC:notes.md", "gone"), (tmp_path / "other.md", "outside"),
        (tmp_path / "lab-old" / "notes.md", "outside"),
        (jp_root_dir / ".ipynb_checkpoints" / "notes-checkpoint.md", "hidden"), ("", "no file"),
        ("https://elsewhere.example/a", "no file"),
    ):  # fmt: skip
        opened = await place(source)
        assert opened["path"] is None and said in opened["closed"], source


IN_LAB = {
    **dict.fromkeys(("prices", "./prices//", "x/../prices/.", "{lab}/prices"), "lab/prices"),
    **dict.fromkeys(("/{lab}//x/../prices/", "{lab}/../linked/prices"), "lab/prices"),
    **dict.fromkeys(("", "/", "//", ".", "{lab}", "{lab}/prices/.."), "lab"),
    # A link is followed wherever it leads; `..` after it is that of the path, not of where it led to.
    **{path: f"lab/{path}" for path in ("to-disk", "to-disk/λ.md")},
    "to-disk/../notes.md": "lab/notes.md",
    "loop/x": "nothing at this path",
    # Parts of names, however they look; and what is no name.
    **{name: f"lab/{name}" for name in ("a\\..\\b", "%2e%2e", "~draft")},
    "a" * 4_000: "nothing at this path",
    **dict.fromkeys(("a\0b", "/etc\0/..", "\ud800.md"), "no file has this name"),
    **dict.fromkeys(("..", "/..", "//..", "/.", "~", "~/.ssh", "/srv/notes", "//srv/notes"), ALLOW),
    **dict.fromkeys(("prices/../../other", "../lab-old", "/etc/passwd", "{lab}/../disk"), ALLOW),
    **dict.fromkeys((".ipynb_checkpoints", "prices/.x/λ.md"), "c.ContentsManager.allow_hidden = True"),
}
ELSEWHERE = {
    **dict.fromkeys(("/srv/data/../nötes", "//srv/./nötes/", "~/nötes"), "nothing at this path"),
    "{lab}/../disk/../disk/.": "disk",
    "../lab-old": "outside",
    **dict.fromkeys(("~/.ssh", "/srv/.x/a"), "c.ContentsManager.allow_hidden = True"),
}


@pytest.mark.parametrize(
    ("jp_server_config", "paths"),
    [
        ({}, IN_LAB),
        (WIDE, ELSEWHERE),
        (ALL, {".ipynb_checkpoints": "lab/.ipynb_checkpoints"}),
        (WIDE | ALL, {"/srv/.x/a": "nothing at this path"}),
        (DATABASE, {"prices": "must be an absolute path", "": "must be an absolute path", "/srv/nötes": "outside"}),
        (DATABASE | WIDE, {"{lab}": "lab"}),
    ],
    indirect=["jp_server_config"],
)
async def test_paths_to_index(ask, queued, jp_root_dir, tmp_path, paths):
    """A contents path lies below the root, an absolute one may name the same files, others need a setting."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "λ.md").write_text("λ", encoding="utf-8")
    (tmp_path / "linked").symlink_to(jp_root_dir, target_is_directory=True)
    (jp_root_dir / "to-disk").symlink_to(tmp_path / "disk", target_is_directory=True)
    (jp_root_dir / "loop").symlink_to(jp_root_dir / "loop")
    for name in ("a\\..\\b", "%2e%2e", "~draft"):
        (jp_root_dir / name).mkdir()
    for path, expected in paths.items():
        answered = await ask("index", {"path": path.replace("{lab}", str(jp_root_dir))})
        if answered.code == 200:
            assert answered.json["path"] == str(tmp_path / expected), path
        else:
            assert (answered.code, answered.json["reason"]) == (400, "InvalidField"), path
            assert expected in answered.json["message"], path


def test_the_settings_name_the_folder_of_a_manager_that_joins_several(
    jp_configurable_serverapp, jp_server_config, jp_root_dir, tmp_path
):
    """What jupyter-fs and its like show has no folder that can be asked for; the settings name it, or a link to it."""
    (tmp_path / "linked").symlink_to(jp_root_dir, target_is_directory=True)
    server = jp_server_config["ServerApp"] | DATABASE["ServerApp"]
    named = {"JupyterMemoryServer": {"root": str(tmp_path / "linked")}}
    app = jp_configurable_serverapp(config={**jp_server_config, "ServerApp": server, **named})
    assert app.web_app.settings["jupyter_memory_service"].root.folder == str(jp_root_dir)


@with_settings(DATABASE)
async def test_a_manager_without_a_folder_opens_nothing(place, jp_root_dir):
    """A contents manager that keeps its files in a database has no folder of this machine."""
    assert (await place(jp_root_dir / "notes.md"))["path"] is None


async def test_a_note_made_of_a_cell_opens_at_that_cell(place):
    made = await place("", kind="note", metadata={"from": {"path": "prices/Zürich λ.ipynb", "cell": "a1-b2"}})
    assert (made["path"], made["cell"], made["line"]) == ("prices/Zürich λ.ipynb", "a1-b2", None)
    nowhere = ["prices", None, *({"path": path} for path in (7, "", "a\0b.md", "~nobody-here/a.md", "../../a.md"))]
    for one in nowhere:
        assert (await place("", kind="note", metadata={"from": one}))["path"] is None


async def test_cell_index_or_line(ask, over, jp_root_dir):
    """A cell is found by its id, else by its index; a text by its line; a note stands nowhere."""
    cell = {"cell_type": "code", "source": "λ_orders = 3", "metadata": {}, "outputs": [], "execution_count": None}
    for name, cells, minor in (("ids", [cell | {"id": "a1-b2"}], 5), ("none", [cell], 4)):
        whole = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": minor}
        (jp_root_dir / f"{name}.ipynb").write_text(json.dumps(whole), encoding="utf-8")
    (jp_root_dir / "lines.md").write_text("λ_orders of shops.\n", encoding="utf-8")
    await ask("add", {"text": "λ_orders is a note"})
    await ask("index", {"path": ""})
    await over()
    places = (await ask("search", {"query": '"λ_orders"'})).json["places"]
    found = {(one["path"], one["cell"], one["index"], one["line"]) for one in places if one["path"] != "notes.md"}
    assert found == {
        ("ids.ipynb", "a1-b2", 0, None),
        ("none.ipynb", None, 0, None),
        ("lines.md", None, None, 1),
        (None, None, None, None),
    }
    assert {one["begins"] for one in places if one["path"] == "ids.ipynb"} == {"λ_orders = 3"}
