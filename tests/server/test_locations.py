"""Where a memory opens: absolute sources, as the contents manager of this Lab knows them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from jupyter_server.services.contents.filemanager import FileContentsManager
from jupyter_server.services.contents.manager import ContentsManager
from traitlets import TraitError

from jupyter_memory.server.client_errors import ClientError
from jupyter_memory.server.extension import JupyterMemoryServer, root_of
from jupyter_memory.server.locations import Root, place_of

FRESH = lambda source: False  # noqa: E731


@pytest.fixture
def root(tmp_path: Path) -> Root:
    """Lab's folder, with a notebook, a text and a hidden file in it."""
    for name in ("prices/Zürich λ.ipynb", "notes.md", ".ipynb_checkpoints/notes-checkpoint.md"):
        path = tmp_path / "lab" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("λ", encoding="utf-8")
    return Root(str(tmp_path / "lab"))


def test_a_file_below_the_root_opens_by_its_path_there(root):
    """Contents paths are relative, with slashes, whatever letters are in them."""
    assert root.contents_path(f"{root.folder}/prices/Zürich λ.ipynb") == ("prices/Zürich λ.ipynb", None)


def test_what_cannot_be_opened_says_why(root, tmp_path):
    """Gone, elsewhere, hidden, in no file: each has its sentence."""
    outside = tmp_path / "other.md"
    outside.write_text("λ", encoding="utf-8")
    reasons = [
        root.contents_path(source)
        for source in (
            f"{root.folder}/gone.md",
            str(outside),
            f"{root.folder}/.ipynb_checkpoints/notes-checkpoint.md",
            "",
            "https://elsewhere.example/a",
        )
    ]
    assert [path for path, _ in reasons] == [None] * 5
    for (_, reason), word in zip(reasons, ("gone", "outside", "hidden", "no file", "no file"), strict=True):
        assert word in str(reason)


def test_a_root_behind_a_link_is_the_same_folder(root, tmp_path):
    """Somebody's Lab may be started through a link to where the files are, or the other way round."""
    (tmp_path / "link").symlink_to(root.folder, target_is_directory=True)
    assert Root(str(tmp_path / "link")).contents_path(f"{root.folder}/notes.md") == ("notes.md", None)
    assert root.contents_path(str(tmp_path / "link" / "notes.md")) == ("notes.md", None)


def test_a_neighbour_whose_name_begins_alike_is_outside(root, tmp_path):
    """/lab-old is not below /lab."""
    (tmp_path / "lab-old").mkdir()
    (tmp_path / "lab-old" / "notes.md").write_text("λ", encoding="utf-8")
    assert root.contents_path(str(tmp_path / "lab-old" / "notes.md"))[0] is None


def test_paths_to_index_are_of_lab(root, tmp_path):
    """A contents path lies below the root, an empty one is the root; an absolute one may name the same files."""
    folder = Path(str(root.folder))
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    for path in (
        "prices",
        "./prices//",
        "x/../prices/.",
        f"{folder}/prices",
        f"/{folder}//x/../prices/",
        f"{tmp_path}/link/prices",
    ):
        assert root.admitted(path) == folder / "prices"
    for path in ("", "/", "//", ".", str(folder), f"{folder}/prices/.."):
        assert root.admitted(path) == folder


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "/..",
        "//..",
        "/.",
        "~",
        "~/.ssh",
        "/srv/notes",
        "//srv/notes",
        "prices/../../other",
        "../lab-old",
        "/etc/passwd",
    ],
)
def test_paths_elsewhere_need_the_setting(root, path):
    """What leads out of Lab's folder is refused with the name of the setting, whether it exists or not."""
    with pytest.raises(ClientError) as refused:
        root.admitted(path)
    assert "outside" in refused.value.message
    assert "c.JupyterMemoryServer.allow_outside_root = True" in refused.value.message
    assert not root.admits(path)


def test_the_setting_admits_absolute_paths(root):
    """With the setting a path of the machine is itself; a contents path still stays below the root."""
    wide = replace(root, outside=True)
    assert wide.admitted("/srv/data/../notes") == wide.admitted("//srv/./notes/") == Path("/srv/notes")
    assert wide.admitted("~/notes") == Path.home() / "notes"
    assert wide.admitted("/..") == Path("/")
    with pytest.raises(ClientError):
        wide.admitted("../lab-old")


def test_hidden_paths_follow_the_contents_manager(root):
    """They are refused inside Lab's folder and outside, unless the contents manager shows hidden files."""
    wide = replace(root, outside=True)
    for where, path in ((root, ".ipynb_checkpoints"), (root, "prices/.x/λ.md"), (wide, "~/.ssh"), (wide, "/srv/.x/a")):
        with pytest.raises(ClientError) as refused:
            where.admitted(path)
        assert "c.ContentsManager.allow_hidden = True" in refused.value.message
        assert replace(where, hidden=True).admits(path)


def test_a_root_in_a_hidden_folder_is_not_hidden(tmp_path):
    """Only what lies below the root counts, as for the contents manager."""
    (tmp_path / ".lab").mkdir()
    assert Root(str(tmp_path / ".lab")).admitted("notes.md") == tmp_path / ".lab" / "notes.md"


