"""Versions of a store: brought up step by step, a copy kept before a major step, a newer major refused."""

from __future__ import annotations

import multiprocessing
import stat

import apsw
import pytest

from jupyter_memory import StoreError, StoreTooNew
from jupyter_memory.storage import Database, Migration, migrations

FIRST = migrations()
MINOR = Migration(2900, "create table moods (memory integer, mood text)")
MAJOR = Migration(3000, "alter table memories add column colour text not null default 'grey'; create table hues (hue)")
BROKEN = Migration(3001, "create table half (a); insert into half values ('written'); create table memories (a)")


def raw(path, sql):
    """Run SQL on a file without the package, and return the first value."""
    connection = apsw.Connection(str(path))
    try:
        return connection.execute(sql).get
    finally:
        connection.close()


def copies(path):
    """Return the copies that were made of a store."""
    return sorted(path.parent.glob(f"{path.name}.v*.bak"))


def test_numbered(database):
    """A new store has the version of the last script, whose numbers only go up, and our mark in its header."""
    opened = database()
    versions = [step.version for step in FIRST]

    assert versions == sorted(set(versions)) and versions[0] == 2000
    assert opened.version() == versions[-1]
    assert opened.connection.pragma("application_id") == int.from_bytes(b"JMem", "big")


def test_a_minor_step(path, database, remember):
    """A minor step keeps everything, and needs no copy."""
    first = database()
    memory = remember(first, "The λ of Zürich")[0]
    first.close()
    second = database(steps=[*FIRST, MINOR])

    assert second.version() == 2900
    assert second.connection.execute("select id from memories").get == memory.id
    assert (copies(path), second.notices) == ([], [])


def test_a_copy_before_a_major_step(path, database, remember):
    """Before a major step a copy is made that is a whole store of the old version, for its owner only."""
    first = database()
    memory = remember(first, "The λ of Zürich")[0]
    first.close()
    second = database(steps=[*FIRST, MAJOR])
    (copy,) = copies(path)

    assert second.version() == 3000
    assert second.connection.execute("select colour from memories").get == "grey"
    assert copy.name in second.notices[0]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    old = database(copy)
    assert old.version() == FIRST[-1].version
    assert old.connection.execute("select id from memories").get == memory.id


def test_a_store_is_not_migrated_twice(path, database):
    """A store of this version is opened as it is."""
    database().close()
    database(steps=[*FIRST, MAJOR]).close()
    database(steps=[*FIRST, MAJOR])

    assert len(copies(path)) == 1


def test_a_newer_minor_version_is_used(database, remember):
    """What a newer minor version wrote is read, and written to, as it is."""
    newer = database(steps=[*FIRST, MINOR])
    remember(newer, "The λ of Zürich")
    newer.close()
    older = database()
    remember(older, "and of Genève")

    assert older.version() == 2900
    assert older.connection.execute("select count(*) from memories").get == 2
    assert older.connection.execute("select count(*) from moods").get == 0


def test_a_newer_major_version_is_refused(path, database, remember):
    """What a newer major version wrote is refused with how to go on, and keeps its bytes."""
    newer = database(steps=[*FIRST, MAJOR])
    remember(newer, "The λ of Zürich")
    newer.connection.pragma("journal_mode", "delete")  # as a backup has it
    newer.close()
    before = path.read_bytes()

    with pytest.raises(StoreTooNew, match=r"newer jupyter-memory \(store version 3\.0, this one reads 2\.x\).*pip"):
        database()
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("steps", [[*FIRST, MINOR, BROKEN], [*FIRST, MAJOR, BROKEN]])
def test_a_step_that_fails(path, database, remember, steps):
    """When a step fails all of them are undone, the copy too, and the old version goes on."""
    first = database()
    remember(first, "The λ of Zürich")
    first.close()

    with pytest.raises(apsw.SQLError, match="memories already exists"):
        database(steps=steps)
    assert raw(path, "select count(*) from sqlite_schema where name in ('half', 'moods', 'hues')") == 0
    assert copies(path) == []
    again = database()
    assert again.version() == FIRST[-1].version
    remember(again, "and of Genève")


def test_a_first_step_that_fails(path, database):
    """A store that could not be made leaves an empty file, of which one is made the next time."""
    with pytest.raises(apsw.SQLError):
        database(steps=[*FIRST, BROKEN])

    assert raw(path, "select count(*) from sqlite_schema") == 0
    assert database().version() == FIRST[-1].version


def open_together(path, barrier, steps, queue):
    """Open a store at the same moment as others do."""
    barrier.wait(100)
    try:
        database = Database(path, steps=steps)
        queue.put((database.version(), len(database.notices)))
        database.close()
    except Exception as error:  # noqa: BLE001  the test is about what comes
        queue.put(repr(error))


def race(path, steps):
    """Open a store in four processes at once; return their versions and how many notices each had."""
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(4), context.Queue()
    processes = [context.Process(target=open_together, args=(path, barrier, steps, queue)) for _ in range(4)]
    for process in processes:
        process.start()
    answers = [queue.get(timeout=100) for _ in processes]
    for process in processes:
        process.join(300)
    return answers


def test_made_by_several_at_once(path, database):
    """Four processes that make one store at the same moment all get it, whole."""
    assert race(path, FIRST) == [(FIRST[-1].version, 0)] * 4
    assert database().connection.execute("select count(*) from counters").get == 1


def test_brought_up_by_several_at_once(path, database, remember):
    """Four processes that bring up one store at the same moment take the step once, and keep one copy."""
    first = database()
    remember(first, "The λ of Zürich")
    first.close()

    answers = race(path, (*FIRST, MAJOR))
    assert [version for version, _ in answers] == [3000] * 4
    assert sum(notices for _, notices in answers) == len(copies(path)) == 1


def test_what_was_never_released_is_refused(path, database):
    """A store from before the first release is refused with how to go on, and keeps its bytes."""
    database().close()
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "delete")
    connection.pragma("user_version", 1010)
    connection.close()
    before = path.read_bytes()

    with pytest.raises(StoreError, match=r"before 0\.1\.0 \(store version 1\.10\).*export FOLDER.*import FOLDER"):
        database()
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]
