"""Journals beside a store and in memory: their records, who holds and takes them, and that nothing of them stays."""

import json
import os
import stat
import struct
import zlib
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from programs import in_fork

from jupyter_memory.storage import Journal, abandoned, empty, ending, note, recording, runs
from jupyter_memory.types import Run, RunError


@pytest.fixture
def store(tmp_path):
    """Give the path of a store that does not exist yet; nothing of it stays in the memory of the machine."""
    path = tmp_path / "week" / "memory.sqlite"
    yield path
    for journal in abandoned(path):
        journal.remove()


def made(store, place):
    try:
        return Journal.on_disk(store) if place == "disk" else Journal.in_memory(store)
    except FileNotFoundError:
        pytest.skip("this machine has no file system in memory")


@pytest.fixture(params=["disk", "memory"])
def journal(request, store):
    held = made(store, request.param)
    yield held
    held.close()


def test_a_journal_belongs_to_nobody_else_while_it_is_held(journal, store):
    """While its process holds it, nobody takes it, and it counts as recording; then one takes it, and no other."""
    assert (list(abandoned(store)), recording(store)) == ([], 1)
    journal.close()
    [left] = abandoned(store)
    assert (left.path, recording(store), list(abandoned(store))) == (journal.path, 1, [])
    left.close()
    assert recording(store) == 0


def test_removing_it_overwrites_it_first(journal, store):
    """Its bytes are zeros before the file goes, or where it cannot go; emptying reaches journals of living kernels."""
    journal.write(b"before")
    empty(store)
    journal.write(b"after")
    assert journal.read() == b"\0" * 6 + b"after"
    other = Journal.on_disk(store)
    other.write(b"the prices of Frau M\xc3\xbcller")
    kept = other.path.rename(store.with_name("kept"))
    other.path.mkdir()
    assert other.remove() is False and set(kept.read_bytes()) == {0}
    with journal.path.open("rb") as opened:
        journal.remove()
        assert set(opened.read()) == {0}
    assert not journal.path.exists()


def test_a_journal_that_was_removed_takes_nothing(journal):
    """Nobody would find what is written to a file without a name."""
    journal.path.unlink()
    with pytest.raises(FileNotFoundError):
        journal.write(b"lost")
    assert journal.is_gone


def test_a_forked_child_has_no_part_in_it(store):
    """A child of the kernel writes nothing into its journal, and does not make it look alive by living on."""
    journal = Journal.on_disk(store)
    (reader, writer), (heard, said) = os.pipe(), os.pipe()

    def write():
        with suppress(OSError):
            journal.write(b"child")
            return "written"
        return "refused"

    assert in_fork(write) == "refused"
    assert journal.read() == b""
    child = os.fork()
    if child == 0:
        os.close(writer)
        os.write(said, b"x")
        os.read(reader, 1)
        os._exit(0)
    os.read(heard, 1)
    journal.close()
    [left] = abandoned(store)
    os.close(writer)
    os.waitpid(child, 0)
    assert left.path == journal.path
    left.remove()


def test_a_link_to_a_store_leads_to_its_journals(tmp_path, store):
    """Whichever name a store is opened by, its journals are beside the file itself; only its owner can read them."""
    journal, link = Journal.on_disk(store), tmp_path / "link.sqlite"
    assert [stat.S_IMODE(one.stat().st_mode) for one in (journal.path, store.parent)] == [0o600, 0o700]
    store.touch()
    link.symlink_to(store)
    assert (journal.path.parent, recording(link)) == (store.parent, 1)
    journal.remove()
    assert stat.S_IMODE(made(store, "memory").path.stat().st_mode) == 0o600


