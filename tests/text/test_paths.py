"""Paths as people, Windows and Macs write them, Windows' line ends and locks, and addresses of stores."""

import json
import os
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path, PureWindowsPath
from unicodedata import normalize

import pytest
from blocked import run_without
from commands import PROGRAM
from contract import add, everything, read_file, seen
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory import InputError, MemoryStore
from jupyter_memory.storage import open_storage
from jupyter_memory.text import DatabaseAddress, called_before, is_at_or_below, is_from_root, normal, store_at
from jupyter_memory.types import Draft, Filters


@pytest.mark.parametrize("written", ["//a/b", "///a//b/", "/a/./b", "/a/c/../b/.", "/../a/b", "//..//a/b"])
def test_one_spelling(written):
    assert str(normal(written)) == "/a/b"


def test_characters_that_are_only_characters():
    """Backslashes and percent signs are parts of names; a NUL is part of none."""
    for name in ("/a\\..\\b", "/%2e%2e/b", "/a/~/b", "/a/.../b"):
        assert str(normal(name)) == name
    with pytest.raises(InputError, match="NUL"):
        normal("/a\0/../b")


def test_an_empty_path(store, tmp_path, monkeypatch):
    """An empty path, as an unset variable leaves it, is refused, and is not taken for the folder one is in."""
    (tmp_path / "müller.md").write_text("λ is 0.3")
    monkeypatch.chdir(tmp_path)
    memory = store()
    for what in (memory.index, memory.backup, memory.watch, memory.remove_folder):
        with pytest.raises(InputError, match="The path is empty"):
            what("")
    assert memory.folders() == [] and memory.stats()["memories"] == 0
    assert memory.index(".", progress=False).files == 1


def test_a_folder_in_another_case(store, tmp_path):
    """Each part of a path is written as its folder lists it, where the system takes both for one; else as typed."""
    folder = tmp_path / "Zürich"
    folder.mkdir()
    there, other = folder / "preise.md", tmp_path / "ZÜRICH" / "PREISE.md"
    there.write_text("prices in Zürich are net")
    opened = store()
    opened.index(folder, progress=False)
    assert normal(there) == there and normal(folder / "neu.md") == folder / "neu.md"
    assert normal(other) == (there if other.exists() else other)
    if other.exists():
        assert opened.index(other.parent, progress=False).unchanged == 1 and opened.stats()["memories"] == 1


def test_a_folder_that_a_link_leads_into(tmp_path):
    """What lies in a known folder keeps its name, though a known link leads there, too; else the link's name counts."""
    data, link, other = tmp_path / "data λ", tmp_path / "ln", tmp_path / "other"
    (data / "notes" / "week").mkdir(parents=True)
    other.mkdir()
    link.symlink_to(data / "notes")
    (data / "aside").symlink_to(other)
    for known in ([str(link), str(data)], [str(data), str(link)]):
        for folder in (data / "notes", link, link / "week"):
            assert called_before(folder / "new.md", known) == folder / "new.md"
    assert called_before(data / "notes" / "new.md", [str(link)]) == link / "new.md"
    assert called_before(data / "aside" / "new.md", [str(data), str(other)]) == other / "new.md"


@pytest.fixture
def unpacked(store, tmp_path):
    """A store that indexed a folder from a Mac's zip, in a folder of this machine."""
    folder = tmp_path / normalize("NFC", "für Jürgen") / normalize("NFD", "Zürich")
    folder.mkdir(parents=True)
    (folder / normalize("NFD", "größe.md")).write_text("The λ of each size")
    (folder / "plain.md").write_text("Nothing of that λ")
    memory = store()
    memory.index(folder.parent, progress=False)
    return memory


@pytest.fixture
def typed(tmp_path):
    return lambda name: normalize("NFC", str(tmp_path / "für Jürgen" / "Zürich" / name))


def test_a_name_from_a_mac_is_filtered_by(unpacked, typed):
    """A path typed on this machine fits the file whose letters are in the other form, alone and among a thousand."""
    path, many = typed("größe.md"), [f"/elsewhere/ü{i}.md" for i in range(999)]
    for wanted in (path, [*many, path], ["/".join(["ü"] * 40), path]):  # of 40 names not all combinations are tried
        for found in (unpacked.hits("λ", filters={"path": wanted}), unpacked.browsed(filters={"path": wanted})):
            assert [hit.memory.text for hit in found.hits] == ["The λ of each size"]
        [other] = unpacked.hits("λ", filters={"not_path": wanted}).hits
        assert other.memory.text == "Nothing of that λ"
    assert len(unpacked.hits("λ", filters={"path": typed("")}).hits) == 2
    assert len(unpacked.hits(f'path:"{path}" λ').hits) == 1


def test_a_name_from_a_mac_is_indexed_and_forgotten(unpacked, tmp_path, typed):
    """A folder is indexed and a file forgotten by the name as it is typed, also when it is deleted already."""
    report = unpacked.index(typed(""), progress=False)
    assert (report.unchanged, report.files) == (2, 0)
    assert unpacked.forget(source=typed("größe.md")) == 1
    next(tmp_path.rglob("plain.md")).unlink()
    assert unpacked.forget(source=typed("plain.md")) == 1


