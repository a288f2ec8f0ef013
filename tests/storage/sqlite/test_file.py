"""Opening a store: what is not one is left as it is, what cannot be written is searched, versions go up in steps."""

import gc
import multiprocessing
import os
import random
import re
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from inside import run_sql
from programs import in_fork

from jupyter_memory import (
    InputError,
    JupyterMemory,
    JupyterMemoryError,
    MemoryStore,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
)
from jupyter_memory.storage import Database

FILES = ("", "-wal", "-shm")


def version_of(opened):
    return opened.connection.pragma("user_version")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def sibling(path, ending):
    return path.with_name(path.name + ending)


@pytest.mark.parametrize("version", [None, 0, 7], ids=["text", "SQLite", "SQLite with a version"])
def test_what_is_not_a_store(path, database, version):
    path.parent.mkdir()
    if version is None:
        path.write_text("Umsatz in Zürich, λ = 3.2\n" * 100)
    else:
        with closing(apsw.Connection(str(path))) as other:
            other.execute("create table songs (title text); insert into songs values ('Für Elise')")
            other.pragma("user_version", version)
    before = path.read_bytes()
    message = r"memory\.sqlite is not a readable store .* left as it is" if version is None else "not a memory store"
    with pytest.raises(StoreDamaged, match=message):
        database()
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        ("", InputError, r"is a folder; .* such as .*memory\.sqlite"),
        ("taken/memory.sqlite", StoreReadOnly, "No store can be made at"),
        ("zero\0byte.sqlite", StoreReadOnly, "No store can be made at"),
        ("n" * 5000, StoreReadOnly, "No store can be made at"),
        ("half\ud800.sqlite", InputError, "is not a valid UTF-8 path"),
        ("a", JupyterMemoryError, None),
        ("a/memory.sqlite", JupyterMemoryError, None),
    ],
    ids=["a folder", "below a file", "NUL", "too long", "not in UTF-8", "a loop of links", "below a loop"],
)
def test_a_path_where_nothing_can_be(tmp_path, database, where, error, message):
    (tmp_path / "taken").write_text("a file")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(error, match=message):
        database(tmp_path / where)


def test_a_path_where_a_store_can_be(path, database, home, monkeypatch):
    """What `touch` made is as good as no file; a path that begins with ~ is below the user's home."""
    path.parent.mkdir()
    path.touch()
    assert version_of(database()) >= 1000
    monkeypatch.setenv("HOME", str(home))
    with MemoryStore("~/notes/memory.sqlite", embedder=None) as store:
        assert store.path == Path(home, "notes", "memory.sqlite")


def filled(path):
    with MemoryStore(path, embedder=None) as store:
        texts = (f"Note {i} on the prices of Zürich and λ. " * 20 for i in range(100))
        store.add_many(({"text": text} for text in texts), progress=False)
    return path.read_bytes()


def attempts(path):
    """Do what a user would do, and return the errors by verb; an error that is not ours comes through."""
    errors = {}
    try:
        store = MemoryStore(path, embedder=None)
    except JupyterMemoryError as error:
        return {"open": error}
    with store:
        for verb, attempt in (
            ("search", lambda: store.hits("prices of Zürich", limit=200)),
            ("browse", lambda: store.browsed(limit=200)),
            ("doctor", lambda: store.doctor() and pytest.fail("damage!")),
        ):
            try:
                attempt()
            except (JupyterMemoryError, pytest.fail.Exception) as error:
                errors[verb] = error
    return errors