def test_other_files_are_no_journals(journal, store, tmp_path):
    """Only files with the name of a journal are taken, and of those neither a link nor a pipe that nobody writes to."""
    store.parent.mkdir(exist_ok=True)
    endings = ("", "xyz", "0123456789abcdef.bak")
    others = [tmp_path / "thesis.tex", *(store.with_name(f".memory.sqlite.runs-{ending}") for ending in endings)]
    link, pipe = (journal.path.with_name(journal.path.name[:-16] + digit * 16) for digit in "01")
    for file in others:
        file.write_text("kept")
    link.symlink_to(others[0])
    os.mkfifo(pipe)
    try:
        assert (recording(store), list(abandoned(store))) == (1, [])
        empty(store)
    finally:
        link.unlink()
        pipe.unlink()
    assert {file.read_text() for file in others} == {"kept"}


RUN = Run("λ = prices\n'\\ud800'", datetime(2026, 3, 2, 9, tzinfo=UTC), "a", 1, notebook="/w/müller.ipynb", cell_id="c")
FAILED = replace(RUN, number=2, outcome="error", seconds=0.5, error=RunError("KeyError", "'ü'", "Traceback …"))


def written(*given):
    return b"".join(note(replace(run, outcome="unknown", seconds=None, error=None)) for run in given) + b"".join(
        ending(run) for run in given if run.outcome != "unknown"
    )


def test_runs_come_back_as_they_were_noted():
    """A run and how it ended are read as they were; what nobody knows the end of is "unknown"."""
    assert runs(written(RUN, FAILED)) == [RUN, FAILED]
    [run] = runs(note(RUN))
    assert (run.outcome, run.seconds, run.error) == ("unknown", None, None)
    # Of a run whose beginning was cleared the ending brings nothing back, and one of an unknown form ends no run.
    assert runs(ending(FAILED)) == []
    assert runs(note(RUN) + with_changes(ending(RUN), outcome="aborted")) == [RUN]
    # A record whose bytes are not those that were written is not read.
    data = bytearray(written(RUN))
    data[len(data) // 2] ^= 1
    assert runs(bytes(data)) == []


def test_a_journal_that_is_torn_anywhere_gives_the_runs_before():
    """Cut at any byte, a journal has every run whose record is whole, and nothing else."""
    whole = written(RUN, FAILED)
    first, second = len(note(RUN)), len(note(RUN)) + len(note(replace(RUN, number=2)))
    for length in range(len(whole)):
        found = runs(whole[:length])
        assert [run.number for run in found] == [1, 2][: (length >= first) + (length >= second)]
        assert [run.source for run in found] == [RUN.source] * len(found)


def framed(record):
    """Return a record as it stands in a journal, whatever it holds: a mark, its length, its checksum and JSON."""
    payload = json.dumps(record).encode()
    return struct.pack("<4sII", b"\xff\xfeJM", len(payload), zlib.crc32(payload)) + payload


def with_changes(record, **changes):
    return framed({**json.loads(record[12:]), **changes})


def test_a_field_of_a_newer_version_is_passed_over():
    """Of a record with more fields than this version knows, the known ones are read."""
    noted = with_changes(note(replace(FAILED, outcome="unknown", seconds=None, error=None)), mood="good")
    error = {"name": "KeyError", "message": "'ü'", "traceback": "Traceback …", "mood": "bad"}
    assert runs(noted + with_changes(ending(FAILED), mood="bad", error=error)) == [FAILED]


@pytest.mark.parametrize(
    "odd",
    [
        # Zeros of somebody who cleared the journal, half a record, and text.
        *(b"\0" * 300, b"\xff\xfeJM", b"\xff\xfeJM" + b"\0" * 300, b"\xff\xfeJM\x05\0\0\0\0\0\0\0half", b"text\n" * 50),
        # An outcome, a time or a form that this version does not know.
        with_changes(note(RUN), number=3, outcome="aborted"), with_changes(note(RUN), number=3, started="yesterday"),
        with_changes(note(RUN), number=3, error=["KeyError"]), with_changes(note(RUN), number=[3]),
        framed({"source": "x = 1"}), framed([1, 2]),
    ],
)  # fmt: skip
def test_what_is_no_record_is_passed_over(odd):
    """What cannot be read leaves out that one record, and hides no later one."""
    assert runs(odd + written(RUN) + odd + written(FAILED) + odd) == [RUN, FAILED]