def test_a_link_in_the_root_is_shown_as_the_contents_manager_shows_it(root, tmp_path):
    """It is followed wherever it leads; ``..`` after it is that of the path, not of where it led to."""
    (tmp_path / "data").mkdir()
    folder = Path(str(root.folder))
    (folder / "link").symlink_to(tmp_path / "data", target_is_directory=True)
    (folder / "loop").symlink_to(folder / "loop")
    assert root.admitted("link/λ.md") == folder / "link" / "λ.md"
    assert root.admitted("link/../notes.md") == folder / "notes.md"
    assert root.admitted("loop/x") == folder / "loop" / "x"
    assert not root.admits(str(tmp_path / "data"))


def test_names_that_look_like_something_else(root):
    """A backslash, a percent sign and ``~name`` are parts of names; a NUL or half a character is none."""
    folder = Path(str(root.folder))
    for name in ("a\\..\\b", "%2e%2e", "~draft", "a" * 5_000):
        assert root.admitted(name) == folder / name
    for name in ("a\0b", "/etc\0/..", "\ud800.md"):
        with pytest.raises(ClientError) as refused:
            root.admitted(name)
        assert "no file has this name" in refused.value.message


def test_contents_paths_stay_below_the_root(root):
    """A name may begin like a home folder and is none."""
    assert root.admitted("~draft/λ.md") == root.within("~draft/λ.md") == Path(str(root.folder), "~draft/λ.md")
    assert Root("/").admitted("") == Path("/")
    assert Root("/").within("srv/notes") == Path("/srv/notes")


def test_a_source_with_dots_discloses_nothing(root, tmp_path):
    """A note may name any source: of a file that is elsewhere, nobody learns whether it exists."""
    (tmp_path / "there.md").write_text("λ", encoding="utf-8")
    shown = replace(root, hidden=True)
    said = {shown.contents_path(f"{root.folder}/../{name}.md") for name in ("there", "nowhere")}
    assert said == {(None, "It lies outside the folder that this Lab shows.")}


def test_only_a_contents_manager_of_files_shows_a_folder(tmp_path):
    """Every contents manager has a root_dir, also one whose files are no files; a link is what it leads to."""
    assert root_of(ContentsManager()).folder is None
    (tmp_path / "Büro").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "Büro", target_is_directory=True)
    manager = FileContentsManager(root_dir=str(tmp_path / "link"))
    assert root_of(manager).folder == str((tmp_path / "Büro").resolve())


def test_the_settings_name_the_folder_of_a_manager_that_joins_several(tmp_path):
    """What jupyter-fs and its like show has no folder that can be asked for; the settings can tell it."""
    (tmp_path / "Büro").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "Büro", target_is_directory=True)
    named = JupyterMemoryServer(root=str(tmp_path / "link")).root
    assert root_of(ContentsManager(), named).folder == str((tmp_path / "Büro").resolve())
    with pytest.raises(TraitError, match=r"JupyterMemoryServer\.root: .*nowhere is not a folder\. Name the one"):
        JupyterMemoryServer(root=str(tmp_path / "nowhere"))


def test_a_path_of_a_drive_that_is_not_ours_opens_nowhere(root):
    """Other drives of Lab write their name before a path; no file of this machine is taken for theirs."""
    assert root.within("RTC:notes.md") == Path(str(root.folder), "RTC:notes.md")
    assert root.contents_path(f"{root.folder}/RTC:notes.md")[0] is None


def test_without_a_folder_contents_paths_say_nothing():
    """A contents manager that keeps its files in a database has no folder of this machine."""
    assert Root(None, outside=True).admitted("/srv") == Path("/srv")
    for path in ("prices", "/srv"):
        with pytest.raises(ClientError):
            Root(None).admitted(path)
    assert Root(None).contents_path("/srv/notes.md")[0] is None


def test_a_note_made_of_a_cell_opens_at_that_cell(root, week_memories):
    """What the panel remembered from a notebook leads back to it; what others put there leads nowhere."""
    note = week_memories["Poisson λ"]
    made = replace(note, metadata={"from": {"path": "prices/Zürich λ.ipynb", "cell": "a1-b2"}})
    place = place_of(made, "1", root, FRESH)
    assert (place["path"], place["cell"], place["line"]) == ("prices/Zürich λ.ipynb", "a1-b2", None)
    nowhere = ["prices", None, *({"path": path} for path in (7, "", "a\0b.md", "~nobody-here/a.md", "../../a.md"))]
    for metadata in ({"from": place} for place in nowhere):
        assert place_of(replace(note, metadata=metadata), "1", root, FRESH)["path"] is None


@pytest.mark.parametrize(
    ("source", "stored", "shown", "expected"),
    [
        ("prices/Zürich λ.ipynb", "a1-b2", "a1-b2", ("a1-b2", None, None)),
        ("prices/Zürich λ.ipynb", "#7", "#7", (None, 7, None)),
        ("prices/Zürich λ.ipynb", "", "3", (None, None, None)),
        ("notes.md", "", "12", (None, None, 12)),
        ("notes.md", "", "", (None, None, None)),
        ("", "", "1", (None, None, None)),
    ],
)
def test_cell_index_or_line(root, week_memories, source, stored, shown, expected):
    """A cell is found by its id, else by its index; a text by its line; a note stands nowhere."""
    where = f"{root.folder}/{source}" if source else ""
    memory = replace(week_memories["Poisson λ"], source=where, location=stored)
    place = place_of(memory, shown, root, FRESH)
    assert (place["cell"], place["index"], place["line"]) == expected
    assert place["begins"] == memory.text
