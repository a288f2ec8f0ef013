"""Windows, as far as it can be tried elsewhere: its paths written by hand, its line ends, its code page, its locks."""

from __future__ import annotations

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

from jupyter_memory import MemoryStore
from jupyter_memory.storage import open_storage
from jupyter_memory.text import is_at_or_below, is_from_root
from jupyter_memory.types import Draft, Filters

HOME = PureWindowsPath(r"C:\Users\Ada Müller")
SHARE = PureWindowsPath(r"\\server\week")


@pytest.fixture
def storage(tmp_path):
    with closing(open_storage(tmp_path / "memory.sqlite", busy_seconds=5)) as opened:
        yield opened


@pytest.fixture
def store(tmp_path):
    with MemoryStore(tmp_path / "memory.sqlite") as opened:
        yield opened


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


def texts(store):
    return {hit.memory.text.strip() for hit in store.browsed(limit=9).hits}


def test_line_ends(tmp_path: Path, store: MemoryStore) -> None:
    """CR LF is a line end like any other: texts, line numbers and ids are those of the file with LF."""
    text = "# Prices\n\nWe scaled them.\n\n\ndef fit(x):\n    return x\n"
    for name, ends in (("unix.md", "\n"), ("windows.md", "\r\n"), ("unix.py", "\n"), ("windows.py", "\r\n")):
        (tmp_path / name).write_bytes(text.replace("\n", ends).encode())
        store.index(tmp_path / name, progress=False)
    found = {Path(hit.memory.source).name: hit.memory for hit in store.browsed(limit=9).hits}
    assert "\r" not in "".join(memory.text for memory in found.values())
    for ending in ("md", "py"):
        unix, windows = found[f"unix.{ending}"], found[f"windows.{ending}"]
        assert (unix.text, unix.place()) == (windows.text, windows.place())
        assert (unix.content_hash == windows.content_hash) is (unix.title == windows.title)


def test_a_file_that_another_program_keeps_open(
    tmp_path: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is locked is named with the reason, the rest is indexed, and what was remembered of it stays."""
    folder, read, names = tmp_path / "week", Path.read_bytes, ("locked.md", "free.md")
    folder.mkdir()
    for more in ("", " again"):
        for name in names:
            (folder / name).write_text(f"# {name}{more}\n", encoding="utf-8")
        if not more:
            store.index(folder, progress=False)

    def as_on_windows(path: Path) -> bytes:
        if path.name == "locked.md":
            raise PermissionError(13, "The process cannot access the file because another process is using it")
        return read(path)

    with monkeypatch.context() as locked:
        locked.setattr(Path, "read_bytes", as_on_windows)
        report = store.index(folder, progress=False)
    assert [Path(path).name for path, why in report.failed if "another process" in why] == ["locked.md"]
    assert texts(store) == {"# locked.md", "# free.md again"}
    store.index(folder, progress=False)
    assert texts(store) == {"# locked.md again", "# free.md again"}


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
