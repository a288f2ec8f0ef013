"""Journals beside a store and in memory: who holds them, who takes them, and that nothing of them stays."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from forked import in_fork

from jupyter_memory.storage import Journal
from jupyter_memory.storage.journal import files


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    """Give the path of a store that does not exist yet; nothing of it stays in the memory of the machine."""
    path = tmp_path / "week" / "memory.sqlite"
    yield path
    for journal in files.abandoned(path):
        journal.remove()


def made(store: Path, place: str) -> Journal:
    """Make a journal, where the machine has such a place."""
    try:
        return Journal.on_disk(store) if place == "disk" else Journal.in_memory(store)
    except FileNotFoundError:
        pytest.skip("this machine has no file system in memory")


@pytest.fixture(params=["disk", "memory"])
def journal(request: pytest.FixtureRequest, store: Path) -> Iterator[Journal]:
    """Give a journal that this process holds."""
    held = made(store, request.param)
    yield held
    held.close()


def test_only_its_owner_can_read_it(journal: Journal, store: Path):
    """A journal has mode 0600, and a folder that is made for it 0700."""
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600
    if journal.path.parent == store.parent:
        assert stat.S_IMODE(store.parent.stat().st_mode) == 0o700


def test_a_journal_belongs_to_nobody_else_while_it_is_held(journal: Journal, store: Path):
    """While its process holds it, nobody takes it, and it counts as recording."""
    assert (list(files.abandoned(store)), files.recording(store)) == ([], 1)

    journal.close()
    [left] = files.abandoned(store)
    assert (left.path, files.recording(store)) == (journal.path, 1)
    left.close()
    assert files.recording(store) == 0


def test_two_never_take_the_same_journal(journal: Journal, store: Path):
    """What one has taken, another does not see."""
    journal.close()
    [taken] = files.abandoned(store)

    assert list(files.abandoned(store)) == []
    taken.close()


def test_removing_it_overwrites_it_first(journal: Journal):
    """Its bytes are zeros before the file goes, as somebody sees who has it open."""
    journal.write(b"the prices of Frau M\xc3\xbcller")
    with journal.path.open("rb") as other:
        journal.remove()
        assert set(other.read()) == {0}
    assert not journal.path.exists()


def test_emptying_reaches_the_journals_of_kernels_that_run(journal: Journal, store: Path):
    """What a living kernel has noted is overwritten; what it notes afterwards is there."""
    journal.write(b"before")
    files.empty(store)
    journal.write(b"after")

    assert journal.read() == b"\0" * 6 + b"after"


def test_a_journal_that_was_removed_takes_nothing(journal: Journal):
    """Nobody would find what is written to a file without a name."""
    journal.path.unlink()

    with pytest.raises(FileNotFoundError):
        journal.write(b"lost")
    assert journal.is_gone


def test_a_forked_child_does_not_keep_the_lock(store: Path):
    """A child of the kernel that lives on, such as a worker, does not make its journal look alive."""
    journal = Journal.on_disk(store)
    reader, writer = os.pipe()
    heard, said = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writer)
        os.write(said, b"x")
        os.read(reader, 1)
        os._exit(0)
    os.read(heard, 1)
    journal.close()

    left = list(files.abandoned(store))
    os.close(writer)
    os.waitpid(child, 0)
    assert [one.path for one in left] == [journal.path]
    for one in left:
        one.remove()


def test_a_forked_child_writes_nothing_into_it(store: Path):
    """The journal of a kernel is not that of its children."""
    journal = Journal.on_disk(store)

    def write() -> str:
        with suppress(OSError):
            journal.write(b"child")
            return "written"
        return "refused"

    assert in_fork(write) == "refused"
    assert journal.read() == b""
    journal.remove()


def test_a_link_to_a_store_leads_to_its_journals(tmp_path: Path, store: Path):
    """Whichever name a store is opened by, its journals are beside the file itself."""
    journal = Journal.on_disk(store)
    store.touch()
    link = tmp_path / "link.sqlite"
    link.symlink_to(store)

    assert (journal.path.parent, files.recording(link)) == (store.parent, 1)
    journal.remove()


def test_other_files_are_no_journals(store: Path):
    """Only files with the name of a journal are taken."""
    store.parent.mkdir()
    for name in (".memory.sqlite.runs-", ".memory.sqlite.runs-xyz", ".memory.sqlite.runs-0123456789abcdef.bak"):
        (store.parent / name).write_bytes(b"kept")
    files.empty(store)

    assert {file.read_bytes() for file in store.parent.iterdir()} == {b"kept"}


def place_of(journal: Journal) -> Path:
    """Return the path of another journal of the same store, in the same place."""
    return journal.path.with_name(journal.path.name[:-16] + "0" * 16)


def test_a_link_with_the_name_of_a_journal_is_not_followed(journal: Journal, store: Path, tmp_path: Path):
    """Clearing the journals leaves a file alone that somebody linked among them."""
    (tmp_path / "thesis.tex").write_text("years of work")
    link = place_of(journal)
    link.symlink_to(tmp_path / "thesis.tex")
    try:
        files.empty(store)
    finally:
        link.unlink()

    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_pipe_with_the_name_of_a_journal_keeps_nobody_waiting(journal: Journal, store: Path):
    """A pipe that nobody writes to is neither read nor taken for a journal."""
    pipe = place_of(journal)
    os.mkfifo(pipe)
    try:
        assert (files.recording(store), list(files.abandoned(store))) == (1, [])
        files.empty(store)
    finally:
        pipe.unlink()


def test_a_journal_that_cannot_be_removed_holds_zeros(store: Path):
    """Its removal says so, and raises nothing, also where the name has become that of a folder."""
    journal = Journal.on_disk(store)
    journal.write(b"the prices")
    kept = journal.path.rename(store.with_name("kept"))
    journal.path.mkdir()

    assert journal.remove() is False
    assert set(kept.read_bytes()) == {0}