SECRET = "pä5s/w?rd"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("postgresql://host/team", None),
        ("postgres://ada@host:5433/team", "postgresql://ada@host:5433/team"),
        ("POSTGRESQL://host/team", "postgresql://host/team"),
        ("postgresql://a,b:5432,[::1]:5433/team?sslmode=verify-full", None),
        ("postgresql:///team?host=%2Frun%2Fpg&user=ada%40lab", None),
        ("postgresql://?service=lab", None),
        ("postgresql://ada:@/team?host=/run/pg", "postgresql://ada@/team?host=/run/pg"),
        (" postgresql://host/team\n", "postgresql://host/team"),
    ],
)
def test_urls_of_postgresql_are_taken_as_libpq_does(written, read):
    """Both schemes, several hosts, sockets and service files; the same database has one spelling of its scheme."""
    assert store_at(written) == DatabaseAddress(read or written)
    assert store_at(store_at(written)) == store_at(written)


@pytest.mark.parametrize("written", ["mysql://host/team", "sqlite:///a.sqlite", "http://host", "file:///a", "S3://b/c"])
def test_other_urls_are_refused_and_no_folder_is_made(written, tmp_path, monkeypatch):
    """The error names the scheme and what to write instead."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"(?s)neither.*path.*postgresql://USER@HOST/DATABASE"):
        store_at(written)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "written",
    [
        f"postgresql://ada:{SECRET}@host/team", f"postgres://:{SECRET}@host/team",
        f"postgresql://host/team?password={SECRET}",
        f"postgresql://host/team?sslmode=require&PassWord={SECRET}",
        f"postgresql://host/team?%70assword={SECRET}", f"postgresql://host/team?sslpassword={SECRET}",
        f"postgresql://ada:{SECRET}@a,b/team", f"postgresql://ada:{SECRET}", f"mysql://ada:{SECRET}@host/team",
        f" postgresql://ada:{SECRET}@host/team", f"\n\tpostgresql://ada:{SECRET}@host/team",
        f"host=db dbname=team password={SECRET}", f" PassWord = '{SECRET}' host=db",
        f"gssencmode=disable password={SECRET}",
    ],
)  # fmt: skip
def test_a_url_with_a_password_is_refused_and_not_repeated(written):
    """Wherever the password is, also where it hides in a URL that is spelt wrongly, the error does not show it."""
    with pytest.raises(InputError) as raised:
        store_at(written)
    assert SECRET[:3] not in str(raised.value)


@given(st.text(st.sampled_from("abc:/@?&=%,.[]1"), max_size=20))
def test_whatever_is_accepted_has_no_user_with_a_password(rest):
    """No URL that is accepted has a colon before an at sign, where libpq reads a password."""
    try:
        url = store_at(f"postgresql://{rest}")
    except InputError:
        return
    user, at, _ = str(url).removeprefix("postgresql://").partition("@")
    assert not at or ":" not in user or "?" in user


def test_a_path_is_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a:b.sqlite", "C://b.sqlite", "./host=a/b.sqlite", "ghost=a.sqlite", Path("notes/a.sqlite")):
        assert store_at(name) == tmp_path / name
    with pytest.raises(InputError, match="as a string"):
        store_at(Path("postgresql://host/team"))


HOME = PureWindowsPath(r"C:\Users\Ada Müller")
SHARE = PureWindowsPath(r"\\server\week")


@pytest.fixture
def storage(tmp_path):
    with closing(open_storage(tmp_path / "memory.sqlite", busy_seconds=5)) as opened:
        yield opened


@pytest.fixture
def memory(store):
    return store()


@pytest.mark.parametrize("folder", [HOME, SHARE, PureWindowsPath("D:\\")], ids=str)
def test_what_lies_in_a_folder(storage, folder) -> None:
    """Names decide as pathlib does, for drives, shares and roots; a name that only begins alike is outside."""
    within, beside = folder / "week" / "λ.ipynb", PureWindowsPath(f"{folder}2") / "a.md"
    assert is_at_or_below(str(within), str(folder)) is within.is_relative_to(folder) is True
    assert is_at_or_below(str(folder), str(folder))
    assert is_from_root(str(within)) and not is_from_root("week") and not is_from_root("https://week")
    if folder.name:
        assert is_at_or_below(str(beside), str(folder)) is beside.is_relative_to(folder) is False
    other = PureWindowsPath(r"E:\a.md") if folder.name == "" else beside
    add(storage, Draft(text="λ", source=str(within)), Draft(text="μ", source=str(other)))
    assert [one.text for one in everything(storage, path=(str(folder),))] == ["λ"]


def test_forms_of_letters_are_those_of_each_name(storage) -> None:
    """A backslash separates names, so that each may have its own form."""
    add(storage, Draft(text="λ", source=str(HOME / normalize("NFD", "größe.md"))))
    assert [one.text for one in everything(storage, path=(str(HOME / "größe.md"),))] == ["λ"]


def test_files_and_folders_of_a_store(storage) -> None:
    """A folder has its files, filters and forgetting reach below it, and a folder beside it is left alone."""
    week, other = HOME / "week", HOME / "week2"
    for folder in (week, other):
        read_file(storage, "fit(λ)", path=str(folder / "a.ipynb"))
        storage.writer.note_folder(str(folder), "", datetime(2026, 3, 6, tzinfo=UTC))
    storage.writer.note_folder(str(week / "below"), "", datetime(2026, 3, 6, tzinfo=UTC))
    assert list(seen(storage, lambda snapshot: snapshot.files_under(str(week), ""))) == [str(week / "a.ipynb")]
    assert seen(storage, lambda snapshot: snapshot.folder_above(str(week / "b" / "c.md"), "")) == str(week)
    assert {one.path for one in seen(storage, lambda snapshot: snapshot.folders(""))} == {str(week), str(other)}
    assert [one.source for one in everything(storage, path=(str(week),))] == [str(week / "a.ipynb")]
    assert storage.writer.rename(str(week), str(HOME / "month")) == 1
    assert storage.writer.forget(Filters(path=(str(HOME / "month"),))) == 1
    assert [one.source for one in everything(storage, path=(str(HOME),))] == [str(other / "a.ipynb")]


_NO_WAY = """
import os.path
def as_on_windows(path, start=None):
    raise ValueError("path is on mount 'D:', start on mount 'C:'")
