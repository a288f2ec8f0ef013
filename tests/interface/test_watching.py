"""Following folders that other programs change."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep

import pytest
from programs import until

from jupyter_memory import InputError, MemoryStore
from jupyter_memory.interface import FolderWatch


@pytest.fixture
def memory(store: Callable[..., MemoryStore], tmp_path: Path) -> MemoryStore:
    """A store with one watched folder, which holds a note."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "one.md").write_text("The tariff of Zürich.\n")
    opened = store()
    opened.index(folder, progress=False)
    opened.watch(folder)
    return opened


@pytest.fixture
def threads() -> Iterator[Callable[..., FolderWatch]]:
    """Start threads that end with the test."""
    started: list[FolderWatch] = []

    def start(memory: MemoryStore, **options: object) -> FolderWatch:
        started.append(FolderWatch(lambda: memory, **options).start())  # type: ignore[arg-type]
        return started[-1]

    yield start
    for one in started:
        one.close()
        assert not one.runs


def sources(memory: MemoryStore) -> set[str]:
    return {Path(hit.memory.source).name for hit in memory.hits("kind:file", limit=200).hits}


def test_what_other_programs_do_is_remembered(memory, tmp_path, threads):
    folder = tmp_path / "notes"
    [first] = memory.hits("tariff").hits
    memory.update(first.memory.id, tags=["kept"])
    memory.pin(first.memory.id)
    applied: list[int] = []
    threads(memory, applied=applied.append)
    until(lambda: (tmp_path / "store" / ".memory.sqlite.watch").exists())

    (folder / "two.md").write_text("The fare of Malmö.\n")
    until(lambda: sources(memory) == {"one.md", "two.md"})
    (folder / "two.md").write_text("The ferry of Malmö.\n")
    until(lambda: any("ferry" in hit.memory.text for hit in memory.hits("ferry").hits))
    (folder / "one.md").rename(folder / "moved.md")
    until(lambda: sources(memory) == {"moved.md", "two.md"})
    moved = memory.get(first.memory.id)
    assert moved.source.endswith("moved.md") and moved.pinned and moved.tags == ("kept",)
    (folder / "two.md").unlink()
    until(lambda: sources(memory) == {"moved.md"})
    assert applied


def test_a_folder_that_is_watched_later_is_followed_too(memory, tmp_path, threads):
    """What happened before is found at the start; the list of folders is looked at again, within seconds."""
    (tmp_path / "notes" / "two.md").write_text("The fare of Malmö.\n")
    threads(memory)
    until(lambda: sources(memory) == {"one.md", "two.md"})
    other = tmp_path / "other"
    other.mkdir()
    memory.watch(other)
    (other / "three.md").write_text("The toll of Oslo.\n")
    until(lambda: "three.md" in sources(memory))


def test_hidden_ignored_and_unknown_files_are_left_alone(memory, tmp_path, threads):
    """Nor are they looked at: what git does in its folder wakes nobody."""
    folder = tmp_path / "notes"
    (folder / ".jupytermemoryignore").write_text("secret*\n")
    threads(memory)
    for name in (".git/objects/ab", ".hidden.md", "secret.md", "picture.xyz"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("The tariff of nobody.\n")
    (folder / "two.md").write_text("The fare of Malmö.\n")
    until(lambda: "two.md" in sources(memory))
    assert sources(memory) == {"one.md", "two.md"}


def test_a_folder_that_may_not_be_looked_at_is_not(memory, tmp_path, threads):
    """A server keeps to the folder that it shows."""
    (tmp_path / "notes" / "two.md").write_text("The fare of Malmö.\n")
    other = tmp_path / "shown"
    other.mkdir()
    memory.watch(other)
    threads(memory, admits=lambda path: path == str(other))
    (other / "three.md").write_text("The toll of Oslo.\n")
    until(lambda: "three.md" in sources(memory))
    assert "two.md" not in sources(memory)


HOLDER = """
import sys
from jupyter_memory import MemoryStore
from jupyter_memory.interface import FolderWatch
memory = MemoryStore(sys.argv[1])
FolderWatch(lambda: memory, say=lambda text: print("waits", flush=True)).run()
"""


def test_one_process_at_a_time_follows_and_another_takes_over_when_it_is_killed(memory, tmp_path, threads):
    """The system releases the lock of a process that dies, however it dies."""
    program = [sys.executable, "-c", HOLDER, str(memory.path)]
    other = subprocess.Popen(program)
    try:
        (tmp_path / "notes" / "two.md").write_text("The fare of Malmö.\n")
        until(lambda: "two.md" in sources(memory))  # only the other process can have done it
        said: list[str] = []
        thread = threads(memory, say=said.append)
        until(lambda: thread.waits)
        assert "takes over" in said[0]
        other.kill()
        other.wait()
        until(lambda: not thread.waits)
        (tmp_path / "notes" / "three.md").write_text("The toll of Oslo.\n")
        until(lambda: "three.md" in sources(memory))
    finally:
        other.kill()
        other.wait()


def test_many_changes_at_once_are_one_look_at_the_folder(memory, tmp_path, threads):
    """As after a checkout; renamed files keep their ids."""
    folder = tmp_path / "notes"
    for number in range(120):
        (folder / f"n{number}.md").write_text(f"Tariff number {number} of zone {number % 7}.\n")
    memory.index(folder, progress=False)
    ids = {hit.memory.text: hit.memory.id for hit in memory.hits("kind:file", limit=200).hits}
    threads(memory)
    until(lambda: (tmp_path / "store" / ".memory.sqlite.watch").exists())
    for number in range(120):
        (folder / f"n{number}.md").rename(folder / f"m{number}.md")
    until(lambda: all(name.startswith(("m", "o")) for name in sources(memory)))
    assert {hit.memory.text: hit.memory.id for hit in memory.hits("kind:file", limit=200).hits} == ids


def test_a_store_does_not_follow_its_own_changes(store, threads):
    """In a folder that holds the store, each change that is noted would be the next one."""
    opened, applied = store(), list[int]()
    opened.watch(opened.path.parent)
    threads(opened, applied=applied.append)
    until(lambda: (opened.path.parent / ".memory.sqlite.watch").exists())
    (opened.path.parent / "a.csv").write_text("order_id,amount\n1,2\n")
    until(lambda: applied)
    opened.path.touch()
    sleep(1.5)
    assert applied == [1]


def test_a_system_that_watches_no_more_says_what_to_do(memory, monkeypatch):
    """The limit of the system is no error of ours, but our users meet it."""

    def refuse(*paths: object, **options: object) -> Iterator[set[tuple[int, str]]]:
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr("watchfiles.watch", refuse)
    with pytest.raises(InputError, match="max_user_watches"):
        FolderWatch(lambda: memory).run()