def test_a_store_overwritten(path):
    """Cut off, or overwritten anywhere, no error is SQLite's own, someone notices, and reading changes nothing."""
    whole, rng = filled(path), random.Random(5)
    path.write_bytes(whole[: len(whole) // 2])
    errors = attempts(path)
    assert isinstance(errors.get("open") or errors.get("search"), StoreDamaged)
    assert path.read_bytes() == whole[: len(whole) // 2]
    for _ in range(25):
        start = rng.randrange(4096, len(whole) - 4096)
        damaged = whole[:start] + rng.randbytes(4096) + whole[start + 4096 :]
        path.write_bytes(damaged)
        assert attempts(path), f"nobody noticed damage at {start}"
        assert path.read_bytes() == damaged
    # A long text whose bytes are no UTF-8 any more is damage, too.
    other = path.with_name("other.sqlite")
    with MemoryStore(other, embedder=None) as store:
        store.add("ü" * 100_000, title="Long")
    content = other.read_bytes()
    middle = content.index("ü".encode() * 1000) + 500
    other.write_bytes(content[:middle] + b"\xff" * 100 + content[middle + 100 :])
    with MemoryStore(other, embedder=None) as store, pytest.raises(StoreDamaged):
        store.browsed()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_nobody_else_may_look(path, umask):
    """Whatever the umask, the folders made are 0700, and the file, its log and the log's index are 0600; links too."""
    before = os.umask(umask)
    try:
        store = MemoryStore(path, embedder=None)
        store.add("The λ of Zürich")
        assert mode(path.parent) == 0o700
        assert {ending: mode(sibling(path, ending)) for ending in FILES} == dict.fromkeys(FILES, 0o600)
        assert mode(store.backup(path.parent / "copy.sqlite")) == 0o600
        store.close()
        for target in (path.parent / "again.sqlite", path.parent / "a" / "b" / "again.sqlite"):
            MemoryStore.restore(path.parent / "copy.sqlite", to=target)
            assert mode(target) == 0o600
        (path.parent / "link.sqlite").symlink_to(path.parent / "real.sqlite")
        for made in ("c/d/e.sqlite", "link.sqlite"):
            MemoryStore(path.parent / made, embedder=None).close()
        assert mode(path.parent / "real.sqlite") == 0o600
        assert {mode(path.parent / made) for made in ("a", "a/b", "c", "c/d")} == {0o700}
    finally:
        os.umask(before)


def searched(path):
    """Search a store and try to write to it; return what was found, what writing raised, and the notices."""
    with MemoryStore(path, embedder=None, settings=JupyterMemory()) as store:
        found = [hit.memory.text for hit in store.hits("prices").hits]
        raised = []
        for write in (lambda: store.add("more"), lambda: store.forget(everything=True), store.reembed, store.rebuild):
            try:
                write()
            except JupyterMemoryError as error:
                raised.append(type(error))
        store.stats(), store.doctor()
        return found, raised, store.notices


@pytest.fixture
def common_store(common_folder):
    path = common_folder / "memory.sqlite"
    with MemoryStore(path, embedder=None) as store:
        store.add("The prices are net of tax")
    path.chmod(0o644)
    return path


@pytest.mark.parametrize(("file", "folder"), [(0o644, 0o555), (0o444, 0o777)], ids=["folder", "file"])
def test_a_read_only_folder_or_file(common_store, as_user, file, folder):
    """A store that cannot be written, or in such a folder, is searched; writing is refused; nothing is left behind."""
    common_store.chmod(file)
    common_store.parent.chmod(folder)
    before = common_store.read_bytes()
    answer = as_user(searched, common_store)
    assert not isinstance(answer, Exception), answer
    found, raised, notices = answer
    assert found == ["The prices are net of tax"]
    assert raised[:2] == [StoreReadOnly, StoreReadOnly] and raised[3] is StoreReadOnly
    assert "read-only: searches work" in notices[0]
    assert common_store.read_bytes() == before
    assert folder == 0o777 or list(common_store.parent.iterdir()) == [common_store]


def test_traces_in_a_store_that_cannot_be_written(common_store, as_user):
    """What could not be cleaned up before a store became read-only does not keep it from being searched."""
    run_sql(common_store, "insert into counters (name, value) values ('scrub', 0)")
    common_store.parent.chmod(0o555)
    found, _, notices = as_user(searched, common_store)
    assert found == ["The prices are net of tax"]
    assert any("traces of forgotten text may remain" in notice for notice in notices)


def test_a_reader_without_rights_sees_what_is_in_the_log(common_store, as_user):
    """Beside an open writer, a reader who may not write finds what only the log holds as yet."""
    with MemoryStore(common_store, embedder=None) as writer:
        writer.add("Newer prices, in the log only")
        for ending in FILES:
            common_store.with_name(common_store.name + ending).chmod(0o444)
        common_store.parent.chmod(0o555)
        found, raised, _ = as_user(searched, common_store)
    assert set(found) == {"The prices are net of tax", "Newer prices, in the log only"}
    assert raised[0] is StoreReadOnly


@pytest.mark.parametrize(
    ("prepare", "error", "message"),
    [
        (lambda path: (path.touch(), path.chmod(0o000)), StoreError, "cannot be read: check its owner and permissions"),
        (lambda path: path.parent.chmod(0o000), StoreReadOnly, "Permission denied"),
        (lambda path: path.parent.chmod(0o555), StoreReadOnly, "JUPYTER_MEMORY_PATH"),
        (lambda path: path.touch(mode=0o444), StoreReadOnly, "must first be upgraded to this version"),
    ],
    ids=["unreadable", "in a closed folder", "where none can be made", "empty"],
)
def test_what_cannot_be_opened(common_folder, as_user, prepare, error, message):
    path = common_folder / "in" / "memory.sqlite"
    path.parent.mkdir()
    path.parent.chmod(0o755)
    prepare(path)
    answer = as_user(searched, path)
    assert type(answer) is error and message in str(answer)


@pytest.mark.parametrize("vfs", ["unix-dotfile", None])
@pytest.mark.parametrize("moved", [False, True])
def test_a_file_system_without_shared_memory(path, database, remember, vfs, moved, request):
    """Where there can be no write-ahead log the store, moved there or not, works with a journal and says so."""
    if moved:
        first = database()
        remember(first, "It had a log")
        first.close()
    request.getfixturevalue("network_home")
    opened = database(vfs=vfs)
    remember(opened, "The λ of Zürich")
    assert opened.connection.pragma("journal_mode") == "truncate"
    assert opened.connection.execute("select count(*) from memories").get == 1 + moved
    assert len(opened.notices) == 1 and "write-ahead log does not work on this file system" in opened.notices[0]
    opened.close()
    sibling(path, "-shm").unlink()
    again = database()
    assert (again.connection.pragma("journal_mode"), again.notices) == ("wal", [])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_has_its_own_connection(database, remember):
    """A child that was forked with the store open writes through a connection of its own; its parent goes on."""
    opened = database()
    remember(opened, "from the parent")

    def write_one():
        remember(opened, "from the child")
        opened.close()
        return os.getpid()

    assert in_fork(write_one) != os.getpid()
    remember(opened, "from the parent again")
    assert opened.connection.execute("select count(*) from memories").get == 3
    assert opened.connection.execute("pragma integrity_check").get == "ok"


# What SQLite has learnt since 3.40, the one of Debian 12 and of many a Python.
NEWER = (
    r"\b(?:string_agg|concat|concat_ws|unhex|octet_length|timediff|jsonb\w*)\("
    r"|\b(?:group_concat|json_group_\w+)\([^()]*order by"
)


def test_older_programs_read_the_file(path, store):
    """The SQLite of Python parses the schema of a store, finds it sound, and sees tags in their order."""
    with store(embedder="static") as memory:
        memory.add("The λ of Zürich", tags=["tides", "harbour", "a lock"])
        memory.add("A note without tags")
        memory.forget(memory.add("A note that was forgotten").id)
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("pragma integrity_check").fetchall() == [("ok",)]
        assert other.execute("select tags from chunk_texts order by id").fetchall() == [
            ("a lock harbour tides",),
            ("",),
        ]
        schema = "\n".join(sql for (sql,) in other.execute("select sql from sqlite_schema where sql is not null"))
    assert "group_concat(" in schema and not re.search(NEWER, schema, re.IGNORECASE)


@pytest.mark.parametrize("change", ["removed", "replaced", "closed"])
def test_a_file_that_is_gone(path, database, remember, change):
    """A write into a file that somebody removed or replaced would be lost, so it is refused; and so after closing."""
    opened = database()
    remember(opened, "The λ of Zürich")
    for _ in range(2 * (change == "closed")):
        opened.close()
    if change != "closed":
        path.unlink()
    if change == "replaced":
        Database(path).close()
    message = "open_store" if change == "closed" else r"moved, removed or replaced .* open it again"
    with pytest.raises(StoreClosed, match=message):
        remember(opened, "lost?")


class Slow(apsw.VFS):
    """A file system on which something happens while a file is opened."""

    meanwhile = staticmethod(lambda: None)

    def __init__(self):
        super().__init__("slow", "")

    def xOpen(self, name, flags):
        self.meanwhile()
        return super().xOpen(name, flags)


def test_closed_while_a_thread_opens_its_connection(database):
    slow = Slow()
    opened = database(vfs="slow")
    gc.collect()
    before = len(apsw.connections())
    slow.meanwhile = opened.close
    with ThreadPoolExecutor(1) as pool, pytest.raises(StoreClosed):
        pool.submit(lambda: opened.connection).result(100)
    slow.meanwhile = lambda: None
    assert len(apsw.connections()) < before
    slow.unregister()


MINOR = (2900, "create table moods (memory integer, mood text)")
MAJOR = (3000, "alter table memories add column colour text not null default 'grey'; create table hues (hue)")
BROKEN = (3001, "create table half (a); insert into half values ('written'); create table memories (a)")


def copies(path):
    return sorted(path.parent.glob(f"{path.name}.v*.bak"))


def test_a_minor_step(path, database, remember):
    """A minor step keeps everything, and needs no copy; what it wrote is used by an earlier minor version as it is."""
    first = database()
    versions = [step.version for step in first.steps]
    assert versions == sorted(set(versions)) and versions[0] == 2001 and version_of(first) == versions[-1]
    assert first.connection.pragma("application_id") == int.from_bytes(b"JMem", "big")
    memory = remember(first, "The λ of Zürich")[0]
    first.close()
    second = database(further=[MINOR])
    assert version_of(second) == 2900 and second.connection.execute("select id from memories").get == memory.id
    assert (copies(path), second.notices) == ([], [])
    second.close()
    older = database()
    remember(older, "and of Genève")
    assert version_of(older) == 2900
    assert older.connection.execute("select count(*) from memories").get == 2
    assert older.connection.execute("select count(*) from moods").get == 0


def test_a_copy_before_a_major_step(path, database, remember):
    """Before a major step a copy is made that is a whole store of the old version, for its owner only; once."""
    first = database()
    memory = remember(first, "The λ of Zürich")[0]
    first.close()
    second = database(further=[MAJOR])
    (copy,) = copies(path)
    assert version_of(second) == 3000 and copy.name in second.notices[0] and mode(copy) == 0o600
    assert second.connection.execute("select colour from memories").get == "grey"
    second.close()
    assert version_of(database(further=[MAJOR])) == 3000 and copies(path) == [copy]
    old = database(copy)
    assert version_of(old) == first.steps[-1].version
    assert old.connection.execute("select id from memories").get == memory.id


@pytest.mark.parametrize(
    ("version", "error", "message"),
    [
        (3000, StoreTooNew, r"newer jupyter-memory \(store version 3\.0, this one reads 2\.x\).*pip"),
        (1010, StoreError, r"before 0\.1\.0 \(store version 1\.10\).*export FOLDER.*import FOLDER"),
        (2000, StoreError, r"before 0\.1\.0 \(store version 2\.0\).*export FOLDER.*import FOLDER"),
    ],
)
def test_a_version_that_is_refused(path, database, version, error, message):
    """A newer major version, and one that was never released, is refused with how to go on, and keeps its bytes."""
    database().close()
    run_sql(path, f"pragma journal_mode = delete; pragma user_version = {version}")  # without a log, as a backup has it
    before = path.read_bytes()
    with pytest.raises(error, match=message):
        database()
    assert path.read_bytes() == before and [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("further", [[MINOR, BROKEN], [MAJOR, BROKEN]])
def test_a_step_that_fails(path, database, remember, further):
    """When a step fails all of them are undone, the copy too, and the old version goes on, or a store is made then."""
    with pytest.raises(apsw.SQLError):
        database(path.with_name("new.sqlite"), further=further)
    first, new = database(), database(path.with_name("new.sqlite"))
    assert version_of(new) == new.steps[-1].version
    remember(first, "The λ of Zürich")
    first.close()
    with pytest.raises(apsw.SQLError, match="memories already exists"):
        database(further=further)
    again = database()
    tables = "select count(*) from sqlite_schema where name in ('half', 'moods', 'hues')"
    assert again.connection.execute(tables).get == 0 and copies(path) == []
    assert version_of(again) == first.steps[-1].version
    remember(again, "and of Genève")


def open_together(path, barrier, further, queue):
    barrier.wait(100)
    try:
        database = Database(path, further=further)
        queue.put((version_of(database), len(database.notices)))
        database.close()
    except Exception as error:  # noqa: BLE001  the test is about what comes
        queue.put(repr(error))


def race(path, further):
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(4), context.Queue()
    processes = [context.Process(target=open_together, args=(path, barrier, further, queue)) for _ in range(4)]
    for process in processes:
        process.start()
    answers = [queue.get(timeout=100) for _ in processes]
    for process in processes:
        process.join(300)
    return answers


def test_opened_by_several_at_once(path, database, remember):
    """Four processes that make or bring up one store at a moment all get it, take each step once, and keep one copy."""
    answers, first = race(path, ()), database()
    assert answers == [(first.steps[-1].version, 0)] * 4
    assert first.connection.execute("select count(*) from counters").get == 1
    remember(first, "The λ of Zürich")
    first.close()
    answers = race(path, [MAJOR])
    assert [version for version, _ in answers] == [3000] * 4
    assert sum(notices for _, notices in answers) == len(copies(path)) == 1


@pytest.mark.parametrize("where", ["name", "folder", "working folder"])
def test_a_path_that_is_not_utf8(tmp_path, monkeypatch, where):
    """A path that SQLite cannot name is refused in a sentence before anything is made, and so is one to be indexed."""
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    odd.mkdir()
    monkeypatch.chdir(odd)
    paths = {"name": odd.with_name(f"{odd.name}.sqlite"), "folder": odd / "m.sqlite", "working folder": "m.sqlite"}
    for opened in (Database, MemoryStore):
        with pytest.raises(InputError, match=r"caf\ufffd.* is not a valid UTF-8 path\. Rename"):
            opened(Path(paths[where]))
    assert list(odd.iterdir()) == [] and list(tmp_path.iterdir()) == [odd]
    with MemoryStore(tmp_path / "memory.sqlite", embedder=None) as store:
        for folder in (odd, "."):
            with pytest.raises(InputError, match="is not a valid UTF-8 path"):
                store.index(folder)
        assert store.doctor() == []


@pytest.mark.parametrize(
    ("error", "examined"),
    [
        (OSError, 0), (MemoryError, 0), (UnicodeEncodeError("utf-8", "a", 0, 1, "no"), 0), (TypeError, 1),
        (apsw.SQLError, 1),
    ],
)  # fmt: skip
def test_which_errors_start_an_examination(database, error, examined):
    """The check of a large store takes minutes: what no damaged value can raise does not start it."""
    opened, checks = database(), []
    opened.find_damage = lambda: checks.append(1) or ""
    with pytest.raises(error if isinstance(error, type) else type(error)), opened.read():
        raise error
    assert len(checks) == examined


def test_a_store_that_was_upgraded_while_it_is_open(week_store):
    """What no longer fits an open store, since a later version changed it, is told as that."""
    run_sql(week_store, "pragma user_version = 9001; alter table texts rename to passages")
    for call in (lambda: week_store.hits("prices"), lambda: week_store.add("λ")):
        with pytest.raises(StoreTooNew, match="written by a newer jupyter-memory"):
            call()


@pytest.mark.parametrize("less", [1, 100, 4095])
def test_a_store_without_its_last_bytes(week_store, tmp_path, less):
    """It is read, and named as damaged before anything is added to it; a backup like it is not restored."""
    week_store.close()
    os.truncate(week_store.path, week_store.path.stat().st_size - less)
    with MemoryStore(week_store.path) as store:
        assert store.count() == 10
        for call in (lambda: store.add("λ"), lambda: store.forget(everything=True)):
            with pytest.raises(StoreDamaged, match="lacks its last bytes, so nothing was changed"):
                call()
        assert "The file lacks its last bytes" in store.doctor()[0]
    with pytest.raises(StoreDamaged, match="its last bytes are missing"):
        MemoryStore.restore(week_store.path, to=tmp_path / "new.sqlite")


def test_a_store_that_was_cut_to_nothing(path, database):
    """Only its owner can read a store, and none is begun empty: what is so was cut, and `restore` is what helps."""
    path.parent.mkdir()
    path.touch()
    assert database().notices == ["The store's file was empty. If it held memories before, restore a backup of it."]
    path.chmod(0o600)
    os.truncate(path, 0)
    for attempt in (database, lambda: MemoryStore(path).add("λ")):
        with pytest.raises(StoreDamaged, match=r"is empty: .* restore --overwrite BACKUP. If it never was .* rm '"):
            attempt()
    assert path.stat().st_size == 0


@pytest.mark.parametrize("moment", ["fdopen", "link", "unlink"])
def test_a_first_opening_that_was_killed(path, database, moment):
    """Whenever it was, the next one begins the store, and sweeps up what was left."""
    path.parent.mkdir()
    program = f"import os, sys; from jupyter_memory import open_store; os.{moment} = lambda *_: os._exit(9)"
    assert subprocess.run([sys.executable, "-c", f"{program}; open_store(sys.argv[1])", path]).returncode == 9
    assert version_of(database()) >= 1000
    assert not [*path.parent.glob("*.copy")]