os.path.relpath = as_on_windows
from jupyter_memory.dataframe import Place
print(Place(sys.argv[1], "c-1", "cell").href)
"""


def test_a_link_to_another_drive() -> None:
    """There is no relative path from one drive to another: the link begins at the root."""
    assert run_without((), _NO_WAY, "/week/λ.ipynb") == "file:///week/%CE%BB.ipynb#cell-id=c-1"


def texts(memory):
    return {hit.memory.text.strip() for hit in memory.browsed(limit=9).hits}


def test_line_ends(tmp_path: Path, memory: MemoryStore) -> None:
    """CR LF is a line end like any other: texts, line numbers and ids are those of the file with LF."""
    text = "# Prices\n\nWe scaled them.\n\n\ndef fit(x):\n    return x\n"
    for name, ends in (("unix.md", "\n"), ("windows.md", "\r\n"), ("unix.py", "\n"), ("windows.py", "\r\n")):
        (tmp_path / name).write_bytes(text.replace("\n", ends).encode())
        memory.index(tmp_path / name, progress=False)
    found = {Path(hit.memory.source).name: hit.memory for hit in memory.browsed(limit=9).hits}
    assert "\r" not in "".join(memory.text for memory in found.values())
    for ending in ("md", "py"):
        unix, windows = found[f"unix.{ending}"], found[f"windows.{ending}"]
        assert (unix.text, unix.place()) == (windows.text, windows.place())
        assert (unix.content_hash == windows.content_hash) is (unix.title == windows.title)


def test_a_file_that_another_program_keeps_open(
    tmp_path: Path, memory: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is locked is named with the reason, the rest is indexed, and what was remembered of it stays."""
    folder, read, names = tmp_path / "week", Path.read_bytes, ("locked.md", "free.md")
    folder.mkdir()
    for more in ("", " again"):
        for name in names:
            (folder / name).write_text(f"# {name}{more}\n", encoding="utf-8")
        if not more:
            memory.index(folder, progress=False)

    def as_on_windows(path: Path) -> bytes:
        if path.name == "locked.md":
            raise PermissionError(13, "The process cannot access the file because another process is using it")
        return read(path)

    with monkeypatch.context() as locked:
        locked.setattr(Path, "read_bytes", as_on_windows)
        report = memory.index(folder, progress=False)
    assert [Path(path).name for path, why in report.failed if "another process" in why] == ["locked.md"]
    assert texts(memory) == {"# locked.md", "# free.md again"}
    memory.index(folder, progress=False)
    assert texts(memory) == {"# locked.md again", "# free.md again"}


def test_a_console_of_code_page_1252(tmp_path: Path) -> None:
    """What the console cannot show is written as in JSON; nothing fails, and --json is read back unchanged."""
    environment = {
        **os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "HOME": str(tmp_path),
        "JUPYTER_MEMORY_PATH": str(tmp_path / "m.sqlite"),
    }  # fmt: skip

    def run(*arguments):
        return subprocess.run([*PROGRAM, *arguments], env=environment, capture_output=True, check=True, timeout=60)

    run("add", "--title", "Größe", "λ is 0.3 in Łódź 🦭")
    shown = run("text", json.loads(run("search", "λ", "--json").stdout.decode("cp1252"))["hits"][0]["memory_id"])
    assert shown.stdout.decode("cp1252").strip() == r"\u03bb is 0.3 in \u0141ód\u017a \ud83e\uddad"
    found = json.loads(run("search", "Größe", "--json").stdout.decode("cp1252"))["hits"][0]
    assert (found["title"], found["snippet"]) == ("Größe", "λ is 0.3 in Łódź 🦭")
    assert sys.platform == "win32" or "Größe" in run("list").stdout.decode("cp1252")
